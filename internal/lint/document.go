// Package lint knows where in files the objects of a tree are, and how findings about them are written: as text, as JSON, for GitHub,
// as SARIF. It refuses to judge objects, and to render them.
package lint

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Document is an object in a file.
type Document struct {
	File   string
	Object map[string]any
	node   *yaml.Node
}

// Read is the objects of a file, also those of Lists; documents that are no objects are passed over. An error comes with the line and
// with what was read before it.
func Read(file string, data []byte) (documents []Document, line int, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var node yaml.Node
		err := decoder.Decode(&node)
		switch {
		case errors.Is(err, io.EOF):
			return documents, 0, nil
		case err != nil:
			return documents, lineOf(err), err
		}
		documents = append(documents, objects(file, &node)...)
	}
}

var lineInError = regexp.MustCompile(`line (\d+)`)

func lineOf(err error) int {
	if found := lineInError.FindStringSubmatch(err.Error()); found != nil {
		line, _ := strconv.Atoi(found[1]) // it is digits
		return line
	}
	return 1
}

func objects(file string, node *yaml.Node) []Document {
	if node.Kind == yaml.DocumentNode && len(node.Content) == 1 {
		node = node.Content[0]
	}
	var value map[string]any
	if node.Kind != yaml.MappingNode || node.Decode(&value) != nil {
		return nil
	}
	object, _ := plain(value).(map[string]any)
	kind, _ := object["kind"].(string)
	if apiVersion, _ := object["apiVersion"].(string); apiVersion == "" || kind == "" {
		return nil
	}
	items := child(node, "items")
	if items == nil || items.Kind != yaml.SequenceNode || !strings.HasSuffix(kind, "List") {
		return []Document{{File: file, Object: object, node: node}}
	}
	var all []Document
	for _, item := range items.Content {
		all = append(all, objects(file, item)...)
	}
	return all
}

// plain is a value as in JSON, with whole numbers as int64 and dates as they are written.
func plain(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, one := range v {
			v[key] = plain(one)
		}
	case map[any]any:
		return nil // no object has keys that are not texts
	case []any:
		for i, one := range v {
			v[i] = plain(one)
		}
	case int:
		return int64(v)
	case time.Time:
		return v.Format(time.RFC3339)
	}
	return value
}

// Line is the line of a field, or of the nearest one around it that is written, and how many steps of the path lead there.
func (d Document) Line(field string) (line, steps int) {
	at := d.node
	if at == nil {
		return 1, 0
	}
	line = at.Line
	for _, step := range split(field) {
		if at.Kind == yaml.AliasNode {
			at = at.Alias
		}
		key, next := member(at, step)
		if next == nil {
			return line, steps
		}
		line, at, steps = key.Line, next, steps+1
	}
	return line, steps
}

// lineWith is the first line of a key or a value with one of some texts, or 0. The lines within a text of several lines count.
func (d Document) lineWith(texts []string) int {
	best := 0
	var look func(n *yaml.Node)
	look = func(n *yaml.Node) {
		for _, text := range texts {
			if at := strings.Index(n.Value, text); at >= 0 && n.Kind == yaml.ScalarNode {
				line := n.Line
				if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
					line += 1 + strings.Count(n.Value[:at], "\n")
				}
				if best == 0 || line < best {
					best = line
				}
			}
		}
		for _, part := range n.Content {
			look(part)
		}
	}
	look(d.node)
	return best
}

// member is what a step leads to, with the node whose line it has.
func member(at *yaml.Node, step string) (key, value *yaml.Node) {
	switch at.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(at.Content); i += 2 {
			if at.Content[i].Value == step {
				return at.Content[i], at.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(at.Content) {
			return at.Content[i], at.Content[i]
		}
	}
	return nil, nil
}

func child(at *yaml.Node, key string) *yaml.Node {
	_, value := member(at, key)
	return value
}

var step = regexp.MustCompile(`\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.\[\]]+)`)

// split is the steps of a path such as spec.containers[0].env["a.b/c"].
func split(field string) []string {
	var steps []string
	for _, found := range step.FindAllStringSubmatch(field, -1) {
		steps = append(steps, found[1]+found[2]+found[3])
	}
	return steps
}
