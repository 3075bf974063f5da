package differences

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/engine"
)

// Difference is a field in which an object differs from its source. It holds no values, which may be secret.
type Difference struct {
	// Path is the field in the object as it would be, or in the live one where it would go. It is empty for an object
	// that is not there.
	Path engine.Pointer
	// Gone is true for a field that the live object has and that would go.
	Gone bool
}

// Comparison says how objects are compared. The zero value compares everything.
type Comparison struct {
	// Settings are what holds for all objects.
	Settings settings.Compare
	// Rules are those of the object.
	Rules ObjectRules
	// Manager is the field manager of the dry run. With it, only fields count that it has, or had: the rest of what a dry
	// run changes comes from webhooks that change something at every write. Without it, all fields count.
	Manager string
	// KnownTypes are fields of a custom kind that hold quantities or durations, as KnownTypes gives them. A dry run needs
	// none of them.
	KnownTypes []settings.KnownTypeField
}

// Compare is where an object differs from its source, in the order of the fields. Predicted is what a dry run of the
// apply returned; if there was none, or it was refused, it is nil, and the fields of desired are compared with live.
// An object that is not there differs as a whole, and its rules do not matter.
//
// The error names rules that could not be evaluated; the differences are those without them.
func (c Comparison) Compare(ctx context.Context, desired, predicted, live *unstructured.Unstructured) ([]Difference, error) {
	if live == nil {
		return []Difference{{}}, nil
	}
	wanted := predicted
	if wanted == nil {
		wanted = withData(desired)
	}
	fields, err := c.Rules.Ignored(ctx, wanted, live)
	var ofWanted, ofLive []engine.Pointer
	for _, f := range fields {
		if f.Desired != nil {
			ofWanted = append(ofWanted, f.Desired)
		}
		if f.Live != nil {
			ofLive = append(ofLive, f.Live)
		}
	}
	all := managed(live).Union(managed(predicted))
	left, right := c.clean(without(wanted, ofWanted)), c.clean(without(live, ofLive))
	if predicted == nil {
		s := structure{known: c.KnownTypes, secret: isSecret(desired)}
		s.walk(left, right, place{all: all})
		return s.found, err
	}
	own := fieldpath.NewSet()
	if c.Manager != "" {
		own = managed(live, c.Manager).Union(managed(predicted, c.Manager)).Union(texts(desired))
	}
	d := differ{everything: c.Manager == ""}
	d.walk(left, right, place{all: all, own: own})
	return d.found, err
}

// texts are the values of a Secret that its stringData declares: the API server keeps them as data, which is not declared.
func texts(u *unstructured.Unstructured) *fieldpath.Set {
	set := fieldpath.NewSet()
	if declared, ok := u.Object["stringData"].(map[string]any); ok && isSecret(u) {
		for key := range declared {
			set.Insert(fieldpath.MakePathOrDie("data", key))
		}
	}
	return set
}

// clean is what is compared of an object: what the API server keeps beside what anybody declared is gone.
func (c Comparison) clean(u *unstructured.Unstructured) map[string]any {
	object, kind, statusless := u.Object, u.GroupVersionKind().GroupKind(), c.ignoresStatus(u)
	delete(object, "apiVersion")
	delete(object, "kind")
	if metadata, ok := object["metadata"].(map[string]any); ok {
		for _, field := range []string{
			"managedFields", "resourceVersion", "generation", "creationTimestamp", "uid", "selfLink",
			"deletionTimestamp", "deletionGracePeriodSeconds",
		} {
			delete(metadata, field)
		}
		if annotations, ok := metadata["annotations"].(map[string]any); ok {
			delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
		}
		for _, field := range []string{"annotations", "labels"} {
			if m, ok := metadata[field].(map[string]any); metadata[field] == nil || ok && len(m) == 0 {
				delete(metadata, field)
			}
		}
	}
	if statusless {
		delete(object, "status")
	}
	role := schema.GroupKind{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}
	if c.Settings.IgnoreAggregatedRoles && kind == role && object["aggregationRule"] != nil {
		delete(object, "rules")
	}
	return object
}

func (c Comparison) ignoresStatus(u *unstructured.Unstructured) bool {
	switch c.Settings.IgnoreStatus {
	case settings.IgnoreStatusOfAll:
		return true
	case settings.IgnoreStatusOfDefinitions:
		return isDefinition(u)
	case settings.IgnoreStatusOfNone:
	}
	return false
}

func isSecret(u *unstructured.Unstructured) bool {
	return u.GroupVersionKind().GroupKind() == schema.GroupKind{Kind: "Secret"}
}

// place is where a comparison is, and who has what there.
type place struct {
	path engine.Pointer
	// all is what anybody has below, own what the manager has; declared is true where anybody has the field itself.
	all, own *fieldpath.Set
	declared bool
	// mine is true where the manager has the field itself, and whole where it has it, or something around it, in one piece.
	mine, whole bool
}

func (p place) to(part string, element fieldpath.PathElement) place {
	next := place{path: append(slices.Clone(p.path), part), all: p.all.WithPrefix(element), whole: p.whole}
	next.declared = p.all.Members.Has(element)
	if p.own != nil {
		next.own, next.mine = p.own.WithPrefix(element), p.own.Members.Has(element)
		next.whole = p.whole || next.mine && next.own.Empty()
	}
	return next
}

// differ lists the fields in which two objects differ.
type differ struct {
	everything bool
	found      []Difference
}

// note takes a difference down, unless it is one of a field that the manager neither has nor had.
func (d *differ) note(p place, gone bool) {
	if d.everything || p.whole || p.mine || !p.own.Empty() {
		d.found = append(d.found, Difference{Path: p.path, Gone: gone})
	}
}

func (d *differ) walk(predicted, live any, p place) {
	switch want := predicted.(type) {
	case map[string]any:
		if have, ok := live.(map[string]any); ok {
			d.maps(want, have, p)
			return
		}
	case []any:
		if have, ok := live.([]any); ok {
			d.lists(want, have, p)
			return
		}
	}
	if !equal(predicted, live) {
		d.note(p, false)
	}
}

func (d *differ) maps(want, have map[string]any, p place) {
	keys := maps.Clone(want)
	maps.Copy(keys, have)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		w, wanted := want[key]
		h, there := have[key]
		next := p.to(key, fieldName(key))
		if wanted && there {
			d.walk(w, h, next)
			continue
		}
		d.note(next, there)
	}
}

// lists compares the elements of lists: those that are known by their keys wherever they are, others by their places.
func (d *differ) lists(want, have []any, p place) {
	l := listOf(p.all, p.declared)
	if l.byIndex() && len(want) != len(have) {
		d.note(p, false)
		return
	}
	met := make([]bool, len(have))
	moved := false
	for i, item := range want {
		next := p.to(indexOf(i), l.element(item, i))
		j := l.find(item, have, i)
		if j < 0 {
			d.note(next, false)
			continue
		}
		met[j], moved = true, moved || j != i
		d.walk(item, have[j], next)
	}
	same := len(want) == len(have)
	for j, item := range have {
		if !met[j] {
			d.note(p.to(indexOf(j), l.element(item, j)), true)
			same = false
		}
	}
	if moved && same {
		d.note(p, false)
	}
}
