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

	"github.com/headgate-dev/headgate/internal/flux"
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
	s.layout, err = flux.FindLayout(s.options.path, s.options.root)
	return helpful(err)
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
	name := filepath.Join(s.mirror.Root(), filepath.FromSlash(s.layout.Root))
	info, err := os.Stat(name)
	if err != nil {
		return root, fmt.Errorf("looking for the root %q: %w", s.layout.Root, err)
	}
	if info.IsDir() {
		root.Path = s.layout.Root
		return root, nil
	}
	root.Objects, err = readObjects(name)
	return root, err
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
			return errors.New("it has no kind or no metadata.name")
		}
		objects = append(objects, u)
		return nil
	})
	return objects, err
}
