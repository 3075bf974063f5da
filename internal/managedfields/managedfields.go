// Package managedfields reads whose the fields of an object are: pure values, from what the API server records of field managers. It
// refuses to write, and to return values of fields, which may be secret.
package managedfields

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Unknown stands for the manager of a change that no manager owns up to.
const Unknown = "unknown"

// Path is the way to a field: names of fields and indexes of lists, strings and ints.
type Path []any

// To is the path of an element of the field.
func (p Path) To(element any) Path { return append(slices.Clone(p), element) }

// String is the path as people write it, such as spec.containers[0].image.
func (p Path) String() string {
	var text strings.Builder
	for _, element := range p {
		if index, ok := element.(int); ok {
			fmt.Fprintf(&text, "[%d]", index)
			continue
		}
		if text.Len() > 0 {
			text.WriteByte('.')
		}
		fmt.Fprint(&text, element)
	}
	return text.String()
}

// Set are the fields of a manager.
func Set(e metav1.ManagedFieldsEntry) (*fieldpath.Set, error) {
	set := &fieldpath.Set{}
	if e.FieldsV1 == nil {
		return set, nil
	}
	if err := set.FromJSON(bytes.NewReader(e.FieldsV1.GetRawBytes())); err != nil {
		return nil, fmt.Errorf("reading the fields of manager %q: %w", e.Manager, err)
	}
	return set, nil
}

// Culprit is the manager, other than ours, that owns one of the fields; else the one that wrote the object's own fields
// last, and Unknown if there is none. It is never empty.
func Culprit(o *unstructured.Unstructured, ours string, fields []Path) string {
	manager, at := Unknown, int64(-1)
	for _, e := range o.GetManagedFields() {
		if e.Manager == ours || e.Subresource == "status" {
			continue
		}
		if set, err := Set(e); err == nil && slices.ContainsFunc(fields, func(p Path) bool { return p.in(set) }) {
			return e.Manager
		}
		// The server writes no time for some subresources.
		var t int64
		if e.Time != nil {
			t = e.Time.Unix()
		}
		if t > at {
			manager, at = e.Manager, t
		}
	}
	return manager
}

// in reports whether a set of managed fields holds the field. Lists are managed by keys or as a whole, so that a path into a list counts
// as the list.
func (p Path) in(set *fieldpath.Set) bool {
	var elements []any
	for _, element := range p {
		if _, ok := element.(int); ok {
			break
		}
		elements = append(elements, element)
	}
	field, err := fieldpath.MakePath(elements...)
	if err != nil {
		return false
	}
	if set.Has(field) {
		return true
	}
	for _, e := range field {
		set = set.WithPrefix(e)
	}
	return !set.Empty()
}
