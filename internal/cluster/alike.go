package cluster

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/chart/similar"
)

// Alike is the served kind whose name is nearly that of one which is not, in the same group; false when there is none.
func (k *Kinds) Alike(gk schema.GroupKind) (schema.GroupKind, bool) {
	names := map[string]bool{}
	for served := range k.All() {
		if served.Group == gk.Group {
			names[served.Kind] = true
		}
	}
	name := similar.Closest(gk.Kind, slices.Sorted(maps.Keys(names)))
	return schema.GroupKind{Group: gk.Group, Kind: name}, name != ""
}
