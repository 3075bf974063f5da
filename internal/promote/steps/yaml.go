package steps

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// yamlUpdate sets values in a file of YAML. Only the text of the values changes: comments, order and indentation stay.
func (s *step) yamlUpdate(_ context.Context, data []byte) (map[string]any, error) {
	config, at, content, err := s.readUpdates(data)
	if err != nil {
		return nil, err
	}
	for i, u := range config.Updates {
		if content, err = setScalar(content, u.Key, u.Value); err != nil {
			return nil, fail("updates[%d].key %q of %q: %w", i, u.Key, at, err)
		}
	}
	return message(config), s.write(at, content)
}

// split takes a key apart at its dots; one after a backslash belongs to a name.
func split(key string) []string {
	var parts []string
	var part strings.Builder
	for i := 0; i < len(key); i++ {
		switch {
		case key[i] == '\\' && i+1 < len(key):
			i++
			part.WriteByte(key[i])
		case key[i] == '.':
			parts = append(parts, part.String())
			part.Reset()
		default:
			part.WriteByte(key[i])
		}
	}
	return append(parts, part.String())
}

// setScalar replaces the text of one value of the first document.
func setScalar(content []byte, key string, value any) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil {
		return nil, err
	}
	if len(document.Content) == 0 {
		return nil, errors.New("the file is empty")
	}
	node, err := find(document.Content[0], split(key))
	if err != nil {
		return nil, err
	}
	begin, end, err := extent(content, node)
	if err != nil {
		return nil, err
	}
	text, err := scalar(value)
	if err != nil {
		return nil, err
	}
	changed := bytes.Join([][]byte{content[:begin], []byte(text), content[end:]}, nil)
	// The value has to be read as what was set, also in places where a plain text means something else.
	var check yaml.Node
	if err := yaml.Unmarshal(changed, &check); err != nil {
		return nil, fmt.Errorf("the value %q does not fit there: %w", text, err)
	}
	got, err := find(check.Content[0], split(key))
	if err != nil || fmt.Sprint(value) != got.Value && got.Tag == "!!str" {
		return nil, fmt.Errorf("the value %q does not fit there", text)
	}
	return changed, nil
}

// named is the value of a name in an object; of several, the last one.
func named(object *yaml.Node, name string) *yaml.Node {
	var value *yaml.Node
	for i := 0; i+1 < len(object.Content); i += 2 {
		if object.Content[i].Value == name {
			value = object.Content[i+1]
		}
	}
	return value
}

func find(node *yaml.Node, parts []string) (*yaml.Node, error) {
	for i, part := range parts {
		var next *yaml.Node
		switch node.Kind {
		case yaml.MappingNode:
			if next = named(node, part); next == nil && strings.HasPrefix(part, ":") {
				// As in the keys of json-update, a colon marks a number as a name.
				next = named(node, part[1:])
			}
		case yaml.SequenceNode:
			if index, err := strconv.Atoi(part); err == nil && index >= 0 && index < len(node.Content) {
				next = node.Content[index]
			}
		}
		if next == nil {
			return nil, fmt.Errorf("there is no %q", strings.Join(parts[:i+1], "."))
		}
		node = next
	}
	if node.Kind != yaml.ScalarNode {
		return nil, errors.New("it is not a string, a number, true or false")
	}
	return node, nil
}

// extent is where the text of a value is. Texts of several lines, and those with an anchor or a tag, are not replaced.
func extent(content []byte, node *yaml.Node) (begin, end int, err error) {
	if node.Anchor != "" || node.Style&yaml.TaggedStyle != 0 {
		return 0, 0, errors.New("it has an anchor or a tag: set it where it is used")
	}
	for range node.Line - 1 {
		next := bytes.IndexByte(content[begin:], '\n')
		if next < 0 {
			return 0, 0, errors.New("it is not where it was read")
		}
		begin += next + 1
	}
	for range node.Column - 1 {
		_, size := utf8.DecodeRune(content[begin:])
		begin += size
	}
	line, _, _ := bytes.Cut(content[begin:], []byte("\n"))
	var raw string
	switch {
	case node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return 0, 0, errors.New("it is a text of several lines")
	case node.Style&yaml.DoubleQuotedStyle != 0:
		raw = quoted(string(line), '"')
	case node.Style&yaml.SingleQuotedStyle != 0:
		raw = quoted(string(line), '\'')
	case bytes.HasPrefix(line, []byte(node.Value)):
		raw = node.Value
	}
	if raw == "" {
		return 0, 0, errors.New("it is empty, or a text of several lines")
	}
	return begin, begin + len(raw), nil
}

// quoted is the text in quotes with which a line begins; empty if it has no end.
func quoted(line string, quote byte) string {
	for i := 1; i < len(line); i++ {
		switch {
		case quote == '"' && line[i] == '\\':
			i++
		case line[i] == quote && quote == '\'' && i+1 < len(line) && line[i+1] == quote:
			i++
		case line[i] == quote:
			return line[:i+1]
		}
	}
	return ""
}

// scalar writes a value in one line.
func scalar(value any) (string, error) {
	if text, is := value.(string); is && !utf8.ValidString(text) {
		return "", errors.New("the value is not UTF-8")
	}
	if text, is := value.(string); is && (strings.ContainsAny(text, "\n\r\t,[]{}#") || text == "") {
		data, err := json.Marshal(text)
		return string(data), err
	}
	data, err := yaml.Marshal(value)
	return strings.TrimSuffix(string(data), "\n"), err
}
