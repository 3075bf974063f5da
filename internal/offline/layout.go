// Package offline reads a repository without a cluster, with all dialects as one: where it begins, which units there are,
// whatever dialect declares them, and what they render to.
//
// It goes by the port of dialects alone. It refuses to know one, to write, and to ask a cluster.
package offline

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/dialect"
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
	return fmt.Sprintf("%q has several candidates for the root, the best first:\n  %s", e.Dir, strings.Join(e.Candidates, "\n  "))
}

// Unwrap returns ErrNoRoot.
func (e *AmbiguousRootError) Unwrap() error { return ErrNoRoot }

// FindLayout says where the repository that dir shows starts. Root, relative to dir, is searched for when
// it is empty: first what the first dialect begins with, then what the others do.
func FindLayout(all dialect.Catalogue, dir, root string) (Layout, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Layout{}, fmt.Errorf("reading %q: %w", dir, err)
	}
	if _, err := os.ReadDir(dir); err != nil {
		return Layout{}, fmt.Errorf("reading the repository: %w", err)
	}
	layouts := layoutsOf(all)
	repository, below, err := repositoryOf(dir, layouts)
	if err != nil {
		return Layout{}, err
	}
	if root == "" {
		if root, err = findRoot(dir, repository, layouts); err != nil {
			return Layout{}, err
		}
	}
	root = path.Join(".", path.Clean("/"+filepath.ToSlash(root)))
	if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(root))); err != nil {
		return Layout{}, missingRoot(dir, root, repository, layouts, err)
	}
	return Layout{Repository: repository, Root: path.Join(below, root)}, nil
}

// MissingRootError is returned when nothing is where the root is said to be.
type MissingRootError struct {
	Dir, Root string
	// Candidates are where one was found, the best first.
	Candidates []string
	Err        error
}

// Error names what there is.
func (e *MissingRootError) Error() string {
	text := fmt.Sprintf("the root %q is not in %s", e.Root, e.Dir)
	if len(e.Candidates) > 0 {
		text += "; there is " + strings.Join(e.Candidates, ", ")
	}
	return text
}

// Unwrap returns what the file system said.
func (e *MissingRootError) Unwrap() error { return e.Err }

// missingRoot is the error for a root that cannot be read, with the ones that there are.
func missingRoot(dir, root, repository string, layouts []dialect.Layouts, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("searching for the root %q: %w", root, err)
	}
	missing := &MissingRootError{Dir: dir, Root: root, Err: err}
	found, failed := findRoot(dir, repository, layouts)
	var several *AmbiguousRootError
	switch {
	case failed == nil:
		missing.Candidates = []string{found}
	case errors.As(failed, &several):
		missing.Candidates = several.Candidates
	}
	return missing
}

// layoutsOf are the dialects that find where repositories begin.
func layoutsOf(all dialect.Catalogue) []dialect.Layouts {
	var layouts []dialect.Layouts
	for _, d := range all {
		if of, finds := d.(dialect.Layouts); finds {
			layouts = append(layouts, of)
		}
	}
	return layouts
}

// findRoot searches for the one root below dir. Paths of units are relative to base.
func findRoot(dir, base string, layouts []dialect.Layouts) (string, error) {
	found := make([][]dialect.Root, len(layouts))
	var words []string
	for i, of := range layouts {
		var err error
		if found[i], err = of.Roots(dir, base); err != nil {
			return "", err
		}
		words = append(words, of.RootWord())
	}
	for i, roots := range found {
		roots = slices.DeleteFunc(slices.Clone(roots), func(r dialect.Root) bool { return isLed(dir, r, i, found) })
		switch len(roots) {
		case 0:
			continue
		case 1:
			return roots[0].Path, nil
		}
		several := &AmbiguousRootError{Dir: dir}
		for _, r := range roots {
			several.Candidates = append(several.Candidates, r.Path)
		}
		return "", several
	}
	return "", fmt.Errorf("%w in %q: %s", ErrNoRoot, dir, strings.Join(words, ", and "))
}

// isLed reports whether the roots of another dialect lead to everything that declares units of a root.
func isLed(dir string, r dialect.Root, own int, found [][]dialect.Root) bool {
	for i, others := range found {
		for _, other := range others {
			if i == own || len(r.Declares) == 0 {
				continue
			}
			unread := func(file string) bool { return !other.Reads[filepath.Join(dir, filepath.FromSlash(file))] }
			if !slices.ContainsFunc(r.Declares, unread) {
				return true
			}
		}
	}
	return false
}

// repositoryOf says which directory the paths of the units below dir are relative to: dir, or the
// working copy that it lies in; and where dir lies in that.
func repositoryOf(dir string, layouts []dialect.Layouts) (repository, below string, err error) {
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
	var paths []string
	for _, of := range layouts {
		more, err := of.Paths(dir)
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
