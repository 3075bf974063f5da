// Package deploy holds what is installed into a cluster: the Helm chart, and in it the definitions of
// the kinds that are served, generated from the types of the upstream modules and of those in api.
package deploy

import (
	"embed"
	"fmt"
	"path"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

//go:embed chart
var files embed.FS

// definitions is the directory of the definitions.
const definitions = "chart/crds"

// CRDs returns the definitions, by the names of their files.
func CRDs() ([]*unstructured.Unstructured, error) {
	entries, err := files.ReadDir(definitions)
	if err != nil {
		return nil, fmt.Errorf("reading the definitions: %w", err)
	}
	var all []*unstructured.Unstructured
	for _, e := range entries {
		data, err := files.ReadFile(path.Join(definitions, e.Name()))
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
