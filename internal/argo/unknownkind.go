package argo

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
)

// unknownKind says, in the upstream's words, that a cluster does not serve the kind of an object, and what it serves in its
// place: another version of the kind, or a kind of that name in another group.
func unknownKind(kinds *cluster.Kinds, id engine.ObjectID, version string) string {
	at := id.Namespace + "/" + id.Name
	other, served := servedInstead(kinds, id.GroupKind())
	if !served {
		return fmt.Sprintf("The Kubernetes API could not find %s/%s for requested resource %s. Make sure the %q CRD is installed on the destination cluster.",
			id.Group, id.Kind, at, id.Kind)
	}
	return fmt.Sprintf("The Kubernetes API could not find version %q of %s/%s for requested resource %s. Version %q of %s/%s is installed on the destination cluster.",
		version, id.Group, id.Kind, at, other.Version, other.Group, other.Kind)
}

// servedInstead is what a cluster serves of a kind, or of one that has its name in the first group that has one.
func servedInstead(kinds *cluster.Kinds, gk schema.GroupKind) (schema.GroupVersionKind, bool) {
	if r, ok := kinds.Lookup(gk.WithVersion("")); ok {
		return gk.WithVersion(r.Version), true
	}
	var found []schema.GroupVersionKind
	for other, r := range kinds.All() {
		if other.Kind == gk.Kind {
			found = append(found, other.WithVersion(r.Version))
		}
	}
	if len(found) == 0 {
		return schema.GroupVersionKind{}, false
	}
	return slices.MinFunc(found, func(a, b schema.GroupVersionKind) int { return cmp.Compare(a.Group, b.Group) }), true
}
