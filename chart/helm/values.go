package helm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common/util"
	"sigs.k8s.io/yaml"
)

// values are those of the files and of the description, as Helm merges them.
func (p Props) values() (map[string]any, error) {
	merged := map[string]any{}
	if p.Values != nil {
		own, err := cloned(p.Values)
		if err != nil {
			return nil, fmt.Errorf("values: %w", err)
		}
		merged = own
	}
	// What is merged first counts.
	for i := len(p.ValuesFiles) - 1; i >= 0; i-- {
		name := p.ValuesFiles[i]
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading values: %w", err)
		}
		var values map[string]any
		// The parser may quote what it read.
		if err := yaml.Unmarshal(data, &values); err != nil {
			return nil, fmt.Errorf("reading values: %s is not a mapping of YAML", name)
		}
		// A null deletes the value of a chart, and has to stay for that.
		merged = util.MergeTables(merged, values)
	}
	return merged, nil
}

// cloned is a value as a mapping that shares nothing with it. Numbers are as in values that Helm reads.
func cloned(value any) (map[string]any, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("a %T is not a mapping; use a map[string]any or a struct with json tags", value)
	}
	if m == nil {
		m = map[string]any{}
	}
	return m, nil
}

// objectsOf are the objects of a document; it may be empty, or a List. As Helm reads it, the last of equal keys counts.
func objectsOf(document string) ([]map[string]any, error) {
	data, err := yaml.YAMLToJSON([]byte(document))
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return flat(value)
}

func flat(value any) ([]map[string]any, error) {
	object, ok := value.(map[string]any)
	switch {
	case value == nil, ok && len(object) == 0:
		return nil, nil
	case !ok:
		return nil, fmt.Errorf("a %T is not an object", value)
	}
	kind, _ := object["kind"].(string)
	apiVersion, _ := object["apiVersion"].(string)
	if items, is := object["items"].([]any); is && strings.HasSuffix(kind, "List") {
		var all []map[string]any
		for _, item := range items {
			some, err := flat(item)
			if err != nil {
				return nil, err
			}
			all = append(all, some...)
		}
		return all, nil
	}
	if kind == "" || apiVersion == "" {
		return nil, errors.New("an object has no apiVersion or no kind")
	}
	return []map[string]any{object}, nil
}
