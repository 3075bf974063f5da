package objects

import (
	"encoding/base64"
	"fmt"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/provision/managed"
)

// manifest is what an Object declares.
type manifest struct {
	*unstructured.Unstructured
	// bare is set for a Secret without values: it is read, and not created empty.
	bare bool
	// secret are the fields that were taken from Secrets, and confidential their values.
	secret       []path
	confidential map[string]bool
}

// parseManifest reads the manifest of an Object, which has the name of the Object when it has none.
func parseManifest(o *unstructured.Unstructured) (*manifest, error) {
	raw, has, err := unstructured.NestedMap(o.Object, "spec", "forProvider", "manifest")
	if err != nil || !has {
		return nil, managed.Invalid("spec.forProvider.manifest: not an object")
	}
	m := &manifest{Unstructured: &unstructured.Unstructured{Object: raw}, confidential: map[string]bool{}}
	if m.GetKind() == "" || m.GetAPIVersion() == "" {
		return nil, managed.Invalid("spec.forProvider.manifest: apiVersion and kind are required")
	}
	if m.GetName() == "" {
		m.SetName(o.GetName())
	}
	if o.GetNamespace() != "" && m.GetNamespace() == "" {
		m.SetNamespace(o.GetNamespace())
	}
	m.bare = isSecret(m.Unstructured) && lacks(raw, "data", "stringData", "type", "immutable")
	return m, nil
}

// isSecret reports whether an object is a Secret.
func isSecret(o *unstructured.Unstructured) bool {
	return o.GetKind() == "Secret" && o.GetAPIVersion() == "v1"
}

func lacks(fields map[string]any, names ...string) bool {
	for _, name := range names {
		if _, has := fields[name]; has {
			return false
		}
	}
	return true
}

// patch has a field of the manifest have the value of a field of another object. Values of a Secret are decoded, unless the field
// is one of a Secret's data: the upstream copies their base64 text.
func (m *manifest) patch(to string, from *unstructured.Unstructured, at string) error {
	source, err := parsePath(at)
	if err != nil {
		return managed.Invalid("patchesFrom.fieldPath: %w", err)
	}
	target, err := parsePath(to)
	if err != nil {
		return managed.Invalid("toFieldPath: %w", err)
	}
	value, has := source.get(from.Object)
	if !has {
		return managed.Invalid("%s %s/%s: %s: no such field", from.GetKind(), from.GetNamespace(), from.GetName(), at)
	}
	if value, err = m.decoded(value, from, source, target); err != nil {
		return managed.Invalid("%s %s/%s: %s: %w", from.GetKind(), from.GetNamespace(), from.GetName(), at, err)
	}
	if _, err := target.set(m.Object, value); err != nil {
		return managed.Invalid("toFieldPath %q: %w", to, err)
	}
	return nil
}

// decoded is a value as the target has it.
func (m *manifest) decoded(value any, from *unstructured.Unstructured, source, target path) (any, error) {
	value = (&unstructured.Unstructured{Object: map[string]any{"value": value}}).DeepCopy().Object["value"]
	if !isSecret(from) || !source.below("data") {
		return value, nil
	}
	m.secret = append(m.secret, target)
	if isSecret(m.Unstructured) && target.below("data") {
		return value, nil
	}
	switch held := value.(type) {
	case string:
		text, err := decodeText(held)
		m.confidential[text] = true
		return text, err
	case map[string]any:
		for key, one := range held {
			text, err := decodeText(fmt.Sprint(one))
			if err != nil {
				return nil, fmt.Errorf("key %q: %w", key, err)
			}
			held[key], m.confidential[text] = text, true
		}
	}
	return value, nil
}

// decodeText decodes a value that is to become a text. Its error does not show it.
func decodeText(encoded string) (string, error) {
	data, err := base64.StdEncoding.DecodeString(encoded)
	switch {
	case err != nil:
		return "", fmt.Errorf("not base64")
	case !utf8.Valid(data):
		return "", fmt.Errorf("its value is not text")
	}
	return string(data), nil
}

// redacted stands in for values that are not shown.
const redacted = "redacted"

// shown is an object as a status shows it: without the values of a Secret, and without those that the manifest took from one.
func (m *manifest) shown(live *unstructured.Unstructured) map[string]any {
	o := live.DeepCopy()
	o.SetManagedFields(nil)
	if isSecret(o) {
		for _, field := range []string{"data", "stringData"} {
			if _, has := o.Object[field]; has {
				o.Object[field] = map[string]any{redacted: ""}
			}
		}
		annotations := o.GetAnnotations()
		delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
		o.SetAnnotations(annotations)
	}
	for _, field := range m.secret {
		if _, has := field.get(o.Object); has {
			_, _ = field.set(o.Object, redacted)
		}
	}
	m.hide(o.Object)
	return o.Object
}

// hide replaces the texts that are values of Secrets.
func (m *manifest) hide(in any) {
	switch held := in.(type) {
	case map[string]any:
		for key, value := range held {
			if text, is := value.(string); is && text != "" && m.confidential[text] {
				held[key] = redacted
			}
			m.hide(value)
		}
	case []any:
		for i, value := range held {
			if text, is := value.(string); is && text != "" && m.confidential[text] {
				held[i] = redacted
			}
			m.hide(value)
		}
	}
}
