// Package crds holds the definitions of the Flux kinds that are served, generated from the types of
// the upstream modules and of those in api.
package crds

import (
	"embed"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

//go:embed *.yaml
var files embed.FS

// All returns the definitions, by the names of their files.
func All() ([]*unstructured.Unstructured, error) {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("reading the definitions: %w", err)
	}
	var all []*unstructured.Unstructured
	for _, e := range entries {
		data, err := files.ReadFile(e.Name())
		if err != nil {
			return nil, fmt.Errorf("reading %q: %w", e.Name(), err)
		}
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(data, &u.Object); err != nil {
			return nil, fmt.Errorf("reading %q: %w", e.Name(), err)
		}
		all = append(all, u)
	}
	return all, nil
}
