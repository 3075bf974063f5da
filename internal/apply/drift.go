package apply

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/engine"
)

// Drift is a foreign change that was put right.
type Drift struct {
	ID engine.ObjectID
	// Manager is the field manager that made the change, empty when the object was deleted.
	Manager string
	// Fields are the declared fields that were different, at most a few of them; never values,
	// which may be secret.
	Fields []string
}

// String tells the drift in one line.
func (d Drift) String() string {
	if d.Manager == "" {
		return fmt.Sprintf("%s was deleted by someone else", d.ID)
	}
	if len(d.Fields) == 0 {
		return fmt.Sprintf("%s was changed by %q", d.ID, d.Manager)
	}
	return fmt.Sprintf("%s was changed by %q: %s", d.ID, d.Manager, strings.Join(d.Fields, ", "))
}

// drift tells what was put right, given the object as it was before the write.
func (w *write) drift(before *unstructured.Unstructured) *Drift {
	id := engine.IDOf(w.desired)
	memory := w.applier.recall(id, false)
	if memory.Digest != w.digest {
		return nil
	}
	if before == nil {
		if w.live.Exists {
			return nil
		}
		return &Drift{ID: id}
	}
	if string(before.GetUID()) != memory.UID {
		return &Drift{ID: id}
	}
	return &Drift{
		ID: id, Manager: lastForeignManager(before, w.applier.names.Manager),
		Fields: differing(w.desired.Object, before.Object, ""),
	}
}

// lastForeignManager is the manager, other than ours, that wrote the object's own fields last.
func lastForeignManager(u *unstructured.Unstructured, ours string) string {
	manager, at := "unknown", int64(-1)
	for _, e := range u.GetManagedFields() {
		if e.Manager == ours || e.Subresource == "status" || e.Time == nil {
			continue
		}
		if t := e.Time.Unix(); t > at {
			manager, at = e.Manager, t
		}
	}
	return manager
}

// maxFields bounds the fields that a drift names.
const maxFields = 5

// differing lists the paths of declared fields whose live values differ.
func differing(want, have any, path string) []string {
	if len(path) > 0 && reflect.DeepEqual(want, have) {
		return nil
	}
	var fields []string
	switch w := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok {
			return []string{path}
		}
		for _, key := range sortedKeys(w) {
			fields = append(fields, differing(w[key], h[key], path+"."+key)...)
		}
	case []any:
		h, ok := have.([]any)
		if !ok || len(h) < len(w) {
			return []string{path}
		}
		for i := range w {
			fields = append(fields, differing(w[i], h[i], path+"["+strconv.Itoa(i)+"]")...)
		}
	default:
		if fmt.Sprint(want) != fmt.Sprint(have) {
			return []string{strings.TrimPrefix(path, ".")}
		}
	}
	if len(fields) > maxFields {
		fields = fields[:maxFields]
	}
	for i := range fields {
		fields[i] = strings.TrimPrefix(fields[i], ".")
	}
	return fields
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
