package apply

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/managedfields"
)

// Drift is a change by another manager that was reverted.
type Drift struct {
	ID engine.ObjectID
	// Manager is the field manager that made the change, empty when the object was deleted.
	Manager string
	// With is with what it was deleted and by whom, where that is known.
	With string
	// Fields are the declared fields that were different, at most a few of them; never values,
	// which may be secret.
	Fields []string
}

// String tells the drift in one line.
func (d Drift) String() string {
	if d.Manager == "" && d.With != "" {
		return fmt.Sprintf("%s was deleted %s", d.ID, d.With)
	}
	if d.Manager == "" {
		return fmt.Sprintf("%s was deleted by another client", d.ID)
	}
	if len(d.Fields) == 0 {
		return fmt.Sprintf("%s was changed by %q", d.ID, d.Manager)
	}
	return fmt.Sprintf("%s was changed by %q: %s", d.ID, d.Manager, strings.Join(d.Fields, ", "))
}

// drift describes which drift a write of desired reverted, given the object as it was before. There was none
// while our manager still owned all that it had applied, and kubectl nothing.
func (w *write) drift(desired, before *unstructured.Unstructured) *Drift {
	id := w.id()
	memory := w.applier.recall(id, false)
	switch {
	case memory.Digest != w.digest, before == nil && (w.live.Exists || w.unseen):
		return nil
	case before == nil, w.live.UID != memory.UID:
		return &Drift{ID: id}
	case w.live.Owned == memory.Owned && (!w.live.Stray || w.merges()):
		return nil
	}
	fields := differing(w.said(desired), before.Object, nil)
	if len(fields) == 0 && len(w.ignored) > 0 {
		return nil // what was changed is left to others
	}
	return &Drift{ID: id, Manager: managedfields.Culprit(before, w.applier.names.Manager, fields), Fields: texts(fields)}
}

// said is what of a desired object its declaration says: the rest is there by its form, such as a port of 0 for none.
func (w *write) said(desired *unstructured.Unstructured) any {
	if gvk := desired.GroupVersionKind(); gvk.Group == "" && gvk.Kind == "Secret" {
		return desired.Object // its texts are data
	}
	return common(desired.Object, w.declared.Object)
}

// common is a value without the fields that another one does not have.
func common(value, other any) any {
	switch v := value.(type) {
	case map[string]any:
		o, ok := other.(map[string]any)
		if !ok {
			return v
		}
		out := map[string]any{}
		for key := range v {
			if has, ok := o[key]; ok {
				out[key] = common(v[key], has)
			}
		}
		return out
	case []any:
		o, ok := other.([]any)
		if !ok || len(o) != len(v) {
			return v
		}
		out := make([]any, len(v))
		for i := range v {
			out[i] = common(v[i], o[i])
		}
		return out
	}
	return value
}

// maxFields bounds the fields that a drift names.
const maxFields = 5

// differing lists the declared fields whose live values differ, at most a few of them.
func differing(want, have any, at managedfields.Path) []managedfields.Path {
	if len(at) > 0 && reflect.DeepEqual(want, have) {
		return nil
	}
	var fields []managedfields.Path
	switch w := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok {
			return []managedfields.Path{at}
		}
		for _, key := range slices.Sorted(maps.Keys(w)) {
			fields = append(fields, differing(w[key], h[key], at.To(key))...)
		}
	case []any:
		h, ok := have.([]any)
		if !ok || len(h) < len(w) {
			return []managedfields.Path{at}
		}
		for i := range w {
			fields = append(fields, differing(w[i], h[i], at.To(i))...)
		}
	default:
		if fmt.Sprint(want) != fmt.Sprint(have) {
			return []managedfields.Path{at}
		}
	}
	return fields[:min(len(fields), maxFields)]
}

func texts(fields []managedfields.Path) []string {
	var list []string
	for _, f := range fields {
		list = append(list, f.String())
	}
	return list
}
