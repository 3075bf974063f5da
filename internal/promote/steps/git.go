package steps

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/promote/worktree"
)

// gitTimeout bounds what is done with a server for one checkout.
const gitTimeout = 5 * time.Minute

// errTimeout is the cause of an end by gitTimeout.
var errTimeout = fmt.Errorf("it took longer than %s", gitTimeout)

// reach prepares for an address: it is allowed, and there is a login for it, which stays in memory.
func (s *step) reach(ctx context.Context, repoURL string, insecure bool) (worktree.Remote, error) {
	none := worktree.Remote{}
	if s.runner.Allow == nil {
		return none, fail("repoURL: no address is allowed")
	}
	if err := s.runner.Allow(ctx, repoURL); err != nil {
		return none, fail("repoURL: %w", err)
	}
	client, err := s.client(insecure)
	if err != nil {
		return none, err
	}
	remote := worktree.Remote{URL: repoURL, Client: client}
	if s.runner.Login == nil {
		return remote, nil
	}
	login, err := s.runner.Login(ctx, repoURL)
	if err != nil {
		return none, fmt.Errorf("reading the credentials of %s: %w", repoURL, err)
	}
	remote.Username, remote.Password = login.Username, login.Password
	return remote, nil
}

// final has what is refused, or is not there, not tried again.
func final(err error) error {
	if errors.Is(err, worktree.ErrRefused) || errors.Is(err, worktree.ErrMissing) {
		return failure{err}
	}
	return err
}

// gitDir is the directory of the data of a checkout.
func (s *step) gitDir(c Checkout) string {
	return filepath.Join(s.work.Dir, gitData, filepath.Base(c.Git))
}

// author is who commits in a checkout.
func (c Checkout) author() worktree.Author {
	return worktree.Author{Name: cmp.Or(c.AuthorName, "Headgate"), Email: cmp.Or(c.AuthorEmail, "no-reply@headgate.dev")}
}

type author struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

func (a *author) check() error {
	if a != nil && strings.ContainsAny(a.Name+a.Email, "\n\x00<>") {
		return fail("author: a name or an address has characters that a commit cannot have")
	}
	return nil
}

type cloneConfig struct {
	RepoURL               string     `json:"repoURL"`
	Checkout              []checkout `json:"checkout"`
	InsecureSkipTLSVerify bool       `json:"insecureSkipTLSVerify"`
	Author                *author    `json:"author"`
}

type checkout struct {
	Branch string `json:"branch"`
	Commit string `json:"commit"`
	Tag    string `json:"tag"`
	Path   string `json:"path"`
	As     string `json:"as"`
	Create bool   `json:"create"`
	// Sparse are the directories that are checked out, with the files of those above them; empty is all.
	Sparse []string `json:"sparse"`
}

// clone copies a repository once for each checkout. What is at the path is replaced, also by an earlier clone.
func (s *step) clone(ctx context.Context, data []byte) (map[string]any, error) {
	config, err := decode[cloneConfig](data)
	if err != nil {
		return nil, err
	}
	address, err := url.Parse(config.RepoURL)
	if err != nil || address.Scheme != "https" && address.Scheme != "http" || address.User != nil || strings.ContainsAny(config.RepoURL, "\n\x00") {
		return nil, fail("repoURL: want an http or https address without a login")
	}
	if err := config.Author.check(); err != nil {
		return nil, err
	}
	remote, err := s.reach(ctx, config.RepoURL, config.InsecureSkipTLSVerify)
	if err != nil {
		return nil, err
	}
	if len(config.Checkout) == 0 || len(config.Checkout) > 20 {
		return nil, fail("checkout: there are %d, want 1 to 20", len(config.Checkout))
	}
	commits := map[string]any{}
	for i, one := range config.Checkout {
		at, err := clean(fmt.Sprintf("checkout[%d].path", i), one.Path)
		if err != nil {
			return nil, err
		}
		c := Checkout{URL: config.RepoURL, Branch: one.Branch, Insecure: config.InsecureSkipTLSVerify}
		if config.Author != nil {
			c.AuthorName, c.AuthorEmail = config.Author.Name, config.Author.Email
		}
		if c, err = s.checkOut(ctx, at, c, one, remote); err != nil {
			return nil, fmt.Errorf("checkout[%d]: %w", i, err)
		}
		s.work.State.Checkouts[at] = c
		name := one.As
		if name == "" {
			name = one.Path
		}
		commits[name] = c.Head
	}
	return map[string]any{"commits": commits}, nil
}

func (s *step) checkOut(ctx context.Context, at string, c Checkout, one checkout, remote worktree.Remote) (Checkout, error) {
	for other := range s.work.State.Checkouts {
		if other != at && (at == "." || other == "." || strings.HasPrefix(at, other+"/") || strings.HasPrefix(other, at+"/")) {
			return c, fail("path %q is within, or around, the checkout at %q", at, other)
		}
	}
	if err := s.straight(at); err != nil {
		return c, err
	}
	ref, err := one.ref()
	if err != nil {
		return c, err
	}
	sparse, err := one.sparse()
	if err != nil {
		return c, err
	}
	// Each clone has data of its own, so that one which was begun before is not taken for this one.
	data, err := os.MkdirTemp(filepath.Join(s.work.Dir, gitData), "clone-")
	if err != nil {
		return c, fmt.Errorf("creating a directory for Git: %w", err)
	}
	c.Git = filepath.Base(data)
	if err := s.fetchFor(ctx, at, &c, fetching{remote, ref, one.Create, sparse}); err != nil {
		return c, errors.Join(final(err), os.RemoveAll(data))
	}
	if old, had := s.work.State.Checkouts[at]; had {
		if err := os.RemoveAll(s.gitDir(old)); err != nil {
			return c, fmt.Errorf("replacing the clone at %q: %w", at, err)
		}
	}
	return c, nil
}

// empty deletes what is at a path; the directory of the Promotion itself stays.
func (s *step) empty(at string) error {
	if err := s.straight(at); err != nil {
		return err
	}
	if at != "." {
		return errors.Join(s.root.RemoveAll(at), s.root.MkdirAll(at, 0o700))
	}
	entries, err := fs.ReadDir(s.root.FS(), at)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := s.root.RemoveAll(entry.Name()); err != nil {
			return err
		}
	}
	return nil
}

// ref is what a checkout names.
func (c checkout) ref() (worktree.Ref, error) {
	ref := worktree.Ref{Branch: c.Branch, Tag: c.Tag, Commit: c.Commit}
	const digits = 40
	switch {
	case ref != (worktree.Ref{Branch: c.Branch}) && ref != (worktree.Ref{Tag: c.Tag}) && ref != (worktree.Ref{Commit: c.Commit}):
		return ref, fail("only one of branch, commit and tag may be set")
	case c.Commit != "" && (len(c.Commit) != digits || strings.Trim(c.Commit, "0123456789abcdef") != ""):
		return ref, fail("commit: %q is not the ID of a commit", c.Commit)
	case c.Branch != "" && !worktree.IsBranch(c.Branch), c.Tag != "" && !worktree.IsTag(c.Tag):
		return ref, fail("%q is not the name of a branch or tag", c.Branch+c.Tag)
	}
	return ref, nil
}

// sparse are the directories of a checkout; none is all.
func (c checkout) sparse() ([]string, error) {
	dirs := make([]string, len(c.Sparse))
	for i, dir := range c.Sparse {
		cleaned, err := clean(fmt.Sprintf("sparse[%d]", i), dir)
		if err != nil {
			return nil, err
		}
		if strings.ContainsAny(cleaned, "*?[]\\!\n\x00") || strings.HasPrefix(cleaned, "-") {
			return nil, fail("sparse[%d]: %q is not the path of a directory; patterns are not supported", i, dir)
		}
		dirs[i] = cleaned
	}
	return dirs, nil
}

// fetching is what a checkout fetches, from where, and which directories of it.
type fetching struct {
	remote worktree.Remote
	ref    worktree.Ref
	create bool
	sparse []string
}

// fetchFor fetches what a checkout names, and writes its files. A branch that is not there begins with an empty commit, if it may.
func (s *step) fetchFor(ctx context.Context, at string, c *Checkout, f fetching) error {
	ctx, cancel := context.WithTimeoutCause(ctx, gitTimeout, errTimeout)
	defer cancel()
	repo, err := worktree.Create(s.gitDir(*c))
	if err != nil {
		return err
	}
	server, err := f.remote.Connect(ctx)
	if err != nil {
		return err
	}
	err = repo.Fetch(ctx, server, f.ref)
	begin := errors.Is(err, worktree.ErrMissing) && f.ref.Branch != "" && f.create
	if err != nil && !begin {
		return err
	}
	if f.ref == (worktree.Ref{}) {
		// The name of the default branch is what a later push goes to.
		c.Branch = server.Default()
	}
	if err := s.empty(at); err != nil {
		return fmt.Errorf("replacing %q: %w", at, err)
	}
	if begin {
		err = repo.Begin(f.ref.Branch, c.author())
	} else {
		err = s.filesOf(at, func(root *os.Root) error { return repo.Write(ctx, root, f.sparse) })
	}
	c.Head = repo.Head()
	return err
}

// filesOf opens the directory of a checkout.
func (s *step) filesOf(at string, do func(root *os.Root) error) error {
	if err := s.straight(at); err != nil {
		return err
	}
	root, err := s.root.OpenRoot(at)
	if err != nil {
		return fmt.Errorf("opening the directory %q: %w", at, err)
	}
	return errors.Join(do(root), root.Close())
}
