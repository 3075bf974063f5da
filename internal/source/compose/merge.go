package compose

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/source"
)

// merge lays one YAML file over another: mappings are merged, anything else is replaced.
func merge(under, over *source.File) (*source.File, error) {
	below, err := mapping(under)
	if err != nil {
		return nil, fmt.Errorf("merging: existing content: %w", err)
	}
	above, err := mapping(over)
	if err != nil {
		return nil, fmt.Errorf("merging: %w", err)
	}
	data, err := yaml.Marshal(overlay(below, above))
	if err != nil {
		return nil, fmt.Errorf("merging: %w", err)
	}
	return source.NewFile(under.Path, under.Mode, data), nil
}

// mapping reads a YAML file; a later document lies over an earlier one.
func mapping(f *source.File) (map[string]any, error) {
	data, err := f.Read()
	if err != nil {
		return nil, err
	}
	all := map[string]any{}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading %q: %w", f.Path, err)
		}
		one := map[string]any{}
		if err := yaml.Unmarshal(document, &one); err != nil {
			return nil, fmt.Errorf("reading %q: a document is not a YAML mapping: %w", f.Path, err)
		}
		all = overlay(all, one)
	}
}

func overlay(below, above map[string]any) map[string]any {
	merged := maps.Clone(below)
	for key, value := range above {
		deep, isMap := value.(map[string]any)
		under, wasMap := merged[key].(map[string]any)
		if isMap && wasMap {
			value = overlay(under, deep)
		}
		merged[key] = value
	}
	return merged
}
