package walk

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
)

// Findings are the waits of units that can never end, and the objects that several units declare and cannot own together;
// those of units that are ordered in a tree alone are left to their own dialect.
func (w *walk) Findings(all []dialect.OfflineUnit, kinds dialect.Scopes) []dialect.Finding {
	trees := map[engine.UnitID]bool{}
	for i := range all {
		trees[all[i].Unit.ID] = all[i].Tree
	}
	elsewhere := func(units []engine.UnitID) bool {
		return !slices.ContainsFunc(units, func(id engine.UnitID) bool { return !trees[id] })
	}
	var found []dialect.Finding
	for _, k := range knots(all, kinds) {
		if !elsewhere(k.Units) {
			f := dialect.Finding{Never: true, Declared: k.Declared, Steps: k.Steps, Lacks: k.Lacks}
			if len(k.Units) > 0 {
				f.Unit = k.Units[0]
				f.Field = waitsBy(all, f.Unit, k.Steps[0])
			}
			found = append(found, f)
		}
	}
	found = append(found, w.sourceless(all)...)
	for _, d := range doubles(all, kinds) {
		if !elsewhere(d.Units) {
			found = append(found, dialect.Finding{Steps: []string{d.String()}, Unit: d.Units[0], About: d.Object})
		}
	}
	return found
}

// sourceless finds releases that are not rendered here, and whose charts would come from a source that nothing declares. Kustomizations, and
// releases that are rendered, fail on their own.
func (w *walk) sourceless(all []dialect.OfflineUnit) []dialect.Finding {
	unknown := slices.ContainsFunc(all, func(u dialect.OfflineUnit) bool { return u.Err != nil || u.Elsewhere != "" })
	var found []dialect.Finding
	for i := range all {
		u := &all[i]
		from := u.Chart.Source
		if !u.Skipped || from.Kind == "" || w.held[from.Object()] != nil {
			continue
		}
		f := dialect.Finding{
			Unit: u.Unit.ID, Field: "spec.chartRef",
			Steps: []string{fmt.Sprintf("%s takes its chart from %s, which no unit declares", u.Unit.ID, from)},
		}
		if u.Object != nil {
			if _, there, _ := unstructured.NestedFieldNoCopy(u.Object.Object, "spec", "chart"); there {
				f.Field = "spec.chart.spec.sourceRef"
			}
		}
		if unknown {
			f.Lacks = from.Object()
		}
		found = append(found, f)
	}
	return found
}

// waitsBy is the field by which a unit waits, where a step says that it does by its own word.
func waitsBy(all []dialect.OfflineUnit, id engine.UnitID, step string) string {
	at := slices.IndexFunc(all, func(u dialect.OfflineUnit) bool { return u.Unit.ID == id })
	what, depends := strings.CutPrefix(step, id.String()+" depends on ")
	switch {
	case at < 0 || all[at].Object == nil:
		return ""
	case strings.HasPrefix(step, id.String()+" waits for the health of ") && all[at].Unit.Health.Wait:
		return "spec.wait"
	case strings.HasPrefix(step, id.String()+" waits for the health of "):
		return "spec.healthChecks"
	case !depends:
		return ""
	}
	// The name is written in either; in the annotation behind a kind.
	what, _, _ = strings.Cut(what, ",")
	what, _, _ = strings.Cut(what, " of ")
	written, _, _ := unstructured.NestedSlice(all[at].Object.Object, "spec", "dependsOn")
	for i, one := range written {
		if fields, is := one.(map[string]any); is && path.Base(what) == fields["name"] {
			return fmt.Sprintf("spec.dependsOn[%d]", i)
		}
	}
	if all[at].Object.GetAnnotations()[engine.DependsOn] != "" {
		return fmt.Sprintf("metadata.annotations[%q]", engine.DependsOn)
	}
	return ""
}

// knots finds the waits in a repository that can never end.
func knots(units []dialect.OfflineUnit, scopes dialect.Scopes) []engine.Knot {
	var all []engine.Declared
	kinds := maps.Clone(toolkit.UnitKinds())
	for i := range units {
		u := &units[i]
		kinds[u.Unit.ID.GroupKind()] = true
		d := engine.Declared{Unit: &u.Unit, Illegible: u.Err != nil || u.Elsewhere != ""}
		for _, o := range u.Held() {
			id := u.IDOf(o, scopes)
			d.Objects = append(d.Objects, id)
			d.Uses = append(d.Uses, o.GroupVersionKind().GroupKind())
			if gk, defines := engine.DefinedKind(o); defines {
				d.Defines = append(d.Defines, gk)
			}
			if need := (engine.ObjectID{Kind: "Namespace", Name: id.Namespace}).In(id.Cluster); need.Name != "" && !slices.Contains(d.Needs, need) {
				d.Needs = append(d.Needs, need)
			}
		}
		all = append(all, d)
	}
	return engine.Knots(all, kinds)
}

// double is an object that several units declare and cannot own together.
type double struct {
	Object engine.ObjectID
	Units  []engine.UnitID
	// Fields are declared in different ways; empty when the units cannot own it together whatever they declare.
	Fields []string
}

// String says what to do about it.
func (d double) String() string {
	names := make([]string, len(d.Units))
	for i, id := range d.Units {
		names[i] = id.String()
	}
	next := "remove it from all but one"
	if len(d.Fields) > 0 {
		next += ", or declare the same in each: " + strings.Join(d.Fields, ", ")
	}
	return d.Object.String() + " is declared by " + strings.Join(names, " and by ") + ": " + next
}

// declarer is a unit that declares an object.
type declarer struct {
	unit   *engine.Unit
	object *unstructured.Unstructured
}

// doubles finds the objects that several units declare and cannot own together: one of them gets it, and the others fail.
func doubles(units []dialect.OfflineUnit, kinds dialect.Scopes) []double {
	declarers := map[engine.ObjectID][]declarer{}
	for i := range units {
		u := &units[i].Unit
		for _, o := range units[i].Held() {
			id := units[i].IDOf(o, kinds)
			if !slices.ContainsFunc(declarers[id], func(d declarer) bool { return d.unit.ID == u.ID }) {
				declarers[id] = append(declarers[id], declarer{u, o})
			}
		}
	}
	var all []double
	for _, id := range slices.SortedFunc(maps.Keys(declarers), engine.ObjectID.Compare) {
		if one, is := doubleOf(id, declarers[id]); is {
			all = append(all, one)
		}
	}
	return all
}

// doubleOf reports whether the declarers of an object cannot own it together.
func doubleOf(id engine.ObjectID, all []declarer) (double, bool) {
	if len(all) < 2 {
		return double{}, false
	}
	slices.SortFunc(all, func(a, b declarer) int { return a.unit.ID.Compare(b.unit.ID) })
	both := double{Object: id}
	var declared []engine.Declaration
	together := true
	for _, d := range all {
		both.Units = append(both.Units, d.unit.ID)
		declared = append(declared, engine.Declaration{Unit: d.unit.ID, Object: d.object})
		together = together && d.unit.ID.GroupKind() != toolkit.HelmReleaseKind && d.unit.Target == all[0].unit.Target
	}
	if !together {
		return both, true
	}
	_, disputes := engine.Share(declared, toolkit.Prefix, toolkit.ResourceSetPrefix)
	for _, unit := range both.Units {
		for _, d := range disputes[unit] {
			both.Fields = append(both.Fields, d.Fields...)
		}
	}
	slices.Sort(both.Fields)
	both.Fields = slices.Compact(both.Fields)
	return both, len(disputes) > 0
}
