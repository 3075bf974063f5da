package cluster

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/headgate-dev/headgate/internal/engine"
)

// StrayFields are the fields that are taken over from a manager when its object is applied, nil for none: what
// kubectl wrote by hand, and what was written before field managers were recorded. Kept is what stays the
// manager's: marks that a user set in the cluster to control how the object is applied, the labels by which it is a unit's, and the time of a
// restart that a user has requested by "kubectl rollout restart".
func StrayFields(e *metav1.ManagedFieldsEntry, prefix string, owner ...string) (taken, kept *fieldpath.Set, err error) {
	if e.Subresource != "" || !strings.HasPrefix(e.Manager, "kubectl") && e.Manager != "before-first-apply" {
		return nil, nil, nil
	}
	all := fieldpath.NewSet()
	if e.FieldsV1 != nil {
		if err := all.FromJSON(bytes.NewReader(e.FieldsV1.GetRawBytes())); err != nil {
			return nil, nil, fmt.Errorf("reading the fields of manager %q: %w", e.Manager, err)
		}
	}
	marks, maps := fieldpath.NewSet(), fieldpath.NewSet()
	all.Iterate(func(p fieldpath.Path) {
		switch {
		case isMark(p, prefix), isLabel(p, owner), is(p, restart):
			marks.Insert(p.Copy())
		case len(p) == 2 && inMetadata(p), is(p, restart[:len(restart)-1]):
			maps.Insert(p.Copy())
		}
	})
	if marks.Empty() {
		return all, nil, nil
	}
	kept = marks.Union(maps)
	if taken = all.Difference(kept); taken.Empty() {
		taken = nil
	}
	return taken, kept, nil
}

// textField is where a Secret has values as texts: the server keeps them as data, and lets no manager remove them by that name.
const textField = "stringData"

// HasTexts reports whether a manager owns texts of a Secret, instead of the data which they have become.
func HasTexts(e *metav1.ManagedFieldsEntry) bool {
	if e.APIVersion != "v1" || e.FieldsV1 == nil || !bytes.Contains(e.FieldsV1.GetRawBytes(), []byte(`"f:`+textField+`"`)) {
		return false
	}
	set := fieldpath.NewSet()
	return set.FromJSON(bytes.NewReader(e.FieldsV1.GetRawBytes())) == nil && !set.WithPrefix(fieldpath.FieldNameElement(textField)).Empty()
}

// WithData returns the fields of a Secret with the data that its texts have become instead of these.
func WithData(set *fieldpath.Set) *fieldpath.Set {
	out, data := fieldpath.NewSet(), "data"
	set.Iterate(func(p fieldpath.Path) {
		p = p.Copy()
		if len(p) > 0 && p[0].FieldName != nil && *p[0].FieldName == textField {
			p[0] = fieldpath.PathElement{FieldName: &data}
		}
		out.Insert(p)
	})
	return out
}

// isMark reports whether a field is an annotation or a label that steers how its object is applied.
func isMark(p fieldpath.Path, prefix string) bool {
	return len(p) == 3 && inMetadata(p) && p[2].FieldName != nil && engine.IsMark(*p[2].FieldName, prefix)
}

// isLabel reports whether a field is one of some labels.
func isLabel(p fieldpath.Path, names []string) bool {
	return len(p) == 3 && inMetadata(p) && *p[1].FieldName == "labels" && p[2].FieldName != nil && slices.Contains(names, *p[2].FieldName)
}

// restart is the field that "kubectl rollout restart" sets.
var restart = []string{"spec", "template", "metadata", "annotations", "kubectl.kubernetes.io/restartedAt"}

// is reports whether a path is that of the fields of these names.
func is(p fieldpath.Path, names []string) bool {
	if len(p) != len(names) {
		return false
	}
	for i, name := range names {
		if p[i].FieldName == nil || *p[i].FieldName != name {
			return false
		}
	}
	return true
}

// inMetadata reports whether a field is the annotations or the labels of its object, or below.
func inMetadata(p fieldpath.Path) bool {
	metadata, field := p[0].FieldName, p[1].FieldName
	return metadata != nil && field != nil && *metadata == "metadata" && (*field == "annotations" || *field == "labels")
}

func ownedFields(entries []metav1.ManagedFieldsEntry, own Ownership) (digest string, stray bool) {
	for i := range entries {
		e := &entries[i]
		switch {
		case e.Subresource != "":
		case e.Manager == own.Manager && e.Operation == metav1.ManagedFieldsOperationApply && e.FieldsV1 != nil:
			digest = digestOf(withoutLabels(e.FieldsV1.GetRawBytes(), own.Label, own.NamespaceLabel))
			stray = stray || own.Judge == nil && HasTexts(e)
		default:
			taken, _, err := StrayFields(e, own.Prefix, own.Label, own.NamespaceLabel)
			stray = stray || err != nil || taken != nil
		}
	}
	return digest, stray
}

func updatedFields(entries []metav1.ManagedFieldsEntry, manager string) string {
	for i := range entries {
		e := &entries[i]
		if e.Subresource == "" && e.Manager == manager && e.Operation == metav1.ManagedFieldsOperationUpdate && e.FieldsV1 != nil {
			return digestOf(e.FieldsV1.GetRawBytes())
		}
	}
	return ""
}

// withoutLabels are managed fields without some labels, as the server writes them: a change of its owner changes nothing that is declared.
func withoutLabels(fields []byte, names ...string) []byte {
	if names[0] == "" {
		return fields
	}
	// What is left empty is not there where another manager has all of it.
	for _, name := range append(names, "labels", "metadata") {
		field := `"f:` + name + `":{}`
		for _, text := range []string{field + ",", "," + field, field} {
			fields = bytes.ReplaceAll(fields, []byte(text), nil)
		}
	}
	return fields
}

func digestOf(fields []byte) string {
	sum := sha256.Sum256(fields)
	return hex.EncodeToString(sum[:16])
}
