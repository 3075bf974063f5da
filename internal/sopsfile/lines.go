package sopsfile

import (
	"bytes"
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/headgate-dev/headgate/internal/render/decrypt"
)

// lines are where the values of a document are, by their path as the library gives it to a cipher.
// Values of a list share a path, and come in their order.
type lines map[string][]int

func (l lines) add(path string, line int) { l[path] = append(l[path], line) }

// take returns the line of the next value of a path, or 1 when it was not found.
func (l lines) take(path string) int {
	rest := l[path]
	if len(rest) == 0 {
		return 1
	}
	l[path] = rest[1:]
	return rest[0]
}

// locate finds the values of each document of a file. What it cannot read it leaves out.
func locate(data []byte, format decrypt.Format) []lines {
	switch format {
	case decrypt.YAML:
		return locateYAML(data)
	case decrypt.JSON:
		l := lines{}
		locateJSON(json.NewDecoder(bytes.NewReader(data)), data, "", l)
		return []lines{l}
	case decrypt.Dotenv:
		return []lines{locateFlat(data, "")}
	case decrypt.INI:
		// The library has a name for what comes before the first section.
		return []lines{locateFlat(data, "DEFAULT:")}
	default:
		return nil
	}
}

func locateYAML(data []byte) []lines {
	var all []lines
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var document yaml.Node
		if decoder.Decode(&document) != nil {
			return all
		}
		l := lines{}
		walkYAML(&document, "", l, 0)
		all = append(all, l)
	}
}

// walkYAML notes the values below a node. Aliases are followed as far as a file can need it.
func walkYAML(node *yaml.Node, path string, l lines, depth int) {
	if depth > 100 {
		return
	}
	switch node.Kind {
	case yaml.AliasNode:
		walkYAML(node.Alias, path, l, depth+1)
	case yaml.DocumentNode, yaml.SequenceNode:
		for _, child := range node.Content {
			walkYAML(child, path, l, depth+1)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			walkYAML(node.Content[i+1], path+node.Content[i].Value+":", l, depth+1)
		}
	case yaml.ScalarNode:
		if node.Tag != "!!null" {
			l.add(path, node.Line)
		}
	}
}

// locateJSON notes the values below the next value of a decoder. It reports whether it could go on.
func locateJSON(d *json.Decoder, data []byte, path string, l lines) bool {
	token, err := d.Token()
	if err != nil {
		return false
	}
	switch token {
	case json.Delim('{'):
		for d.More() {
			key, err := d.Token()
			name, ok := key.(string)
			if err != nil || !ok || !locateJSON(d, data, path+name+":", l) {
				return false
			}
		}
	case json.Delim('['):
		for d.More() {
			if !locateJSON(d, data, path, l) {
				return false
			}
		}
	case nil:
		return true
	default:
		l.add(path, 1+bytes.Count(data[:d.InputOffset()], []byte("\n")))
		return true
	}
	_, err = d.Token()
	return err == nil
}

// locateFlat notes the values of a file of variables, with or without sections.
func locateFlat(data []byte, section string) lines {
	l := lines{}
	for n, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
			section = strings.Trim(line, "[]") + ":"
			continue
		}
		if key, _, ok := strings.Cut(line, "="); ok {
			l.add(section+strings.TrimSpace(key)+":", n+1)
		}
	}
	return l
}
