package argo

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
)

// serverVersion asks the cluster for its version, for charts.
func (e *Engine) serverVersion() string {
	v, err := e.kube.Discovery().ServerVersion()
	if err != nil {
		return ""
	}
	return v.GitVersion
}

// apiVersions are what the cluster serves, for charts.
func (e *Engine) apiVersions() []string {
	revision := e.home.Kinds.Revision()
	e.served.mu.Lock()
	defer e.served.mu.Unlock()
	if e.served.versions == nil || e.served.revision != revision {
		e.served.revision, e.served.versions = revision, e.listVersions()
	}
	return e.served.versions
}

// versions are what a cluster serves, as of a revision of that.
type versions struct {
	mu       sync.Mutex
	revision uint64
	versions []string
}

func (e *Engine) listVersions() []string {
	seen := map[string]bool{}
	for gk, r := range e.home.Kinds.All() {
		version := r.Version
		if gk.Group != "" {
			version = gk.Group + "/" + r.Version
		}
		seen[version], seen[version+"/"+gk.Kind] = true, true
	}
	return slices.Sorted(maps.Keys(seen))
}

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
