package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux"
	"github.com/headgate-dev/headgate/internal/gitserver"
	"github.com/headgate-dev/headgate/internal/offline"
)

// locate says which directory is served, and what the cluster begins with, before anything is started.
func (s *system) locate(context.Context) error {
	var err error
	if s.options.ageKeyFile != "" {
		if s.ageKey, err = os.ReadFile(s.options.ageKeyFile); err != nil {
			return fmt.Errorf("reading the age key: %w", err)
		}
	}
	if s.options.remote() {
		return nil
	}
	if s.layout, err = offline.FindLayout(s.options.catalogue, s.options.path, s.options.root); err != nil {
		return helpful(err)
	}
	s.objects, err = rootObjects(s.options.catalogue, s.layout)
	return err
}

// place is where a repository begins, with the objects of its root where these are applied as they are.
type place struct {
	layout  offline.Layout
	objects []*unstructured.Unstructured
}

// ours tells which URLs name the working copy, which has these remotes: theirs, and those that the root names it by.
func (p place) ours(catalogue dialect.Catalogue, remotes []string) func(url string) bool {
	urls := append(slices.Clone(remotes), adopted(catalogue, p.objects, p.layout.Repository, remotes)...)
	return func(url string) bool {
		return slices.ContainsFunc(urls, func(own string) bool { return gitserver.SameRepository(own, url) })
	}
}

// locate finds where the repository in the directory begins.
func (o offlineOptions) locate() (place, error) {
	layout, err := offline.FindLayout(o.catalogue, o.dir, o.root)
	if err != nil {
		return place{}, helpful(err)
	}
	objects, err := rootObjects(o.catalogue, layout)
	return place{layout, objects}, err
}

// rootObjects are those that a root applies as they are: the objects of a file, or units at the top of a directory that need
// none to render it. There are none when the root is a directory for a unit.
func rootObjects(catalogue dialect.Catalogue, layout offline.Layout) ([]*unstructured.Unstructured, error) {
	name := filepath.Join(layout.Repository, filepath.FromSlash(layout.Root))
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("searching for the root %q: %w", layout.Root, err)
	}
	var objects []*unstructured.Unstructured
	if info.IsDir() {
		objects, err = topObjects(catalogue, name)
	} else {
		objects, err = readObjects(name)
	}
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		if k, known := catalogue.Kind(groupKindOf(o)); known && k.Namespace != "" && o.GetNamespace() == "" {
			o.SetNamespace(k.Namespace)
		}
	}
	return objects, nil
}

// topObjects are those at the top of a directory that any dialect applies as they are.
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
		all = append(all, objects...)
	}
	return all, nil
}

// adopted are the URLs that root objects read the repository by, where it is a clone of none of them.
func adopted(catalogue dialect.Catalogue, objects []*unstructured.Unstructured, dir string, remotes []string) []string {
	var urls []string
	for _, d := range catalogue {
		if layouts, finds := d.(dialect.Layouts); finds {
			urls = append(urls, layouts.Repositories(objects, dir)...)
		}
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

// helpful gives an error about a missing root the next command to try.
func helpful(err error) error {
	var several *offline.AmbiguousRootError
	switch {
	case errors.As(err, &several):
		return hint(err, "headgate up PATH --path %s", several.Candidates[0])
	case errors.Is(err, offline.ErrNoRoot):
		return hint(err, "headgate up PATH --path DIR")
	default:
		return err
	}
}

// findRoot says what up begins with.
func (s *system) findRoot() (flux.Root, error) {
	if s.options.remote() {
		return remoteRoot(s.options.path, s.options.branch, s.options.root)
	}
	root := flux.Root{
		URL: s.server.URL(repository), Branch: s.mirror.Branch(), For: s.mirror.Root(),
		Credentials: map[string][]byte{"username": []byte(gitUser), "password": []byte(s.token)},
	}
	if root.Objects = s.objects; len(root.Objects) == 0 {
		root.Path = s.layout.Root
	} else if !s.options.serving.groups.Serves(flux.SourceGroup) {
		// The kind of the source is unknown here.
		root.URL = ""
	}
	return root, nil
}

// putRoot makes the root objects.
func (s *system) putRoot(ctx context.Context) error {
	root, err := s.findRoot()
	if err != nil {
		return err
	}
	root.AgeKey, root.Served = s.ageKey, s.options.serving.groups
	if err := flux.PutRoot(ctx, s.config, root); err != nil {
		return err
	}
	what := root.Path
	if what == "" {
		what = fmt.Sprintf("%d objects of %s", len(root.Objects), s.layout.Root)
	}
	s.say.Done("root", what)
	return nil
}

// rootIDs are the objects of the root, which no unit may touch.
func rootIDs() map[engine.ObjectID]bool { return flux.RootIDs() }

// remoteRoot is the root of a repository that is somewhere else. Credentials in its URL go into a Secret.
func remoteRoot(address, branch, dir string) (flux.Root, error) {
	u, err := url.Parse(address)
	if err != nil {
		// The parser's error quotes the URL, which may hold a password.
		return flux.Root{}, errors.New("the URL of the repository cannot be parsed")
	}
	root := flux.Root{Branch: branch, Path: path.Join(".", path.Clean("/"+dir))}
	if u.User != nil {
		if password, given := u.User.Password(); given {
			root.Credentials = map[string][]byte{"username": []byte(u.User.Username()), "password": []byte(password)}
		}
		u.User = nil
	}
	root.URL = u.String()
	root.For = root.URL
	return root, nil
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
