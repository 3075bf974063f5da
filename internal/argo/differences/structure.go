package differences

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/argo/settings"
)

// structure searches for the fields of a desired object in a live one. What the live one has beside them is no difference:
// without a dry run it is unknown whether it is a default.
type structure struct {
	known  []settings.KnownTypeField
	secret bool
	found  []Difference
}

func (s *structure) note(p place) { s.found = append(s.found, Difference{Path: p.path}) }

func (s *structure) walk(desired, live any, p place) {
	switch want := desired.(type) {
	case map[string]any:
		have, ok := live.(map[string]any)
		if !ok && !empty(want) {
			s.note(p)
			return
		}
		for _, key := range slices.Sorted(maps.Keys(want)) {
			s.walk(want[key], have[key], p.to(key, fieldName(key)))
		}
	case []any:
		have, ok := live.([]any)
		if !ok && len(want) > 0 {
			s.note(p)
			return
		}
		s.lists(want, have, p)
	default:
		if !s.same(desired, live, p) {
			s.note(p)
		}
	}
}

// lists searches for elements by their keys where those are known, and else by their places in a list of the same length.
func (s *structure) lists(want, have []any, p place) {
	l := listOf(p.all, p.declared)
	if l.byIndex() && len(want) != len(have) {
		s.note(p)
		return
	}
	for i, item := range want {
		next := p.to(indexOf(i), l.element(item, i))
		j := l.find(item, have, i)
		if j < 0 {
			s.note(next)
			continue
		}
		next.all = p.all.WithPrefix(l.element(have[j], j))
		s.walk(item, have[j], next)
	}
}

func (s *structure) same(desired, live any, p place) bool {
	switch {
	case empty(desired) && empty(live), equal(desired, live):
		return true
	case s.secret && len(p.path) == 2 && p.path[0] == "data":
		return sameBytes(desired, live)
	}
	switch s.typeOf(p.path) {
	case quantityType:
		return sameQuantity(desired, live)
	case durationType:
		return sameDuration(desired, live)
	}
	return false
}

// The types of fields whose texts may differ and mean the same, as upstream's settings name them.
const (
	quantityType = "core/Quantity"
	durationType = "meta/v1/Duration"
)

// KnownTypes are the fields that resource.customizations.knownTypeFields names for the kind of an object.
func KnownTypes(customizations map[string]settings.Customization, u *unstructured.Unstructured) []settings.KnownTypeField {
	kind := u.GroupVersionKind()
	key := kind.Kind
	if kind.Group != "" {
		key = kind.Group + "/" + kind.Kind
	}
	return customizations[key].KnownTypeFields
}

// empty is true for what the API server drops.
func empty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case map[string]any:
		for _, item := range v {
			if !empty(item) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	}
	return false
}

// typeOf is the type of a field: what the settings say, or a quantity where fields of its name hold one in all kinds.
// Data of users, such as that of a ConfigMap, has none.
func (s *structure) typeOf(path []string) string {
	for _, k := range s.known {
		if k.Field == strings.Join(path, ".") {
			return k.Type
		}
	}
	if len(path) < 2 || path[0] != "spec" {
		return ""
	}
	if last := path[len(path)-1]; last == "sizeLimit" || last == "divisor" {
		return quantityType
	}
	switch path[len(path)-2] {
	case "limits", "requests", "capacity", "hard", "overhead", "min", "max", "default", "defaultRequest", "minAllowed", "maxAllowed":
		return quantityType
	}
	return ""
}

func sameDuration(a, b any) bool {
	first, err := time.ParseDuration(fmt.Sprint(a))
	if err != nil {
		return false
	}
	second, err := time.ParseDuration(fmt.Sprint(b))
	return err == nil && first == second
}

func sameQuantity(a, b any) bool {
	first, err := resource.ParseQuantity(fmt.Sprint(a))
	if err != nil {
		return false
	}
	second, err := resource.ParseQuantity(fmt.Sprint(b))
	return err == nil && first.Cmp(second) == 0
}

// sameBytes compares data of a Secret, of which one may be broken into lines.
func sameBytes(a, b any) bool {
	first, ok := a.(string)
	second, too := b.(string)
	if !ok || !too {
		return false
	}
	x, err := base64.StdEncoding.DecodeString(first)
	if err != nil {
		return false
	}
	y, err := base64.StdEncoding.DecodeString(second)
	return err == nil && string(x) == string(y)
}

// withData is a Secret with its stringData as data, as the API server keeps it, and any other object itself.
func withData(u *unstructured.Unstructured) *unstructured.Unstructured {
	texts, ok := u.Object["stringData"].(map[string]any)
	if !isSecret(u) || !ok {
		return u
	}
	u = u.DeepCopy()
	data, ok := u.Object["data"].(map[string]any)
	if !ok {
		data = map[string]any{}
	}
	for key, value := range texts {
		text, _ := value.(string)
		data[key] = base64.StdEncoding.EncodeToString([]byte(text))
	}
	u.Object["data"] = data
	delete(u.Object, "stringData")
	return u
}
