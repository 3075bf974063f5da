package factory

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"

	"go.yaml.in/yaml/v3"

	"github.com/headgate-dev/headgate/chart"
)

// Load reads a configuration from a file of YAML or JSON. Every field that is unknown and every value that does not fit is an
// error with its line; what could be read is returned beside it, so that Build finds the other mistakes. ${env:NAME} in a text is
// the value of a variable, $${env:NAME} those letters themselves; paths of the configuration are relative to its directory.
func Load(path string, variables Variables) (Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Config{}, fmt.Errorf("reading the configuration: %w", err)
	}
	config, err := Parse(path, data, variables)
	beside(path, &config.ImagesFile)
	for i := range config.Applications {
		beside(path, &config.Applications[i].ValuesFile)
	}
	return config, err
}

// beside makes a path relative to the directory of another.
func beside(path string, file *string) {
	if *file != "" && !filepath.IsAbs(*file) {
		*file = filepath.Join(filepath.Dir(path), *file)
	}
}

// Parse is Load of text that was read from a file.
func Parse(file string, data []byte, variables Variables) (Config, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document yaml.Node
	if err := decoder.Decode(&document); err != nil && !errors.Is(err, io.EOF) {
		return Config{}, fmt.Errorf("%s: %w", file, err)
	}
	p := &problems{origin: origin{"": {File: file, Line: 1}}}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		p.add("", "a configuration is one document; this file has more")
	}
	reader := &reader{problems: p, file: file}
	value := expand(p, variables, reader.value(&document, ""), "")
	config, _ := decode(p, value, reflect.TypeFor[Config](), "").Interface().(Config)
	config.origin = p.origin
	keepProps(&config, value)
	return config, p.err()
}

// keepProps takes props as they were read: only their chart knows of which types they are.
func keepProps(config *Config, value any) {
	list, _ := at(value, "applications").([]any)
	for i := range config.Applications {
		app := &config.Applications[i]
		app.Chart.Props = at(list[i], "chart", "props")
		for name, override := range app.Environments {
			override.Props = at(list[i], "environments", name, "props")
			app.Environments[name] = override
		}
	}
}

// at is what is below a value under some names.
func at(value any, names ...string) any {
	for _, name := range names {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}

// reader turns nodes of YAML into maps, lists and scalars, and keeps the line of each.
type reader struct {
	*problems
	file string
	// depth of aliases that are being followed, and how many values there are: a text may refer to itself, and repeat what repeats.
	depth, values int
}

// mostValues bounds what aliases repeat.
const mostValues = 1_000_000

func (r *reader) value(node *yaml.Node, path string) any {
	if r.values++; r.values > mostValues {
		if r.values == mostValues+1 {
			r.add("", "the configuration has more than %d values; its aliases repeat too much", mostValues)
		}
		return nil
	}
	if node.Line > 0 {
		r.origin[path] = chart.Position{File: r.file, Line: node.Line}
	}
	switch node.Kind {
	case yaml.DocumentNode:
		return r.value(node.Content[0], path)
	case yaml.MappingNode:
		return r.object(node, path)
	case yaml.SequenceNode:
		list := make([]any, len(node.Content))
		for i, one := range node.Content {
			list[i] = r.value(one, element(path, i))
		}
		return list
	case yaml.AliasNode:
		return r.alias(node, path)
	case yaml.ScalarNode:
		return r.scalar(node, path)
	}
	return nil
}

// mostAliases bounds how deep aliases refer to others.
const mostAliases = 10

func (r *reader) alias(node *yaml.Node, path string) any {
	if r.depth++; r.depth > mostAliases {
		r.add(path, "the alias *%s refers to others, more than %d deep", node.Value, mostAliases)
		return nil
	}
	value := r.value(node.Alias, path)
	r.depth--
	return value
}

func (r *reader) object(node *yaml.Node, path string) any {
	object, lines := map[string]any{}, map[string]int{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		name, at := key.Value, member(path, key.Value)
		if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge" {
			r.origin[at] = chart.Position{File: r.file, Line: key.Line}
			r.add(at, "merge keys and keys that are objects are not supported; write the fields out")
			continue
		}
		if line, twice := lines[name]; twice {
			r.origin[at] = chart.Position{File: r.file, Line: key.Line}
			r.add(at, "the field is in line %d already", line)
			continue
		}
		lines[name] = key.Line
		object[name] = r.value(value, at)
		r.origin[at] = chart.Position{File: r.file, Line: key.Line}
	}
	return object
}

func (r *reader) scalar(node *yaml.Node, path string) any {
	switch node.ShortTag() {
	case "!!null":
		return nil
	case "!!bool", "!!int", "!!float":
		var value any
		if err := node.Decode(&value); err != nil {
			r.add(path, "%w", err)
		}
		switch n := value.(type) {
		case int:
			return int64(n)
		case uint64:
			return float64(n)
		}
		return value
	case "!!str", "!!timestamp":
		return node.Value
	}
	r.add(path, "the tag %s is not supported", node.Tag)
	return nil
}
