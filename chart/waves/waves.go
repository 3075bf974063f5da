// Package waves gives objects a sync wave by their kind, where they have none.
//
//	chart.NewApp(chart.Settings{Resolvers: []chart.Resolver{waves.ByKind()}})
//
// It is off unless it is among the resolvers. A wave that an object sets itself is never changed, and a kind that is in no table gets
// none.
package waves

import (
	"maps"
	"strconv"
	"strings"

	"github.com/headgate-dev/headgate/chart"
)

// Annotation of the wave that an object is synced in.
const Annotation = "argocd.argoproj.io/sync-wave"

// Table has the wave of each kind: "Deployment", or "Deployment.apps" with the group. The latter wins.
type Table map[string]int

// Defaults are the waves of what others need, and of what needs others.
func Defaults() Table {
	return Table{
		"Namespace":      -100,
		"ServiceAccount": -90,
		"Secret":         -80,
		"ConfigMap":      -70,
		"Deployment":     0,
		"Service":        10,
		"Ingress":        20,
	}
}

// ByKind is a resolver that sets the waves of Defaults, and of tables that are laid over them.
func ByKind(over ...Table) chart.Resolver {
	table := Defaults()
	for _, one := range over {
		maps.Copy(table, one)
	}
	return table
}

// Resolve sets the wave of an object that has none; it makes a Table a chart.Resolver of exactly its kinds.
func (t Table) Resolve(_ *chart.Object, path []string, value any) (any, bool, error) {
	object, is := value.(map[string]any)
	if !is || len(path) > 0 {
		return nil, false, nil
	}
	wave, known := t.of(object)
	metadata, _ := object["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	if _, set := annotations[Annotation]; set || !known {
		return nil, false, nil
	}
	made, meta, notes := maps.Clone(object), cloned(metadata), cloned(annotations)
	notes[Annotation] = strconv.Itoa(wave)
	meta["annotations"], made["metadata"] = notes, meta
	return made, true, nil
}

// of is the wave of an object's kind.
func (t Table) of(object map[string]any) (int, bool) {
	kind, _ := object["kind"].(string)
	apiVersion, _ := object["apiVersion"].(string)
	group, _, versioned := strings.Cut(apiVersion, "/")
	if wave, known := t[kind+"."+group]; versioned && known {
		return wave, true
	}
	wave, known := t[kind]
	return wave, known
}

// cloned is a copy of a map that can be written to.
func cloned(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return maps.Clone(m)
}
