package simulate

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
)

// ParseOverrides reads the statuses that a user has for kinds: a list in YAML whose items have the fields group,
// kind and status. An error names the line and the field.
func ParseOverrides(data []byte) (map[schema.GroupKind]map[string]any, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return nil, fmt.Errorf("parsing statuses: %w", err)
	}
	overrides := map[schema.GroupKind]map[string]any{}
	if len(document.Content) == 0 {
		return overrides, nil
	}
	list := document.Content[0]
	if list.Kind != yaml.SequenceNode {
		return nil, fmt.Errorf("parsing statuses: line %d: not a list", list.Line)
	}
	for i, item := range list.Content {
		gk, status, err := override(item)
		if err != nil {
			return nil, fmt.Errorf("parsing statuses: item %d: %w", i, err)
		}
		if overrides[gk] != nil {
			return nil, fmt.Errorf("parsing statuses: item %d: line %d: duplicate %s", i, item.Line, gk)
		}
		overrides[gk] = status
	}
	return overrides, nil
}

func override(item *yaml.Node) (gk schema.GroupKind, status map[string]any, err error) {
	if item.Kind != yaml.MappingNode {
		return gk, nil, fmt.Errorf("line %d: not a map", item.Line)
	}
	for i := 0; i+1 < len(item.Content); i += 2 {
		key, value := item.Content[i], item.Content[i+1]
		switch key.Value {
		case "group":
			err = text(value, &gk.Group)
		case "kind":
			err = text(value, &gk.Kind)
		case "status":
			status, err = statusOf(value)
		default:
			err = errors.New("unknown field; use group, kind and status")
		}
		if err != nil {
			return gk, nil, fmt.Errorf("line %d: field %q: %w", key.Line, key.Value, err)
		}
	}
	for _, field := range []struct {
		name    string
		missing bool
	}{{"group", gk.Group == ""}, {"kind", gk.Kind == ""}, {"status", status == nil}} {
		if field.missing {
			return gk, nil, fmt.Errorf("line %d: field %q: missing", item.Line, field.name)
		}
	}
	return gk, status, nil
}

func text(node *yaml.Node, into *string) error {
	if node.Kind != yaml.ScalarNode || node.Tag != "!!str" || node.Value == "" {
		return errors.New("not a string")
	}
	*into = node.Value
	return nil
}

// statusOf reads a status as the API server would: with numbers that are whole where they can be.
func statusOf(node *yaml.Node) (map[string]any, error) {
	if node.Kind != yaml.MappingNode {
		return nil, errors.New("not a map")
	}
	var decoded, status map[string]any
	if err := node.Decode(&decoded); err != nil {
		return nil, fmt.Errorf("reading: %w", err)
	}
	data, err := json.Marshal(decoded)
	if err == nil {
		err = json.Unmarshal(data, &status)
	}
	if err != nil {
		return nil, fmt.Errorf("reading: %w", err)
	}
	return status, nil
}
