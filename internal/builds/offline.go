package builds

import (
	"context"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/builds/lint"
	"github.com/headgate-dev/headgate/internal/builds/place"
	"github.com/headgate-dev/headgate/internal/dialect"
)

// Walk begins to walk a repository. No Build is a unit: the walk only says what is noteworthy about objects that others declare.
func (*Dialect) Walk(_ context.Context, r *dialect.Repository) (dialect.Walk, error) {
	return &walk{repository: r}, nil
}

// walk has findings about the units of other dialects.
type walk struct{ repository *dialect.Repository }

// Begin adds nothing.
func (*walk) Begin() ([]*unstructured.Unstructured, error) { return nil, nil }

// Take enters nothing.
func (*walk) Take(context.Context, *dialect.OfflineUnit) {}

// Turn is over: there are no units.
func (*walk) Turn() dialect.Turn { return dialect.TurnOver }

// Next is not called.
func (*walk) Next(context.Context) dialect.OfflineUnit { return dialect.OfflineUnit{} }

// Broken are none.
func (*walk) Broken() []dialect.Broken { return nil }

// Unread are none.
func (*walk) Unread() ([]string, error) { return nil, nil }

// Close has nothing to end.
func (*walk) Close() {}

// unitLabel marks the objects of a unit as what they are in a cluster: of one unit.
const unitLabel = "applyset.kubernetes.io/part-of"

// Findings say what objects that build images and make machines do upstream, and here.
func (w *walk) Findings(all []dialect.OfflineUnit, _ dialect.Scopes) []dialect.Finding {
	var places *place.Index
	var found []dialect.Finding
	for i := range all {
		u := &all[i]
		if u.Unit.Target.Cluster != "" || u.Unit.Suspended {
			continue
		}
		for _, f := range lint.Check(marked(u)) {
			if places == nil {
				places = place.Find(w.repository.Dir, w.repository.Files.Only)
			}
			found = append(found, dialect.Finding{Note: !f.Wrong, Steps: []string{
				places.Of(f.Object.GetKind(), f.Object.GetName(), f.Field) + f.Object.GetKind() + " " + f.Object.GetName() + ": " + f.Field,
				"upstream: " + f.Upstream, "here: " + f.Here,
			}})
		}
	}
	return found
}

// marked are the objects of a unit, with the mark of one.
func marked(u *dialect.OfflineUnit) []*unstructured.Unstructured {
	all := make([]*unstructured.Unstructured, 0, len(u.Objects))
	for _, o := range u.Objects {
		labels := maps.Clone(o.GetLabels())
		if labels == nil {
			labels = map[string]string{}
		}
		labels[unitLabel] = u.Unit.ID.String()
		o = o.DeepCopy()
		o.SetLabels(labels)
		all = append(all, o)
	}
	return all
}

var _ dialect.Offline = (*Dialect)(nil)
