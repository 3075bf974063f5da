package dialect

import (
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/engine"
)

// SecretTexts are the texts in an object that are secret, the longest first, given the object as it is shown.
func SecretTexts(o, shown *unstructured.Unstructured) []string {
	found := Differing(o.Object, shown.Object, nil)
	for _, text := range slices.Clone(found) {
		// Values of a chart may be one text: what is in it is as secret as the whole.
		var values any
		if strings.Contains(text, "\n") || strings.Contains(text, ": ") {
			if yaml.Unmarshal([]byte(text), &values) == nil {
				found = Differing(values, nil, found)
			}
		}
	}
	slices.SortFunc(found, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(found)
}

// Hide has secret texts be masked wherever they appear among the objects of the unit.
func (u *OfflineUnit) Hide(secret []string) {
	if len(secret) == 0 {
		return
	}
	for _, o := range u.Objects {
		from := o.Object
		if before, there := u.Shown[engine.IDOf(o)]; there {
			from = before.Object
		}
		fields, is := Without(from, secret).(map[string]any)
		if !is || reflect.DeepEqual(fields, o.Object) {
			continue
		}
		if u.Shown == nil {
			u.Shown = map[engine.ObjectID]*unstructured.Unstructured{}
		}
		u.Shown[engine.IDOf(o)] = &unstructured.Unstructured{Object: fields}
	}
}

// Differing adds the texts in a value that its twin has not.
func Differing(value, twin any, found []string) []string {
	switch v := value.(type) {
	case map[string]any:
		other, _ := twin.(map[string]any)
		for key := range v {
			found = Differing(v[key], other[key], found)
		}
	case []any:
		other, _ := twin.([]any)
		for i := range v {
			var with any
			if i < len(other) {
				with = other[i]
			}
			found = Differing(v[i], with, found)
		}
	case string:
		if text := strings.TrimSpace(v); v != twin && text != "" {
			found = append(found, text)
		}
	}
	return found
}

// shortest is how long a text has to be to be searched for within others: a shorter one is masked where it is all there is.
const shortest = 4

// Without is a value with marks instead of secret texts.
func Without(value any, secret []string) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key := range v {
			out[key] = Without(v[key], secret)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = Without(v[i], secret)
		}
		return out
	case string:
		for _, text := range secret {
			switch {
			case v == text:
				return Masked
			case len(text) >= shortest:
				v = strings.ReplaceAll(v, text, Masked)
			}
		}
		return v
	}
	return value
}
