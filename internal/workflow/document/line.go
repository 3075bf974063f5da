package document

import (
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// line is that of a field, or of the innermost part of its path that is there.
func (o Object) line(path string) int {
	at, line := o.root, o.root.Line
	for path != "" && at != nil {
		if at.Kind == yaml.AliasNode {
			at = at.Alias
		}
		next, key, rest := step(at, path)
		if next == nil {
			break
		}
		at, line, path = next, key, rest
	}
	return line + o.offset
}

// position is the beginning of a path in a list.
var position = regexp.MustCompile(`^\[(\d+)\]`)

// step goes one part of a path further: to the value, the line that it begins in, and the rest of the path.
func step(at *yaml.Node, path string) (next *yaml.Node, line int, rest string) {
	switch at.Kind {
	case yaml.SequenceNode:
		found := position.FindStringSubmatch(path)
		if found == nil {
			return nil, 0, ""
		}
		n, err := strconv.Atoi(found[1])
		if err != nil || n >= len(at.Content) {
			return nil, 0, ""
		}
		return at.Content[n], at.Content[n].Line, strings.TrimPrefix(path[len(found[0]):], ".")
	case yaml.MappingNode:
		return member(at, path)
	default:
		return nil, 0, ""
	}
}

// member is the value of the longest key that a path begins with: keys may have dots.
func member(at *yaml.Node, path string) (next *yaml.Node, line int, rest string) {
	longest := -1
	for i := 0; i+1 < len(at.Content); i += 2 {
		key, value := at.Content[i], at.Content[i+1]
		if key.Value == "<<" {
			if merged, mergedLine, mergedRest := mergedMember(value, path); merged != nil && longest < 0 {
				next, line, rest = merged, mergedLine, mergedRest
			}
			continue
		}
		after, found := strings.CutPrefix(path, key.Value)
		if !found || len(key.Value) <= longest || after != "" && after[0] != '.' && after[0] != '[' {
			continue
		}
		longest, next, line, rest = len(key.Value), value, key.Line, strings.TrimPrefix(after, ".")
	}
	return next, line, rest
}

// mergedMember is a member of what is merged below a mapping.
func mergedMember(merged *yaml.Node, path string) (next *yaml.Node, line int, rest string) {
	if merged.Kind == yaml.AliasNode {
		merged = merged.Alias
	}
	if merged == nil || merged.Kind != yaml.MappingNode {
		return nil, 0, ""
	}
	for i := 0; i+1 < len(merged.Content); i += 2 {
		key := merged.Content[i]
		after, found := strings.CutPrefix(path, key.Value)
		if found && key.Value != "<<" && (after == "" || after[0] == '.' || after[0] == '[') {
			return merged.Content[i+1], key.Line, strings.TrimPrefix(after, ".")
		}
	}
	return nil, 0, ""
}

// child is the value of a key.
func child(at *yaml.Node, name string) *yaml.Node {
	if at.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(at.Content); i += 2 {
		if at.Content[i].Value == name {
			return at.Content[i+1]
		}
	}
	return nil
}
