package offline

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/chart/similar"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

// kindNames are the kinds of an API group, for what is misspelled.
type kindNames interface{ Kinds(group string) []string }

// dependencies finds units that wait for objects which nothing declares, or whose kind nothing serves.
func (w *Walk) dependencies(kinds dialect.Scopes) []dialect.Finding {
	if kinds == nil {
		return nil
	}
	declared := map[engine.ObjectID]bool{}
	for i := range w.Units {
		u := &w.Units[i]
		for _, o := range u.Objects {
			declared[u.IDOf(o, kinds)] = true
		}
		for _, name := range u.Namespaces {
			declared[engine.ObjectID{Kind: "Namespace", Name: name, Cluster: u.Unit.Target.Cluster}] = true
		}
	}
	var found []dialect.Finding
	for i := range w.Units {
		u := &w.Units[i]
		for _, on := range u.Unit.Dependencies {
			if on.Unit != (engine.UnitID{}) || on.Object.Cluster != "" || declared[on.Object] {
				continue
			}
			if f, is := waitsFor(u, on.Object, kinds); is {
				found = append(found, f)
			}
		}
	}
	return found
}

// waitsFor is the finding about a unit that waits for an object which nothing declares.
func waitsFor(u *dialect.OfflineUnit, on engine.ObjectID, kinds dialect.Scopes) (dialect.Finding, bool) {
	f := dialect.Finding{Unit: u.Unit.ID, Field: "spec.dependsOn"}
	if u.Object != nil && strings.Contains(u.Object.GetAnnotations()[engine.DependsOn], on.Name) {
		f.Field = fmt.Sprintf("metadata.annotations[%q]", engine.DependsOn)
	}
	_, known := kinds.Scope(schema.GroupVersionKind{Group: on.Group, Kind: on.Kind})
	switch {
	case known && on.Kind == "Namespace" && on.Group == "":
		// Those of every cluster are there, and one that objects need and nothing creates is said of these.
		return f, false
	case known:
		f.Perhaps, f.Lacks = true, on
		f.Steps = []string{fmt.Sprintf("%s depends on %s, which no unit declares: it waits until something else makes it", u.Unit.ID, on)}
	case strings.Contains(on.Group, "."):
		// A definition may come from elsewhere; of objects that are declared the kind is judged.
		return f, false
	default:
		f.Never = true
		step := fmt.Sprintf("%s depends on %s, whose kind %s is not served in %s", u.Unit.ID, on, on.Kind, cmp.Or(on.Group, "v1"))
		if names, can := kinds.(kindNames); can {
			if near := similar.Closest(on.Kind, names.Kinds(on.Group)); near != "" {
				step += fmt.Sprintf("; did you mean %q?", near)
			}
		}
		f.Steps = []string{step}
	}
	return f, true
}
