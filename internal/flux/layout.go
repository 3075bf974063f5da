package flux

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Layout is where a repository begins.
type Layout struct {
	// Repository is the directory that the paths of units are relative to.
	Repository string
	// Root is the directory of the root, or the file of root objects, relative to Repository; it is "."
	// for Repository itself.
	Root string
}

// ErrNoRoot is returned when a directory holds no root, or several.
var ErrNoRoot = errors.New("no root was found")

// AmbiguousRootError is returned when a directory holds several roots.
type AmbiguousRootError struct {
	Dir string
	// Candidates are relative to Dir.
	Candidates []string
}

// Error lists the candidates.
func (e *AmbiguousRootError) Error() string {
	return fmt.Sprintf("%v in %q: there are several candidates:\n  %s", ErrNoRoot, e.Dir, strings.Join(e.Candidates, "\n  "))
}

// Unwrap returns ErrNoRoot.
func (e *AmbiguousRootError) Unwrap() error { return ErrNoRoot }

// Finder finds where repositories of another dialect begin.
type Finder interface {
	// Roots are the files and directories, relative to dir, of which one may be what a cluster begins with.
	Roots(dir string) ([]string, error)
	// Paths are those that units below dir read, relative to their repository.
	Paths(dir string) ([]string, error)
}

// FindLayout says where the repository that dir shows starts. Root, relative to dir, is searched for when
// it is empty: first what this dialect begins with, then what the others do.
func FindLayout(dir, root string, others ...Finder) (Layout, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Layout{}, fmt.Errorf("reading %q: %w", dir, err)
	}
	if _, err := os.ReadDir(dir); err != nil {
		return Layout{}, fmt.Errorf("reading the repository: %w", err)
	}
	repository, below, err := repositoryOf(dir, others)
	if err != nil {
		return Layout{}, err
	}
	if root == "" {
		if root, err = findRoot(dir, repository, others); err != nil {
			return Layout{}, err
		}
	}
	root = path.Join(".", path.Clean("/"+filepath.ToSlash(root)))
	if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(root))); err != nil {
		return Layout{}, fmt.Errorf("searching for the root %q: %w", root, err)
	}
	return Layout{Repository: repository, Root: path.Join(below, root)}, nil
}

// findRoot searches for the one root below dir. Paths of units are relative to base.
func findRoot(dir, base string, others []Finder) (string, error) {
	candidates, err := rootCandidates(dir, base)
	what := "no directory contains Flux Kustomizations"
	for _, other := range others {
		if err != nil || len(candidates) > 0 {
			break
		}
		candidates, err = other.Roots(dir)
		what = "no directory contains Flux Kustomizations, and no file is a root Application of Argo CD"
	}
	switch {
	case err != nil:
		return "", err
	case len(candidates) == 0:
		return "", fmt.Errorf("%w in %q: %s", ErrNoRoot, dir, what)
	case len(candidates) > 1:
		return "", &AmbiguousRootError{Dir: dir, Candidates: candidates}
	}
	return candidates[0], nil
}

// repositoryOf says which directory the paths of the units below dir are relative to: dir, or the
// working copy that it lies in; and where dir lies in that.
func repositoryOf(dir string, others []Finder) (repository, below string, err error) {
	top := dir
	for !exists(filepath.Join(top, ".git")) {
		parent := filepath.Dir(top)
		if parent == top {
			return dir, "", nil
		}
		top = parent
	}
	if top == dir {
		return dir, "", nil
	}
	units, err := writtenUnits(dir)
	if err != nil {
		return "", "", err
	}
	var paths []string
	for _, u := range units {
		if u.dir != "" {
			paths = append(paths, path.Clean(u.dir))
		}
	}
	for _, other := range others {
		more, err := other.Paths(dir)
		if err != nil {
			return "", "", err
		}
		paths = append(paths, more...)
	}
	here, there := 0, 0
	for _, p := range paths {
		switch {
		case exists(filepath.Join(dir, filepath.FromSlash(p))):
			here++
		case exists(filepath.Join(top, filepath.FromSlash(p))):
			there++
		}
	}
	if there <= here {
		return dir, "", nil
	}
	rel, err := filepath.Rel(top, dir)
	return top, filepath.ToSlash(rel), err
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// manifests visits the files below dir that declare Kustomizations. What is hidden is left out.
func manifests(dir string, visit func(name string, data []byte)) error {
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && name != dir:
			return filepath.SkipDir
		case !entry.Type().IsRegular() || !slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(name)):
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if bytes.Contains(data, []byte("kustomize.toolkit.fluxcd.io/")) && bytes.Contains(data, []byte("sourceRef")) {
			visit(name, data)
		}
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
// all others, the directory of a known layout, else any directories that hold Kustomizations, the topmost ones.
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
	topmost := map[string]bool{}
	for rel := range holding {
		above := false
		for other := range holding {
			above = above || (other != rel && (other == "." || strings.HasPrefix(rel, other+"/")))
		}
		if !above {
			topmost[rel] = true
		}
	}
	return sorted(topmost), nil
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
