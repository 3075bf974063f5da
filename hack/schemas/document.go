package schemas

import (
	"fmt"
	"slices"
	"strings"
)

// object is a part of an OpenAPI document.
type object = map[string]any

// document is what is read of an OpenAPI document.
type document struct {
	Paths       map[string]map[string]any `json:"paths"`
	Definitions map[string]object         `json:"definitions"`
}

// kinds are those that can be created: the lines "kind GROUP/VERSION KIND SCOPE DEFINITION".
func (d document) kinds() []string {
	var lines []string
	for path, operations := range d.Paths {
		post, _ := operations["post"].(object)
		gvk, _ := post["x-kubernetes-group-version-kind"].(object)
		if gvk == nil || strings.Contains(path, "{name}") {
			continue
		}
		scope := "cluster"
		if strings.Contains(path, "/namespaces/{namespace}/") {
			scope = "namespaced"
		}
		version := fmt.Sprint(gvk["version"])
		if group := fmt.Sprint(gvk["group"]); group != "" {
			version = group + "/" + version
		}
		if name := body(post); name != "" {
			lines = append(lines, fmt.Sprintf("kind %s %v %s %s", version, gvk["kind"], scope, short(name)))
		}
	}
	return lines
}

// body is the definition of what an operation takes.
func body(operation object) string {
	parameters, _ := operation["parameters"].([]any)
	for _, one := range parameters {
		if parameter, _ := one.(object); parameter["in"] == "body" {
			schema, _ := parameter["schema"].(object)
			return reference(schema)
		}
	}
	return ""
}

func reference(schema object) string {
	ref, _ := schema["$ref"].(string)
	return strings.TrimPrefix(ref, "#/definitions/")
}

// short is the name of a definition without what all have in common.
func short(name string) string { return strings.TrimPrefix(name, "io.k8s.") }

// reachable are the definitions that objects of the kinds are made of.
func (d document) reachable() map[string]bool {
	reached := map[string]bool{}
	var visit func(value any)
	visit = func(value any) {
		switch v := value.(type) {
		case object:
			if name := reference(v); name != "" && !reached[name] {
				reached[name] = true
				visit(d.Definitions[name])
			}
			for _, member := range v {
				visit(member)
			}
		case []any:
			for _, item := range v {
				visit(item)
			}
		}
	}
	for _, line := range d.kinds() {
		name := "io.k8s." + line[strings.LastIndexByte(line, ' ')+1:]
		visit(object{"$ref": "#/definitions/" + name})
	}
	return reached
}

// free are the definitions whose objects have any fields.
var free = []string{"RawExtension", "FieldsV1"}

// kept are the keywords that objects are validated by.
var kept = []string{"type", "format", "required", "x-kubernetes-list-map-keys"}

// slim is a schema with only what objects are validated by.
func slim(name string, schema object, known *facts) object {
	out := object{}
	for _, keyword := range kept {
		if value, ok := schema[keyword]; ok {
			out[keyword] = value
		}
	}
	if ref := reference(schema); ref != "" {
		out["$ref"] = short(ref)
	}
	if list := schema["x-kubernetes-list-type"]; list == "set" || list == "map" {
		out["x-kubernetes-list-type"] = list
	}
	if known != nil && len(known.enum) > 0 {
		out["enum"] = known.enum
	}
	if properties, ok := schema["properties"].(object); ok {
		out["properties"] = slimAll(properties, known)
	}
	for keyword, below := range map[string]*facts{"items": known.itemsOf(), "additionalProperties": known.valuesOf()} {
		if inner, ok := schema[keyword].(object); ok {
			out[keyword] = slim("", inner, below)
		}
	}
	if known != nil && known.standard != "" {
		out["default"] = known.standard
	}
	if last := name[strings.LastIndexByte(name, '.')+1:]; slices.Contains(free, last) || openMap(name, out) {
		out["x-kubernetes-preserve-unknown-fields"] = true
	}
	return out
}

func slimAll(properties object, known *facts) object {
	out := object{}
	for name, value := range properties {
		inner, _ := value.(object)
		out[name] = slim("", inner, known.property(name))
	}
	return out
}

// openMap reports whether a schema within a definition is an object of any fields; a definition without fields is one that has none.
func openMap(name string, schema object) bool {
	return name == "" && schema["type"] == "object" && schema["properties"] == nil && schema["additionalProperties"] == nil
}
