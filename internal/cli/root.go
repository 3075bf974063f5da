package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/argo/offline"
	"github.com/headgate-dev/headgate/internal/flux"
	"github.com/headgate-dev/headgate/internal/gitserver"
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
	if s.layout, err = flux.FindLayout(s.options.path, s.options.root, offline.Layouts{}); err != nil {
		return helpful(err)
	}
	s.objects, err = rootObjects(s.layout)
	return err
}

// rootObjects are those that a root applies as they are: the objects of a file, or Applications at the top of a directory
// that no Kustomization declares. There are none when the root is a directory for a Kustomization.
func rootObjects(layout flux.Layout) ([]*unstructured.Unstructured, error) {
	name := filepath.Join(layout.Repository, filepath.FromSlash(layout.Root))
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("searching for the root %q: %w", layout.Root, err)
	}
	var objects []*unstructured.Unstructured
	if info.IsDir() {
		objects, err = offline.Top(name)
	} else {
		objects, err = readObjects(name)
	}
	if err != nil || info.IsDir() && !offline.IsRoot(objects) {
		return nil, err
	}
	for _, o := range objects {
		if o.GroupVersionKind().Group == offline.Group && o.GetNamespace() == "" {
			o.SetNamespace(offline.Namespace)
		}
	}
	return objects, nil
}

// adopted are the URLs that root objects read the repository by, where it is a clone of none of them.
func adopted(objects []*unstructured.Unstructured, dir string, remotes []string) []string {
	urls := append(offline.Repositories(objects, dir), flux.Repositories(objects, dir)...)
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
	var several *flux.AmbiguousRootError
	switch {
	case errors.As(err, &several):
		return hint(err, "headgate up PATH --path %s", several.Candidates[0])
	case errors.Is(err, flux.ErrNoRoot):
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
	} else if !s.options.serving.groups.Serves(sourceGroup) {
		// The kind of the source is unknown here.
		root.URL = ""
	}
	return root, nil
}

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
