package render

import (
	"errors"

	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/kustomize/kyaml/yaml/merge2"
	"sigs.k8s.io/yaml"
)

// How values in a kustomization and those in a file come together.
const (
	mergeOverride = "override"
	mergeReplace  = "replace"
	mergeMerge    = "merge"
)

// Values are the files of values that the chart is rendered with, a later one over an earlier one. defaults is the
// values.yaml of the chart, instead of which the kustomization may name another.
func (c *Chart) Values(defaults []byte) ([][]byte, error) {
	base := c.valuesFile
	if base == nil {
		base = defaults
	}
	if len(c.inline) > 0 {
		merged, err := c.mergedValues(base)
		if err != nil {
			return nil, err
		}
		base = merged
	}
	return append([][]byte{base}, c.additional...), nil
}

// mergedValues puts the values in the kustomization over those of a file, under them, or in their place. A null
// takes a key out of the file, and has the default of the chart hold again, as kustomize has it.
func (c *Chart) mergedValues(file []byte) ([]byte, error) {
	if c.merge == mergeReplace {
		return yaml.Marshal(c.inline)
	}
	inline, err := kyaml.FromMap(c.inline)
	if err != nil {
		return nil, errors.New("valuesInline: cannot be encoded")
	}
	values, err := kyaml.Parse(string(file))
	if err != nil && len(file) > 0 {
		return nil, errors.New("valuesFile: not YAML")
	}
	if err != nil || values.IsNilOrEmpty() {
		return yaml.Marshal(c.inline)
	}
	source, target := inline, values
	if c.merge == mergeMerge {
		source, target = values, inline
	}
	merged, err := merge2.Merge(source, target, kyaml.MergeOptions{})
	if err != nil {
		return nil, errors.New("valuesInline: cannot be merged with the values file; is that a map?")
	}
	if merged == nil {
		return []byte("{}\n"), nil
	}
	text, err := merged.String()
	return []byte(text), err
}
