package source

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// maxNesting bounds submodules of submodules.
const maxNesting = 5

// modulesFile says where the submodules of a commit come from.
const modulesFile = ".gitmodules"

// submodules fetches the submodules of a commit, each at the commit that is recorded, and returns their
// files below their directories. Credentials are only shown to the host that they are for.
func (r *remote) submodules(ctx context.Context, root *object.Tree, modules []blob) ([]*File, error) {
	if !r.options.RecurseSubmodules || len(modules) == 0 {
		return nil, nil
	}
	if r.nesting == maxNesting {
		return nil, fmt.Errorf("submodules are nested deeper than %d", maxNesting)
	}
	declared, err := readModules(root)
	if err != nil {
		return nil, err
	}
	var files []*File
	for _, m := range modules {
		if err := r.quota.module(); err != nil {
			return nil, err
		}
		address, ok := declared[m.path]
		if !ok {
			return nil, fmt.Errorf("submodule %q: %s has no URL for it", m.path, modulesFile)
		}
		tree, err := r.submodule(ctx, address, m)
		if err != nil {
			return nil, fmt.Errorf("submodule %q: %w", m.path, err)
		}
		for _, p := range tree.Paths() {
			f, _ := tree.File(p)
			files = append(files, f.at(path.Join(m.path, p)))
		}
	}
	return files, nil
}

// readModules returns the URLs of submodules by their directories.
func readModules(root *object.Tree) (map[string]string, error) {
	f, err := root.File(modulesFile)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", modulesFile, err)
	}
	text, err := f.Contents()
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", modulesFile, err)
	}
	modules := config.NewModules()
	if err := modules.Unmarshal([]byte(text)); err != nil {
		return nil, fmt.Errorf("reading %s: %w", modulesFile, err)
	}
	declared := map[string]string{}
	for _, m := range modules.Submodules {
		declared[m.Path] = m.URL
	}
	return declared, nil
}

func (r *remote) submodule(ctx context.Context, address string, m blob) (*Tree, error) {
	o := r.options
	o.URL, o.Ref, o.Verify, o.Sparse, o.Include = address, GitRef{Commit: m.entry.Hash.String()}, nil, nil, nil
	o.Clone = nil
	here, err := url.Parse(r.url)
	if err != nil {
		return nil, ErrURL
	}
	if strings.HasPrefix(address, "./") || strings.HasPrefix(address, "../") {
		there := *here
		there.Path = path.Join(here.Path, address)
		o.URL = there.String()
	}
	there, err := url.Parse(o.URL)
	foreign := err != nil || there.Host != here.Host || there.Scheme != here.Scheme
	if foreign {
		o.Username, o.Password, o.BearerToken, o.ClientCert, o.ClientKey, o.Identity = "", "", "", nil, nil, nil
	}
	tree, err := r.module(ctx, o)
	if foreign && errors.Is(err, ErrAuth) {
		return nil, fmt.Errorf("%w; the credentials of a repository are for %s://%s alone: declare the submodule as a source of its own", err, here.Scheme, here.Host)
	}
	return tree, err
}

// module fetches a submodule.
func (r *remote) module(ctx context.Context, o GitOptions) (*Tree, error) {
	sub, err := newRemote(o)
	if err != nil {
		return nil, err
	}
	defer sub.close()
	if err := sub.permitted(ctx); err != nil {
		return nil, err
	}
	sub.nesting, sub.quota = r.nesting+1, r.quota
	t, err := commitTarget(o.Ref)
	if err != nil {
		return nil, err
	}
	got, err := sub.download(ctx, t, nil)
	if err != nil {
		return nil, err
	}
	return got.Tree, nil
}
