package engine

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Declaration is what one unit declares of an object that others declare too.
type Declaration struct {
	Unit   UnitID
	Object *unstructured.Unstructured
}

// Dispute names the fields that a unit declares otherwise than the owner of these fields.
type Dispute struct {
	Owner UnitID
	// Fields are paths, never values, which may be secret.
	Fields []string
}

// Share puts together what several units declare of one object, in the order in which they own it. A field belongs to the
// first that declares it: where a later one declares it otherwise, the first one's value stays, and the later one disputes
// it. Lists are compared, and belong to someone, as a whole. Labels and annotations whose names begin with one of marks say
// how an owner marks or treats the object; they are no content, and those of the first unit count.
func Share(declared []Declaration, marks ...string) (*unstructured.Unstructured, map[UnitID][]Dispute) {
	contents := make([]map[string]any, len(declared))
	for i, d := range declared {
		contents[i] = content(d.Object)
		if i > 0 {
			withoutMarks(contents[i], marks)
		}
	}
	whole, disputes := runtime.DeepCopyJSON(contents[0]), map[UnitID][]Dispute{}
	for i, next := range contents[1:] {
		unit := declared[i+1].Unit
		for _, field := range fold(whole, next, nil) {
			owner := declared[slices.IndexFunc(contents, func(c map[string]any) bool { return has(c, field) })].Unit
			disputes[unit] = disputed(disputes[unit], owner, strings.Join(field, "."))
		}
	}
	return &unstructured.Unstructured{Object: whole}, disputes
}

// content is a copy of what an object declares, in the form in which the server keeps it.
func content(u *unstructured.Unstructured) map[string]any {
	out := runtime.DeepCopyJSON(u.Object)
	plain, ok, _ := unstructured.NestedStringMap(out, "stringData")
	if !ok || u.GetKind() != "Secret" || u.GroupVersionKind().Group != "" {
		return out
	}
	data, _, _ := unstructured.NestedMap(out, "data")
	if data == nil {
		data = map[string]any{}
	}
	for key, value := range plain {
		data[key] = base64.StdEncoding.EncodeToString([]byte(value))
	}
	delete(out, "stringData")
	out["data"] = data
	return out
}

// withoutMarks takes out how an owner marks an object.
func withoutMarks(object map[string]any, marks []string) {
	isMark := func(name string) bool {
		return slices.ContainsFunc(marks, func(mark string) bool { return mark != "" && strings.HasPrefix(name, mark) })
	}
	for _, field := range []string{"labels", "annotations"} {
		names, found, _ := unstructured.NestedMap(object, "metadata", field)
		if !found {
			continue
		}
		maps.DeleteFunc(names, func(name string, _ any) bool { return isMark(name) })
		if len(names) == 0 {
			unstructured.RemoveNestedField(object, "metadata", field)
			continue
		}
		object["metadata"].(map[string]any)[field] = names
	}
}

// fold adds the fields of next that whole does not have, and returns those that it has otherwise.
func fold(whole, next map[string]any, at []string) [][]string {
	var otherwise [][]string
	for _, key := range slices.Sorted(maps.Keys(next)) {
		field := append(slices.Clone(at), key)
		have, want := whole[key], next[key]
		inner, isMap := have.(map[string]any)
		wanted, wantsMap := want.(map[string]any)
		switch {
		case want == nil:
		case have == nil:
			whole[key] = runtime.DeepCopyJSONValue(want)
		case isMap && wantsMap:
			otherwise = append(otherwise, fold(inner, wanted, field)...)
		case !equal(have, want):
			otherwise = append(otherwise, field)
		}
	}
	return otherwise
}

// equal reports whether two values are the same in JSON, however their numbers are held.
func equal(a, b any) bool {
	one, err1 := json.Marshal(a)
	other, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && string(one) == string(other)
}

// has reports whether an object has a value at a path, or above it one that is not a map.
func has(object map[string]any, field []string) bool {
	value := object[field[0]]
	inner, isMap := value.(map[string]any)
	if len(field) == 1 || !isMap {
		return value != nil
	}
	return has(inner, field[1:])
}

// disputed adds a field to the disputes of a unit.
func disputed(all []Dispute, owner UnitID, field string) []Dispute {
	for i := range all {
		if all[i].Owner == owner {
			all[i].Fields = append(all[i].Fields, field)
			return all
		}
	}
	return append(all, Dispute{Owner: owner, Fields: []string{field}})
}

// Ignored are the fields of an object that rules leave to others.
func Ignored(rules []IgnoreRule, u ObjectView) []Pointer {
	var fields []Pointer
	for _, rule := range rules {
		if rule.Match(u) {
			fields = append(fields, rule.Paths...)
		}
	}
	return fields
}
