package walk

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/dialect"
)

// RootFinder finds what a repository of Flux begins with.
type RootFinder struct{}

// Roots are the directories of Kustomizations below dir, or files of them, that a cluster may begin with.
func (RootFinder) Roots(dir, base string) ([]dialect.Root, error) {
	candidates, err := rootCandidates(dir, base)
	if err != nil {
		return nil, err
	}
	roots := make([]dialect.Root, len(candidates))
	for i, candidate := range candidates {
		roots[i].Path = candidate
	}
	err = manifests(dir, func(name string, _ []byte) {
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return
		}
		rel = filepath.ToSlash(rel)
		for i, r := range roots {
			if r.Path == "." || rel == r.Path || strings.HasPrefix(rel, r.Path+"/") {
				roots[i].Declares = append(r.Declares, rel)
			}
		}
	})
	return roots, err
}

// Paths are the directories that Kustomizations below dir build.
func (RootFinder) Paths(dir string) ([]string, error) {
	units, err := writtenUnits(dir)
	var paths []string
	for _, u := range units {
		if u.dir != "" {
			paths = append(paths, path.Clean(u.dir))
		}
	}
	return paths, err
}

// RootWord is what errors say when there is no root.
func (RootFinder) RootWord() string { return "no directory contains Flux Kustomizations" }

// Top are none: a directory is rendered by a Kustomization.
func (RootFinder) Top(string) ([]*unstructured.Unstructured, error) { return nil, nil }

// Repositories are the URLs of the GitRepositories among root objects that Kustomizations among them read, and whose paths
// there are in a directory.
func (RootFinder) Repositories(objects []*unstructured.Unstructured, dir string) []string {
	return repositories(objects, dir)
}

// partOfChart reports whether a directory is one of a chart whose files are no objects as they are, or definitions.
func partOfChart(dir string) bool {
	if !slices.Contains([]string{"templates", "crds", "charts"}, filepath.Base(dir)) {
		return false
	}
	_, err := os.Stat(filepath.Join(filepath.Dir(dir), "Chart.yaml"))
	return err == nil
}

// manifests visits the files below dir that declare Kustomizations.
func manifests(dir string, visit func(name string, data []byte)) error {
	return files(dir, func(name string, data []byte) {
		if bytes.Contains(data, []byte("kustomize.toolkit.fluxcd.io/")) && bytes.Contains(data, []byte("sourceRef")) {
			visit(name, data)
		}
	})
}

// files visits the files of YAML below dir. What is hidden is left out, and so are the parts of charts.
func files(dir string, visit func(name string, data []byte)) error {
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && name != dir:
			return filepath.SkipDir
		case entry.IsDir() && name != dir && partOfChart(name):
			return filepath.SkipDir
		case !entry.Type().IsRegular() || !slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(name)):
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		visit(name, data)
		return nil
	})
	if err != nil {
		return fmt.Errorf("searching for the root: %w", err)
	}
	return nil
}

// layouts are where the directory that a cluster begins with lies in the repositories of users.
var layouts = []string{"clusters/*", "kubernetes/flux/cluster", "flux", "cluster"}

// rootCandidates searches for possible roots: several directories of a known layout, the one unit that leads to
// all others, the directory of a known layout, else the directories that hold Kustomizations to which no other one leads, the best first.
func rootCandidates(dir, base string) ([]string, error) {
	holding := map[string]bool{}
	err := manifests(dir, func(name string, _ []byte) {
		if rel, err := filepath.Rel(dir, filepath.Dir(name)); err == nil {
			holding[filepath.ToSlash(rel)] = true
		}
	})
	if err != nil {
		return nil, err
	}
	known := knownRoots(holding)
	if len(known) > 1 {
		return known, nil
	}
	units, err := writtenUnits(dir)
	if err != nil {
		return nil, err
	}
	if first := leader(dir, base, units); first != "" {
		return []string{first}, nil
	}
	if len(known) > 0 {
		return known, nil
	}
	return ranked(dir, base, holding, units), nil
}

// knownRoots are the directories of the first known layout that holds units.
func knownRoots(holding map[string]bool) []string {
	for _, layout := range layouts {
		found := map[string]bool{}
		for rel := range holding {
			for _, candidate := range []string{rel, strings.TrimSuffix(rel, "/flux-system")} {
				if ok, err := path.Match(layout, candidate); ok && err == nil {
					found[candidate] = true
				}
			}
		}
		if len(found) > 0 {
			return sorted(found)
		}
	}
	return nil
}

func sorted(set map[string]bool) []string {
	list := make([]string, 0, len(set))
	for name := range set {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}
