package inspect

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/engine"
)

// holdings are the units that hold each object, by where they work and of which kind they are: others never own one together.
type holdings map[string]map[engine.ObjectID][]engine.UnitID

func holdingsOf(g *console.Globals, units []*unstructured.Unstructured) holdings {
	h := holdings{}
	for _, u := range units {
		state := g.Catalogue.StateOf(u)
		if state.Alone {
			continue
		}
		at := placeOf(u)
		if h[at] == nil {
			h[at] = map[engine.ObjectID][]engine.UnitID{}
		}
		for _, id := range state.Inventory {
			h[at][id] = append(h[at][id], console.IdOf(u))
		}
	}
	return h
}

// beside are the other units that hold an object together with one.
func (h holdings) beside(u *unstructured.Unstructured, id engine.ObjectID) []engine.UnitID {
	return slices.DeleteFunc(slices.Clone(h[placeOf(u)][id]), func(other engine.UnitID) bool { return other == console.IdOf(u) })
}

// placeOf is where a unit works, with its kind.
func placeOf(u *unstructured.Unstructured) string {
	kubeConfig, _, _ := unstructured.NestedMap(u.Object, "spec", "kubeConfig")
	return fmt.Sprint(u.GroupVersionKind().GroupKind(), kubeConfig)
}
