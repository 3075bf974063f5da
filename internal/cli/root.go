package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/headgate-dev/headgate/internal/flux"
)

// findRoot says what up begins with.
func (s *system) findRoot(context.Context) (flux.Root, error) {
	if s.options.remote() {
		root := flux.Root{URL: s.options.path, Branch: s.options.branch, Path: cleanRoot(s.options.root), For: s.options.path}
		if root.Path == "" {
			root.Path = "."
		}
		return root, nil
	}
	root := flux.Root{
		URL: s.server.URL(repository), Branch: s.mirror.Branch(), Username: gitUser, Password: s.token, For: s.mirror.Root(),
	}
	chosen := s.options.root
	if chosen == "" {
		candidates, err := rootCandidates(s.mirror.Root())
		if err != nil {
			return root, err
		}
		if len(candidates) != 1 {
			return root, ambiguous(s.mirror.Root(), candidates)
		}
		chosen = candidates[0]
	}
	return s.rootAt(root, chosen)
}

// rootAt takes a directory or a file, relative to the root of the repository.
func (s *system) rootAt(root flux.Root, chosen string) (flux.Root, error) {
	rel := cleanRoot(chosen)
	info, err := os.Stat(filepath.Join(s.mirror.Root(), filepath.FromSlash(rel)))
	if err != nil {
		return root, fmt.Errorf("looking for the root %q: %w", chosen, err)
	}
	if info.IsDir() {
		root.Path = rel
		if rel == "" {
			root.Path = "."
		}
		return root, nil
	}
	root.Objects, err = readObjects(filepath.Join(s.mirror.Root(), filepath.FromSlash(rel)))
	return root, err
}

func cleanRoot(p string) string {
	return strings.TrimPrefix(path.Clean("/"+filepath.ToSlash(p)), "/")
}

func ambiguous(root string, candidates []string) error {
	if len(candidates) == 0 {
		return hint(fmt.Errorf("%w in %q: no directory holds Flux Kustomizations", errNoRoot, root), "headgate up PATH --path DIR")
	}
	return hint(fmt.Errorf("%w for certain in %q: it may be any of\n  %s", errNoRoot, root, strings.Join(candidates, "\n  ")),
		"headgate up PATH --path %s", candidates[0])
}

// rootCandidates looks for the directory that a cluster begins with, in the layouts that
// repositories have: clusters/NAME, kubernetes/flux/cluster, flux, cluster; else in any directory
// that holds Kustomizations, the topmost ones.
func rootCandidates(root string) ([]string, error) {
	for _, layout := range []string{"clusters/*", "kubernetes/flux/cluster", "flux", "cluster"} {
		var found []string
		matches, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(layout)))
		if err != nil {
			return nil, fmt.Errorf("looking for the root: %w", err)
		}
		for _, m := range matches {
			if info, err := os.Stat(m); err == nil && info.IsDir() && (holdsUnits(m) || holdsUnits(filepath.Join(m, "flux-system"))) {
				rel, err := filepath.Rel(root, m)
				if err != nil {
					return nil, fmt.Errorf("looking for the root: %w", err)
				}
				found = append(found, filepath.ToSlash(rel))
			}
		}
		if len(found) > 0 {
			return found, nil
		}
	}
	return search(root)
}

// search lists the directories that hold Kustomizations, and leaves out those below another one.
func search(root string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if strings.HasPrefix(entry.Name(), ".") && name != root {
			return filepath.SkipDir
		}
		if !holdsUnits(name) {
			return nil
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		found = append(found, filepath.ToSlash(rel))
		return filepath.SkipDir
	})
	if err != nil {
		return nil, fmt.Errorf("looking for the root: %w", err)
	}
	slices.Sort(found)
	return found, nil
}

// holdsUnits tells whether a directory holds a file with a Flux Kustomization.
func holdsUnits(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); e.IsDir() || (ext != ".yaml" && ext != ".yml") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err == nil && bytes.Contains(data, []byte("kustomize.toolkit.fluxcd.io/")) && bytes.Contains(data, []byte("sourceRef")) {
			return true
		}
	}
	return false
}

// readObjects reads the objects of a file.
func readObjects(name string) ([]*unstructured.Unstructured, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading %q: %w", name, err)
	}
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	var objects []*unstructured.Unstructured
	for n := 1; ; n++ {
		u := &unstructured.Unstructured{}
		err := decoder.Decode(&u.Object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading %q: document %d: %w", name, n, err)
		}
		if len(u.Object) == 0 {
			continue
		}
		if u.GetKind() == "" || u.GetName() == "" {
			return nil, fmt.Errorf("reading %q: document %d has no kind or no metadata.name", name, n)
		}
		objects = append(objects, u)
	}
}
