package render

import (
	"os"
	"path/filepath"
	"slices"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/yaml"
)

// Entries are what the kustomization of a directory on disk takes resources from, as it names them, and whether the directory
// has one. They are for those who look through a repository without building it: a kustomization that cannot be decoded names
// nothing.
func Entries(dir string) (entries []string, is bool) {
	for _, base := range konfig.RecognizedKustomizationFileNames() {
		data, err := os.ReadFile(filepath.Join(dir, base)) //nolint:gosec // a file of the repository that is looked through
		if err != nil {
			continue
		}
		var k struct {
			Resources  []string `json:"resources"`
			Bases      []string `json:"bases"`
			Components []string `json:"components"`
		}
		if yaml.Unmarshal(data, &k) != nil {
			return nil, true
		}
		return slices.Concat(k.Resources, k.Bases, k.Components), true
	}
	return nil, false
}
