package crdtypes

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Schema is what is read of a structural schema.
type Schema struct {
	Description string
	Type        string
	Format      string
	Pattern     string
	Properties  map[string]*Schema
	Required    []string
	Items       *Schema
	// Values is the schema of all values of a map; AnyValues says that they may be anything.
	Values    *Schema
	AnyValues bool
	Enum      []any
	Default   any
	Minimum   *float64
	Maximum   *float64
	MinLength *float64

	ExclusiveMinimum bool
	IntOrString      bool
	Preserve         bool
	Embedded         bool
	Atomic           bool
}

// maxDepth is how deep schemas may nest; a cluster accepts no deeper ones.
const maxDepth = 100

// parseSchema reads a schema; at is where it is, for errors.
func parseSchema(value any, at string, depth int) (*Schema, error) {
	fields, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: want a schema, an object, have %s", at, kindOfJSON(value))
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("%s: schemas nest deeper than %d levels", at, maxDepth)
	}
	r := reader{fields: fields, at: at}
	s := &Schema{
		Description: r.text("description"), Type: r.text("type"), Format: r.text("format"), Pattern: r.text("pattern"),
		Required: r.texts("required"), Enum: r.list("enum"), Default: fields["default"],
		Minimum: r.number("minimum"), Maximum: r.number("maximum"), MinLength: r.number("minLength"), ExclusiveMinimum: r.flag("exclusiveMinimum"),
		IntOrString: r.flag("x-kubernetes-int-or-string") || r.text("format") == "int-or-string", Preserve: r.flag("x-kubernetes-preserve-unknown-fields"),
		Embedded: r.flag("x-kubernetes-embedded-resource"), Atomic: r.text("x-kubernetes-map-type") == "atomic",
	}
	if !slices.Contains([]string{"", "object", "array", "string", "integer", "number", "boolean", "null"}, s.Type) {
		return nil, fmt.Errorf("%s.type: %q is not a type of a schema", at, s.Type)
	}
	if _, refers := fields["$ref"]; refers {
		return nil, fmt.Errorf("%s.$ref: definitions cannot refer to other schemas", at)
	}
	if r.err != nil {
		return nil, r.err
	}
	return s, s.parseChildren(fields, at, depth)
}

func (s *Schema) parseChildren(fields map[string]any, at string, depth int) error {
	properties, ok := fields["properties"].(map[string]any)
	if !ok && fields["properties"] != nil {
		return fmt.Errorf("%s.properties: want an object, have %s", at, kindOfJSON(fields["properties"]))
	}
	var err error
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if s.Properties == nil {
			s.Properties = map[string]*Schema{}
		}
		if s.Properties[name], err = parseSchema(properties[name], at+".properties."+name, depth+1); err != nil {
			return err
		}
	}
	if items := fields["items"]; items != nil {
		if s.Items, err = parseSchema(items, at+".items", depth+1); err != nil {
			return err
		}
	}
	switch values := fields["additionalProperties"].(type) {
	case nil:
	case bool:
		s.AnyValues = values
	default:
		s.Values, err = parseSchema(values, at+".additionalProperties", depth+1)
	}
	return err
}

// reader reads the fields of a schema, and keeps the first error.
type reader struct {
	fields map[string]any
	at     string
	err    error
}

func (r *reader) fail(field, want string) {
	if r.err == nil {
		r.err = fmt.Errorf("%s.%s: want %s, have %s", r.at, field, want, kindOfJSON(r.fields[field]))
	}
}

func (r *reader) text(field string) string {
	text, ok := r.fields[field].(string)
	if !ok && r.fields[field] != nil {
		r.fail(field, "a string")
	}
	return text
}

func (r *reader) flag(field string) bool {
	switch value := r.fields[field].(type) {
	case bool:
		return value
	case nil, float64, json.Number: // exclusiveMinimum is a number in newer drafts
		return false
	}
	r.fail(field, "true or false")
	return false
}

func (r *reader) number(field string) *float64 {
	switch value := r.fields[field].(type) {
	case nil:
		return nil
	case float64:
		return &value
	}
	r.fail(field, "a number")
	return nil
}

func (r *reader) list(field string) []any {
	list, ok := r.fields[field].([]any)
	if !ok && r.fields[field] != nil {
		r.fail(field, "a list")
	}
	return list
}

func (r *reader) texts(field string) []string {
	var texts []string
	for _, one := range r.list(field) {
		text, ok := one.(string)
		if !ok {
			r.fail(field, "a list of strings")
		}
		texts = append(texts, text)
	}
	return texts
}

func kindOfJSON(value any) string {
	switch value.(type) {
	case nil:
		return "nothing"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return "a number"
}

// withoutDescriptions is a schema as validation needs it.
func withoutDescriptions(schema map[string]any) map[string]any {
	out := make(map[string]any, len(schema))
	for key, value := range schema {
		switch key {
		case "description", "title", "example", "externalDocs":
			continue
		case "default", "enum":
			out[key] = value
			continue
		case "properties":
			if properties, ok := value.(map[string]any); ok {
				value = mapSchemas(properties)
			}
		}
		out[key] = withoutDescriptionsIn(key, value)
	}
	return out
}

func mapSchemas(properties map[string]any) map[string]any {
	out := make(map[string]any, len(properties))
	for name, property := range properties {
		out[name] = withoutDescriptionsIn("", property)
	}
	return out
}

// withoutDescriptionsIn is a schema, or a list of schemas, below a keyword.
func withoutDescriptionsIn(keyword string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		if keyword == "properties" {
			return v
		}
		return withoutDescriptions(v)
	case []any:
		out := make([]any, len(v))
		for i, one := range v {
			out[i] = withoutDescriptionsIn("", one)
		}
		return out
	}
	return value
}
