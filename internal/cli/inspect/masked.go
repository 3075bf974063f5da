package inspect

import (
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

// masked hides the values of a Secret.
func masked(u *unstructured.Unstructured) *unstructured.Unstructured {
	if u.GetKind() != "Secret" || u.GetAPIVersion() != "v1" {
		return u
	}
	u = u.DeepCopy()
	for _, field := range []string{"data", "stringData"} {
		values, ok := u.Object[field].(map[string]any)
		for key := range values {
			values[key] = dialect.Masked
		}
		if ok {
			u.Object[field] = values
		}
	}
	return u
}

// shown is an object of a unit as it is printed.
func shown(u *dialect.OfflineUnit, o *unstructured.Unstructured) *unstructured.Unstructured {
	if without, there := u.Shown[engine.IDOf(o)]; there {
		return without
	}
	return o
}

// hide masks the fields of an object of the cluster that hold something secret in what is declared, given as it is
// and as it is shown.
func hide(live, declared, shown any) any {
	switch d := declared.(type) {
	case map[string]any:
		fields, isMap := live.(map[string]any)
		without, same := shown.(map[string]any)
		if !same {
			return dialect.Masked
		}
		if !isMap {
			return live
		}
		for key := range d {
			if value, there := fields[key]; there {
				fields[key] = hide(value, d[key], without[key])
			}
		}
		return fields
	case []any:
		items, isList := live.([]any)
		without, same := shown.([]any)
		if !same || isList && !aligned(items, d) && !reflect.DeepEqual(declared, shown) {
			return dialect.Masked
		}
		for i := range items {
			if i < len(d) {
				items[i] = hide(items[i], d[i], without[i])
			}
		}
		return live
	}
	if declared == shown {
		return live
	}
	return dialect.Masked
}

// aligned reports whether two lists have the same items at the same places, by their names: without names it is unknown
// which one holds something secret.
func aligned(live, declared []any) bool {
	if len(live) != len(declared) {
		return false
	}
	for i := range live {
		one, isMap := live[i].(map[string]any)
		other, _ := declared[i].(map[string]any)
		if !isMap || one["name"] == nil || one["name"] != other["name"] {
			return false
		}
	}
	return true
}
