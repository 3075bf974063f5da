package factory

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// variable is a text that was the value of one variable and nothing else: it may stand for a number or for true and false.
type variable string

// decode makes a value of a type from maps, lists and scalars. Everything that does not fit is kept with its path, and left out.
func decode(p *problems, value any, t reflect.Type, path string) reflect.Value {
	made := reflect.New(t)
	data, err := json.Marshal(fit(p, value, t, path))
	if err == nil {
		err = json.Unmarshal(data, made.Interface())
	}
	if err != nil {
		p.add(path, "%w", err)
	}
	return made.Elem()
}

// fit compares a value with a type, all the way down, and returns it in the form that JSON has of it.
func fit(p *problems, value any, t reflect.Type, path string) any {
	if value == nil || reflect.TypeOf(value) == t && t.Kind() == reflect.Struct {
		return value
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if own(t) {
		return fitOwn(p, value, t, path)
	}
	switch t.Kind() {
	case reflect.Struct:
		return fitStruct(p, value, t, path)
	case reflect.Map:
		return fitMap(p, value, t, path)
	case reflect.Slice, reflect.Array:
		return fitList(p, value, t, path)
	case reflect.Interface:
		return plain(value)
	default:
		return fitScalar(p, value, t, path)
	}
}

// own says that a type has a form of its own in JSON.
func own(t reflect.Type) bool {
	to := reflect.PointerTo(t)
	return to.Implements(reflect.TypeFor[json.Unmarshaler]()) || to.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

func fitOwn(p *problems, value any, t reflect.Type, path string) any {
	value = plain(value)
	data, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(data, reflect.New(t).Interface())
	}
	if err != nil {
		p.add(path, "%s is not a valid %s: %w", data, t.Name(), err)
		return nil
	}
	return value
}

func fitStruct(p *problems, value any, t reflect.Type, path string) any {
	object, is := value.(map[string]any)
	if !is {
		p.add(path, "%s is not an object with the fields %s", describe(value), strings.Join(keys(fieldsOf(t)), ", "))
		return nil
	}
	fields, fitted := fieldsOf(t), map[string]any{}
	for _, name := range keys(object) {
		f, known := fields[name]
		if !known {
			p.add(member(path, name), "%s", unknown("field", name, keys(fields)))
			continue
		}
		fitted[name] = fit(p, object[name], f.Type, member(path, name))
	}
	return fitted
}

func fitMap(p *problems, value any, t reflect.Type, path string) any {
	object, is := value.(map[string]any)
	if !is {
		p.add(path, "%s is not an object", describe(value))
		return nil
	}
	fitted := map[string]any{}
	for _, name := range keys(object) {
		fitted[name] = fit(p, object[name], t.Elem(), member(path, name))
	}
	return fitted
}

func fitList(p *problems, value any, t reflect.Type, path string) any {
	if text, is := value.(string); is && t.Elem().Kind() == reflect.Uint8 {
		return text
	}
	list, is := value.([]any)
	if !is {
		p.add(path, "%s is not a list", describe(value))
		return nil
	}
	fitted := make([]any, len(list))
	for i := range list {
		fitted[i] = fit(p, list[i], t.Elem(), element(path, i))
	}
	return fitted
}

func fitScalar(p *problems, value any, t reflect.Type, path string) any {
	if text, is := value.(variable); is {
		value = scalarOf(string(text), t)
	}
	if wrong := mismatch(value, t); wrong != "" {
		p.add(path, "%s is not %s", describe(value), wrong)
		return nil
	}
	return value
}

// mismatch is what a scalar should have been, if it is something else.
func mismatch(value any, t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		if _, is := value.(string); !is && isScalar(value) {
			return "a string; write it in quotes"
		} else if !is {
			return "a string"
		}
	case reflect.Bool:
		if _, is := value.(bool); !is {
			return "true or false"
		}
	case reflect.Float32, reflect.Float64:
		if !isNumber(value) {
			return "a number"
		}
	default:
		if !isWhole(value, t) {
			return "a whole number of the type " + t.String()
		}
	}
	return ""
}

func isScalar(value any) bool {
	_, truth := value.(bool)
	return truth || isNumber(value)
}

// scalarOf is the value of a variable as the type has it, if it is one.
func scalarOf(text string, t reflect.Type) any {
	if t.Kind() == reflect.String {
		return text
	}
	if b, err := strconv.ParseBool(text); err == nil && t.Kind() == reflect.Bool {
		return b
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		return f
	}
	return text
}

func isNumber(value any) bool {
	switch value.(type) {
	case int64, float64:
		return true
	}
	return false
}

// isWhole says that a value fits into an integer type.
func isWhole(value any, t reflect.Type) bool {
	zero := reflect.Zero(t)
	switch n := value.(type) {
	case int64:
		if zero.CanUint() {
			return n >= 0 && !zero.OverflowUint(uint64(n))
		}
		return zero.CanInt() && !zero.OverflowInt(n)
	case float64:
		return n == math.Trunc(n) && math.Abs(n) < 1<<53 && isWhole(int64(n), t)
	}
	return false
}

// describe is a value as people wrote it, in short.
func describe(value any) string {
	switch v := plain(value).(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return strconv.Quote(v)
	default:
		return fmt.Sprint(v)
	}
}

// plain is a value without the marks of variables.
func plain(value any) any {
	switch v := value.(type) {
	case variable:
		return string(v)
	case map[string]any:
		object := make(map[string]any, len(v))
		for name := range v {
			object[name] = plain(v[name])
		}
		return object
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = plain(v[i])
		}
		return list
	}
	return value
}

// fieldsOf are the fields of a struct by their names in JSON, those of embedded structs among them, and without an Environment: that is
// filled in.
func fieldsOf(t reflect.Type) map[string]reflect.StructField {
	fields := map[string]reflect.StructField{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" || f.Type == reflect.TypeFor[Environment]() || f.Anonymous && name == "" && kindOf(f.Type) == reflect.Struct {
			continue
		}
		if len(f.Index) > 1 && !inlined(t, f.Index) {
			continue
		}
		if name == "" {
			name = f.Name
		}
		fields[name] = f
	}
	return fields
}

// inlined says that the structs around a promoted field have no name in JSON of their own, and are not left out of it.
func inlined(t reflect.Type, index []int) bool {
	for i := 1; i < len(index); i++ {
		around := t.FieldByIndex(index[:i])
		name, _, _ := strings.Cut(around.Tag.Get("json"), ",")
		if name != "" || around.Type == reflect.TypeFor[Environment]() {
			return false
		}
	}
	return true
}

// kindOf is the kind of a type, or of what it points to.
func kindOf(t reflect.Type) reflect.Kind {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind()
}

// generic is a value of Go in the form that YAML is read in: maps, lists, int64, float64. Structs stay as they are.
func generic(value any) any {
	v := reflect.ValueOf(value)
	switch v.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if n := v.Uint(); n <= math.MaxInt64 {
			return int64(n)
		}
		return float64(v.Uint())
	case reflect.Float32, reflect.Float64:
		return v.Float()
	case reflect.Map:
		object := make(map[string]any, v.Len())
		for pairs := v.MapRange(); pairs.Next(); {
			object[pairs.Key().String()] = generic(pairs.Value().Interface())
		}
		return object
	case reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = generic(v.Index(i).Interface())
		}
		return list
	}
	return value
}
