package annotations

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

const (
	draft = "http://json-schema.org/draft-07/schema#"
	// ours matches the names of which an unknown one is a mistake.
	ours = `^([a-z-]+\.)*headgate\.dev/`
)

// A document is a part of a JSON schema.
type document = map[string]any

// Annotations is the schema of an object of any kind: it says what its annotations below headgate.dev are.
func Annotations() ([]byte, error) {
	known, patterns := document{}, document{}
	var names []string
	var misplaced []any
	for _, n := range Table() {
		if n.Use == Elsewhere {
			continue
		}
		value := document{"type": "string", "description": n.Text}
		if n.Use == Headgate {
			value["description"], value["readOnly"] = "Written by Headgate: "+n.Text+".", true
		}
		if n.Pattern != "" {
			value["pattern"] = "^" + group(n.Pattern) + "$"
		}
		if len(n.Good) > 0 {
			value["examples"] = n.Good
		}
		if strings.HasSuffix(n.Key, "/") {
			patterns["^"+strings.ReplaceAll(n.Key, ".", `\.`)] = value
			continue
		}
		known[n.Key] = value
		names = append(names, n.Key)
		if len(n.Kinds) > 0 && n.Use == People {
			misplaced = append(misplaced, document{
				"if":   document{"required": []string{"kind"}, "properties": document{"kind": document{"not": document{"enum": n.Kinds}}}},
				"then": at(document{"properties": document{n.Key: false}}, "metadata", "annotations"),
			})
		}
	}
	others := []any{document{"not": document{"pattern": ours}}, document{"enum": names}}
	for pattern := range patterns {
		others = append(others, document{"pattern": pattern})
	}
	reference := document{"$ref": "#/definitions/annotations"}
	return encode(document{
		"$schema":     draft,
		"title":       "Annotations of Headgate",
		"description": "An object of Kubernetes of any kind. Only annotations below headgate.dev are checked: their names, their values, and the kinds that they are for.",
		"type":        "object",
		"properties": document{
			"metadata": at(reference, "annotations"),
			"spec": document{"properties": document{
				"template":    at(reference, "metadata", "annotations"),
				"jobTemplate": at(reference, "spec", "template", "metadata", "annotations"),
			}},
		},
		"allOf": misplaced,
		"definitions": document{"annotations": document{
			"type": []string{"object", "null"}, "properties": known, "patternProperties": patterns, "propertyNames": document{"anyOf": others},
		}},
	})
}

// SimulateHealth is the schema of the file of --simulate-health.
func SimulateHealth() ([]byte, error) {
	text := func(description string) document {
		return document{"type": "string", "minLength": 1, "description": description}
	}
	return encode(document{
		"$schema":     draft,
		"title":       "Healthy statuses for headgate up --simulate-health",
		"description": "The statuses that make kinds healthy which a simulation does not know. A kind is there once.",
		"type":        []string{"array", "null"},
		"items": document{
			"type": "object", "required": []string{"group", "kind", "status"}, "additionalProperties": false,
			"properties": document{
				"group":  text("The API group of the kind, without a version."),
				"kind":   text("The kind."),
				"status": document{"type": "object", "description": "The status that objects of the kind get."},
			},
		},
	})
}

// Page is docs/guide/annotations.md with its tables.
func Page(text string) (string, error) {
	for use, mark := range map[Use]string{People: "people", Headgate: "headgate"} {
		begin, end := "<!-- "+mark+" -->\n", "<!-- end of "+mark+" -->\n"
		before, rest, found := strings.Cut(text, begin)
		_, after, closed := strings.Cut(rest, end)
		if !found || !closed {
			return "", fmt.Errorf("the page lacks %q or %q", begin, end)
		}
		text = before + begin + table(use) + end + after
	}
	return text, nil
}

func table(use Use) string {
	var out strings.Builder
	out.WriteString("\n| annotation | on | |\n|---|---|---|\n")
	for _, n := range Table() {
		if n.Use != use {
			continue
		}
		key, on := n.Key, strings.Join(n.Kinds, ", ")
		if strings.HasSuffix(key, "/") {
			key += "NAMESPACE"
		}
		if on == "" {
			on = map[Use]string{People: "any kind", Headgate: "what it writes"}[use]
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s |\n", key, on, strings.ReplaceAll(n.Text, "|", `\|`))
	}
	out.WriteString("\n")
	return out.String()
}

// at is the schema of an object with another one at a path in it.
func at(inner document, path ...string) document {
	for i := len(path) - 1; i >= 0; i-- {
		inner = document{"properties": document{path[i]: inner}}
	}
	return inner
}

func group(pattern string) string { return "(" + pattern + ")" }

func encode(schema document) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(schema); err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	return out.Bytes(), nil
}
