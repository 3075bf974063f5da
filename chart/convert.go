package chart

import (
	"bytes"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Lazy is a value that is computed when its object is synthesized: in a map, or wherever else a Go type has an any.
type Lazy func() any

// unstructuredObject is what *unstructured.Unstructured can do; the package itself is not needed for it.
type unstructuredObject interface{ UnstructuredContent() map[string]any }

// maxDepth is how deep values may nest; deeper is a value that holds itself.
const maxDepth = 200

// plain is a Go value as maps, slices, strings, bools, int64, uint64 and float64; it shares nothing with the value. Structs that say
// nothing are nil.
func plain(value any) (any, error) { return plainOf(reflect.ValueOf(value), 0) }

func plainOf(v reflect.Value, depth int) (any, error) {
	if depth > maxDepth {
		return nil, errors.New("values nest too deep; does one hold itself?")
	}
	for v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() {
		return nil, nil
	}
	if special, ok, err := specialOf(v, depth); ok || err != nil {
		return special, err
	}
	switch v.Kind() {
	case reflect.Pointer:
		return plainOf(v.Elem(), depth+1)
	case reflect.Struct:
		return structOf(v, depth)
	case reflect.Map:
		return mapOf(v, depth)
	case reflect.Slice, reflect.Array:
		return listOf(v, depth)
	}
	return scalarOf(v)
}

// specialOf converts what knows itself how it is written.
func specialOf(v reflect.Value, depth int) (any, bool, error) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func:
		if v.IsNil() {
			return nil, true, nil
		}
	}
	if v.Type() == reflect.TypeFor[json.Number]() {
		number, err := fromJSON([]byte(v.String()))
		return number, true, err
	}
	if !v.CanInterface() {
		return nil, false, nil
	}
	candidate := v.Interface()
	if v.Kind() != reflect.Pointer && v.CanAddr() {
		candidate = v.Addr().Interface()
	}
	switch one := candidate.(type) {
	case Lazy:
		answer, err := plainOf(reflect.ValueOf(one()), depth+1)
		return answer, true, err
	case *Lazy:
		answer, err := plainOf(reflect.ValueOf((*one)()), depth+1)
		return answer, true, err
	case unstructuredObject:
		answer, err := plainOf(reflect.ValueOf(one.UnstructuredContent()), depth+1)
		return answer, true, err
	case json.Marshaler:
		data, err := one.MarshalJSON()
		if err != nil {
			return nil, true, err
		}
		answer, err := fromJSON(data)
		return answer, true, err
	case encoding.TextMarshaler:
		data, err := one.MarshalText()
		return string(data), true, err
	}
	return nil, false, nil
}

// fromJSON reads JSON with whole numbers as int64.
func fromJSON(data []byte) (any, error) {
	if len(data) == 0 {
		return nil, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return numbers(value)
}

// numbers replaces the json.Numbers in a value.
func numbers(value any) (any, error) {
	var err error
	switch v := value.(type) {
	case json.Number:
		if whole, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return whole, nil
		}
		return v.Float64()
	case map[string]any:
		for key, one := range v {
			if v[key], err = numbers(one); err != nil {
				return nil, err
			}
		}
	case []any:
		for i, one := range v {
			if v[i], err = numbers(one); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}

// in puts the name of a field before an error of its value.
func in(field string, err error) error {
	if err == nil {
		return nil
	}
	var inner *fieldError
	if errors.As(err, &inner) {
		separator := "."
		if strings.HasPrefix(inner.field, "[") {
			separator = ""
		}
		return &fieldError{field + separator + inner.field, inner.err}
	}
	return &fieldError{field, err}
}

// fieldError is an error of a field of an object.
type fieldError struct {
	field string
	err   error
}

func (e *fieldError) Error() string { return e.field + ": " + e.err.Error() }
func (e *fieldError) Unwrap() error { return e.err }

func structOf(v reflect.Value, depth int) (any, error) {
	m := map[string]any{}
	return m, addFields(m, v, depth)
}

// addFields adds the fields of a struct to a mapping, as encoding/json would write them but for structs that say nothing.
func addFields(m map[string]any, v reflect.Value, depth int) error {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		value := v.Field(i)
		switch {
		case name == "-" && options == "", !field.IsExported() && !field.Anonymous:
			continue
		case field.Anonymous && name == "" || strings.Contains(options, "inline"):
			if err := addInline(m, value, depth); err != nil {
				return err
			}
			continue
		case name == "":
			name = field.Name
		}
		if err := addField(m, name, options, value, depth); err != nil {
			return in(name, err)
		}
	}
	return nil
}

func addInline(m map[string]any, value reflect.Value, depth int) error {
	for value.Kind() == reflect.Pointer {
		if value.IsNil() {
			return nil
		}
		value = value.Elem()
	}
	switch value.Kind() {
	case reflect.Struct:
		return addFields(m, value, depth+1)
	case reflect.Map:
		extra, err := mapOf(value, depth+1)
		if err != nil {
			return err
		}
		for key, one := range extra {
			if _, set := m[key]; !set {
				m[key] = one
			}
		}
	}
	return nil
}

func addField(m map[string]any, name, options string, value reflect.Value, depth int) error {
	optional := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
	if optional && value.Kind() != reflect.Struct && value.IsZero() {
		return nil
	}
	if strings.Contains(options, "omitempty") && emptyCollection(value) {
		return nil
	}
	isStruct := value.Kind() == reflect.Struct
	if isStruct && value.IsZero() && (optional || name == "status") {
		return nil
	}
	answer, err := plainOf(value, depth+1)
	if err != nil || answer == nil {
		return err
	}
	if written, ok := answer.(map[string]any); ok && len(written) == 0 && isStruct && (optional || name == "status") {
		return nil
	}
	if strings.HasSuffix(","+options, ",string") && value.Kind() != reflect.String {
		answer = fmt.Sprint(answer)
	}
	m[name] = answer
	return nil
}

// emptyCollection reports whether a value is a list or a mapping without elements.
func emptyCollection(v reflect.Value) bool {
	return (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0
}

func mapOf(v reflect.Value, depth int) (map[string]any, error) {
	m := make(map[string]any, v.Len())
	for pairs := v.MapRange(); pairs.Next(); {
		key, err := keyOf(pairs.Key())
		if err != nil {
			return nil, err
		}
		value, err := plainOf(pairs.Value(), depth+1)
		if err != nil {
			return nil, in(key, err)
		}
		m[key] = value
	}
	return m, nil
}

func keyOf(v reflect.Value) (string, error) {
	for v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if text, ok := v.Interface().(encoding.TextMarshaler); ok && v.Kind() != reflect.String {
		data, err := text.MarshalText()
		return string(data), err
	}
	switch v.Kind() {
	case reflect.String:
		if !utf8.ValidString(v.String()) {
			return "", fmt.Errorf("the key %q is not valid UTF-8", v.String())
		}
		return v.String(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.FormatUint(v.Uint(), 10), nil
	}
	return "", fmt.Errorf("a %s cannot be the key of a mapping; use a string", v.Type())
}

func listOf(v reflect.Value, depth int) (any, error) {
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
		return base64.StdEncoding.EncodeToString(v.Bytes()), nil
	}
	list := make([]any, v.Len())
	for i := range list {
		value, err := plainOf(v.Index(i), depth+1)
		if err != nil {
			return nil, in(fmt.Sprintf("[%d]", i), err)
		}
		list[i] = value
	}
	return list, nil
}

func scalarOf(v reflect.Value) (any, error) {
	switch v.Kind() {
	case reflect.String:
		if !utf8.ValidString(v.String()) {
			return nil, errors.New("the string is not valid UTF-8; a ConfigMap has binaryData for bytes, a Secret has data")
		}
		return v.String(), nil
	case reflect.Bool:
		return v.Bool(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int(), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if number := v.Uint(); number > math.MaxInt64 {
			return number, nil
		}
		return int64(v.Uint()), nil //nolint:gosec // it was compared with the largest int64
	case reflect.Float32, reflect.Float64:
		number := v.Float()
		if v.Kind() == reflect.Float32 {
			number, _ = strconv.ParseFloat(strconv.FormatFloat(number, 'g', -1, 32), 64)
		}
		if math.IsNaN(number) || math.IsInf(number, 0) {
			return nil, fmt.Errorf("%v is a number that JSON does not have", number)
		}
		return number, nil
	}
	return nil, fmt.Errorf("a %s is not a value of an object", v.Type())
}
