package crdtypes

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// types are those of one package, while they are collected.
type types struct {
	roots []*root
	// byKey are the structures, by what they are made of.
	byKey map[string]*structure
	enums map[string]*enum
	known *knownTypes
}

// root is the type of a kind.
type root struct {
	kind   kindVersion
	fields []*field
}

// structure is a type of objects: every object of the same structure has it.
type structure struct {
	key    string
	doc    string
	fields []*field
	// extra says that objects may have further fields.
	extra bool
	name  string
	uses  []use
	// kinds are the kinds that have it.
	kinds []string
}

// enum is a type of strings that has values.
type enum struct {
	key    string
	values []string
	name   string
	uses   []use
	kinds  []string
	// constants are the names of the values.
	constants []string
}

// use is a field that has a type.
type use struct {
	parent   *string
	property string
	element  bool
}

// field is a field of a structure or of a kind.
type field struct {
	wire     string
	schema   *Schema
	typ      reference
	required bool
	// root says that it is a field of a kind, whose objects are values: every object of the kind has them.
	root bool
}

// form is how a type is put together.
type form int

const (
	plainForm form = iota // a name of Go: string, any
	structForm
	enumForm
	knownForm
	listForm
	mapForm
)

// reference is a type as a field has it.
type reference struct {
	form   form
	text   string
	object *structure
	enum   *enum
	known  reflect.Type
	of     *reference
}

// key is what the type is made of.
func (r reference) key() string {
	switch r.form {
	case structForm:
		return "{" + r.object.key + "}"
	case enumForm:
		return "(" + r.enum.key + ")"
	case knownForm:
		return r.known.String()
	case listForm:
		return "[]" + r.of.key()
	case mapForm:
		return "map:" + r.of.key()
	}
	return r.text
}

// leaf is the structure or enum that a type is made of, and whether it is that of elements.
func (r reference) leaf() (leaf reference, element bool) {
	for r.form == listForm || r.form == mapForm {
		r, element = *r.of, true
	}
	return r, element
}

func plainType(text string) reference { return reference{form: plainForm, text: text} }

func (t *types) addKind(k kindVersion, status bool) {
	r := &root{kind: k}
	t.roots = append(t.roots, r)
	if k.Version.Schema == nil {
		return
	}
	said := *k.Version.Schema
	said.Properties = maps.Clone(said.Properties)
	for _, name := range []string{"apiVersion", "kind", "metadata"} {
		delete(said.Properties, name)
	}
	if !status {
		delete(said.Properties, "status")
	}
	r.fields = t.fieldsOf(&said)
	for _, f := range r.fields {
		f.root = true
	}
}

// fieldsOf are the fields of an object, by their names.
func (t *types) fieldsOf(s *Schema) []*field {
	var fields []*field
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		f := &field{wire: name, schema: p, typ: t.reference(name, p)}
		// A field with a default need not be said: defaults come before validation.
		f.required = slices.Contains(s.Required, name) && p.Default == nil
		fields = append(fields, f)
	}
	return fields
}

// quantityPattern is how the patterns of quantities begin.
const quantityPattern = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))`

// reference is the type of a schema.
func (t *types) reference(property string, s *Schema) reference {
	switch {
	case s.IntOrString && strings.HasPrefix(s.Pattern, quantityPattern):
		return reference{form: knownForm, known: quantityType}
	case s.IntOrString:
		return reference{form: knownForm, known: intOrStringType}
	case s.Embedded:
		return plainType("any")
	}
	switch s.Type {
	case "string":
		return t.text(s)
	case "boolean":
		return plainType("bool")
	case "integer":
		return plainType("int")
	case "number":
		return plainType("float64")
	case "array":
		element := plainType("any")
		if s.Items != nil {
			element = t.reference(property, s.Items)
		}
		return reference{form: listForm, of: &element}
	case "object":
		return t.object(property, s)
	}
	if len(s.Properties) > 0 {
		return t.object(property, s)
	}
	return plainType("any")
}

func (t *types) text(s *Schema) reference {
	if s.Format == "byte" {
		return plainType("[]byte")
	}
	var values []string
	for _, value := range s.Enum {
		if text, ok := value.(string); ok && text != "" && !slices.Contains(values, text) {
			values = append(values, text)
		}
	}
	if len(values) == 0 {
		return plainType("string")
	}
	key := digest(values)
	if t.enums[key] == nil {
		t.enums[key] = &enum{key: key, values: values}
	}
	return reference{form: enumForm, enum: t.enums[key]}
}

func (t *types) object(property string, s *Schema) reference {
	if found, ok := t.known.find(property, s); ok {
		return reference{form: knownForm, known: found}
	}
	switch {
	case len(s.Properties) > 0:
		return t.structure(s)
	case s.Values != nil:
		value := t.reference(property, s.Values)
		return reference{form: mapForm, of: &value}
	case s.Preserve || s.AnyValues:
		return plainType("map[string]any")
	}
	return plainType("struct{}")
}

// structure is the type of an object with fields; an object of the same structure has had it before, or it is a new one.
func (t *types) structure(s *Schema) reference {
	fields := t.fieldsOf(s)
	extra := s.Preserve || s.AnyValues
	parts := []any{extra}
	for _, f := range fields {
		parts = append(parts, f.wire, f.required, f.byPointer(), f.typ.key(), f.schema.Default)
	}
	key := digest(parts)
	if t.byKey[key] == nil {
		t.byKey[key] = &structure{key: key, doc: s.Description, fields: fields, extra: extra}
	}
	return reference{form: structForm, object: t.byKey[key]}
}

func digest(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		data = fmt.Append(nil, value)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:12])
}

// byPointer reports whether a field is a pointer: see the rule of the package.
func (f *field) byPointer() bool {
	if f.required || f.root && f.typ.form == structForm {
		return false
	}
	switch f.typ.form {
	case structForm, knownForm:
		return true
	case plainForm:
		switch f.typ.text {
		case "struct{}":
			return true
		case "bool":
			return f.schema.Default != false
		case "int", "float64":
			return f.schema.Default != 0.0 && f.schema.permitsZero()
		}
	}
	return false
}

func (s *Schema) permitsZero() bool {
	switch {
	case s.Minimum != nil && (*s.Minimum > 0 || *s.Minimum == 0 && s.ExclusiveMinimum):
		return false
	case s.Maximum != nil && *s.Maximum < 0:
		return false
	}
	return len(s.Enum) == 0 || slices.Contains(s.Enum, any(0.0))
}
