package console

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/gitserver"
	"github.com/headgate-dev/headgate/internal/idp"
	"github.com/headgate-dev/headgate/internal/offline"
)

// Place is where a repository begins, with the objects of its root where these are applied as they are.
type Place struct {
	Layout  offline.Layout
	Objects []*unstructured.Unstructured
}

// Ours reports which URLs name the working copy, which has these remotes: theirs, and those that the root names it by.
func (p Place) Ours(catalogue dialect.Catalogue, remotes []string) func(url string) bool {
	urls := append(slices.Clone(remotes), p.Adopted(catalogue, remotes)...)
	return func(url string) bool {
		return url == idp.WorkingCopy || slices.ContainsFunc(urls, func(own string) bool { return gitserver.SameRepository(own, url) })
	}
}

// locate finds where the repository in the directory begins.
func (o OfflineOptions) locate() (Place, error) {
	layout, err := offline.FindLayout(o.Catalogue, o.Dir, o.Root)
	if err != nil {
		return Place{}, Helpful(err)
	}
	objects, err := RootObjects(o.Catalogue, layout)
	return Place{layout, objects}, err
}

// RootObjects are those that a root applies as they are: the objects of a file, or units at the top of a directory that need
// none to render it. There are none when the root is a directory for a unit. Addresses of packages in them are resolved.
func RootObjects(catalogue dialect.Catalogue, layout offline.Layout) ([]*unstructured.Unstructured, error) {
	name := filepath.Join(layout.Repository, filepath.FromSlash(layout.Root))
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("searching for the root %q: %w", layout.Root, err)
	}
	var objects []*unstructured.Unstructured
	at := layout.Root
	if info.IsDir() {
		objects, err = topObjects(catalogue, name)
	} else {
		at = path.Dir(at)
		objects, err = readObjects(name)
	}
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		if _, err := idp.Resolve(o, at); err != nil {
			return nil, fmt.Errorf("reading the root %q: %w", layout.Root, err)
		}
		if k, known := catalogue.Kind(GroupKindOf(o)); known && k.Namespace != "" && o.GetNamespace() == "" {
			o.SetNamespace(k.Namespace)
		}
	}
	return objects, nil
}

// topObjects are those at the top of a directory that any dialect applies as they are, namespaces first. Where units of another dialect are
// among them, one of that renders the directory.
func topObjects(catalogue dialect.Catalogue, dir string) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	for _, d := range catalogue {
		layouts, finds := d.(dialect.Layouts)
		if !finds {
			continue
		}
		objects, err := layouts.Top(dir)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool {
			return catalogue.IsUnit(engine.IDOf(o)) && !(dialect.Catalogue{d}).IsUnit(engine.IDOf(o))
		}) {
			return nil, nil
		}
		all = append(all, objects...)
	}
	slices.SortStableFunc(all, func(a, b *unstructured.Unstructured) int { return cmp.Compare(rank(a), rank(b)) })
	return all, nil
}

// rank is what others need first.
func rank(o *unstructured.Unstructured) int {
	switch o.GetKind() {
	case "Namespace":
		return 0
	case "CustomResourceDefinition":
		return 1
	default:
		return 2
	}
}

// Adopted are the URLs that root objects read the repository by, where it is a clone of none of them. Those of a directory are in its files.
func (p Place) Adopted(catalogue dialect.Catalogue, remotes []string) []string {
	dir := p.Layout.Repository
	var urls []string
	for _, d := range catalogue {
		layouts, finds := d.(dialect.Layouts)
		if !finds {
			continue
		}
		objects := p.Objects
		if len(objects) == 0 {
			// What cannot be read names nothing.
			objects, _ = layouts.Readers(filepath.Join(dir, filepath.FromSlash(p.Layout.Root)))
		}
		urls = append(urls, layouts.Repositories(objects, dir)...)
	}
	for _, url := range urls {
		for _, remote := range remotes {
			if gitserver.SameRepository(remote, url) {
				return nil
			}
		}
	}
	return urls
}

// Whole is what a directory without units is, as a whole.
type Whole int

// The sorts.
const (
	WholeNone Whole = iota
	// WholeChart is a chart of Helm.
	WholeChart
	// WholeObjects is a kustomization, or files of objects at the top.
	WholeObjects
)

// WholeOf says what the directory is. Files beside objects that are none, such as those of a CI, make it nothing.
func WholeOf(dir string) (Whole, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return WholeNone, fmt.Errorf("reading %q: %w", dir, err)
	}
	found := WholeNone
	for _, entry := range entries {
		switch name := entry.Name(); {
		case name == "Chart.yaml":
			return WholeChart, nil
		case name == "kustomization.yaml" || name == "kustomization.yml" || name == "Kustomization":
			return WholeObjects, nil
		case entry.IsDir() || strings.HasPrefix(name, ".") || !slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(name)):
			continue
		default:
			if objects, err := readObjects(filepath.Join(dir, name)); err == nil && len(objects) > 0 {
				found = WholeObjects
			}
		}
	}
	return found, nil
}

// Helpful gives an error about a missing root the next command to try.
func Helpful(err error) error {
	var several *offline.AmbiguousRootError
	var missing *offline.MissingRootError
	switch {
	case errors.As(err, &missing) && len(missing.Candidates) > 0:
		return Hint(err, "headgate up PATH --path %s", missing.Candidates[0])
	case errors.As(err, &missing):
		return Hint(err, "headgate up PATH --path DIR")
	case errors.As(err, &several):
		return Hint(err, "headgate up PATH --path %s", several.Candidates[0])
	case errors.Is(err, offline.ErrNoRoot):
		return Hint(err, "headgate up PATH --path DIR")
	default:
		return err
	}
}

// readObjects reads the objects of a file.
func readObjects(name string) ([]*unstructured.Unstructured, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading %q: %w", name, err)
	}
	defer file.Close()
	var objects []*unstructured.Unstructured
	err = eachDocument(name, file, func(_ int, document map[string]any) error {
		u := &unstructured.Unstructured{Object: document}
		if u.GetKind() == "" || u.GetName() == "" {
			return errors.New("kind or metadata.name is missing")
		}
		objects = append(objects, u)
		return nil
	})
	return objects, err
}
