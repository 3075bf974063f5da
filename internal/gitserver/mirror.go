package gitserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// defaultBranch is the branch of what has none.
const defaultBranch = "main"

// Mirror is a bare repository that serves a user's working copy, including uncommitted changes.
type Mirror struct {
	repo string
	bare string
	// work is the root of the working copy; git is its repository and common what that shares with
	// the repository's other working copies. Both are empty for a plain folder.
	work, git, common string
	// prefix is the folder of the working copy that is shown, ending in a slash; empty shows all.
	prefix string
	// flags are the settings of the user's that say how files are read, as arguments of git.
	flags []string

	mu sync.Mutex
	// first is the branch that was checked out at first, branch the one that is now. Both show the
	// working copy: who follows the first keeps seeing it.
	first, branch string
	// also is a further branch under which the working copy is shown, empty for none.
	also  string
	last  string
	count int
	// refs are the tags and the other branches that are shown, with what they name.
	refs map[string]string
	// seeded is what the user's index was when ours was made from it, modules its submodules.
	seeded  stamp
	modules []string
	// unseen is closed when what was saved is shown, nil when everything is.
	unseen chan struct{}
}

// Mirror makes a repository that shows path: a working copy, a folder in one (what the working copy
// ignores is left out there too), or a plain folder. Nothing is shown before the first Sync.
func (s *Server) Mirror(ctx context.Context, repo, path string) (*Mirror, error) {
	real, err := realDirectory(path)
	if err != nil {
		return nil, fmt.Errorf("reading %q: %w", path, err)
	}
	m := &Mirror{repo: repo, bare: s.path(repo), work: real, branch: defaultBranch}
	if err := m.locate(ctx, real); err != nil {
		return nil, fmt.Errorf("reading %q: %w", path, err)
	}
	if err := s.CreateRepo(ctx, repo); err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.mirrors[repo], s.copies[repo] = true, m
	s.mu.Unlock()
	if err := m.borrow(); err != nil {
		return nil, fmt.Errorf("creating the mirror of %q: %w", path, err)
	}
	return m, nil
}

// Dir is the bare repository.
func (m *Mirror) Dir() string { return m.bare }

func realDirectory(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(real)
	if err == nil && !info.IsDir() {
		err = errors.New("not a directory")
	}
	return real, err
}

// locate finds the working copy that a directory belongs to, if any.
func (m *Mirror) locate(ctx context.Context, dir string) error {
	if err := Current(ctx); err != nil {
		return err
	}
	ask := func(args ...string) (string, error) {
		return run(ctx, command{args: append([]string{"-C", dir, "rev-parse", "--path-format=absolute"}, args...)})
	}
	top, err := ask("--show-toplevel")
	m.flags = readFlags(ctx, dir)
	switch {
	case says(err, "not a git repository"):
		return nil
	case says(err, "must be run in a work tree"), says(err, "cannot use bare repository"):
		return errors.New("a repository without a working copy; clone it, or use its URL")
	case err != nil:
		return err
	}
	format, err := ask("--show-object-format")
	if err != nil {
		return err
	}
	if format != "sha1" {
		return fmt.Errorf("its repository uses %s; only sha1 is supported", format)
	}
	shown, err := filepath.Rel(top, dir)
	if err != nil {
		return err
	}
	if shown != "." && m.ignored(ctx, top, shown) {
		// The ignore rules of a repository do not matter to it, but a plain folder's do.
		return nil
	}
	if m.git, err = ask("--absolute-git-dir"); err != nil {
		return err
	}
	if m.common, err = ask("--git-common-dir"); err != nil {
		return err
	}
	m.work = top
	if shown != "." {
		m.prefix = filepath.ToSlash(shown) + "/"
	}
	return nil
}

// ignored reports whether a working copy ignores a folder of its.
func (m *Mirror) ignored(ctx context.Context, top, folder string) bool {
	args := append([]string{"-C", top}, m.flags...)
	_, err := run(ctx, command{args: append(args, "check-ignore", "-q", "--", folder)})
	return err == nil
}

// borrow lets our repository read the objects of the user's, and those of our snapshots.
func (m *Mirror) borrow() error {
	for _, dir := range []string{filepath.Join(m.bare, "info"), filepath.Join(m.bare, "objects", "info"), m.objects()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	lenders := m.objects() + "\n"
	if m.git != "" {
		lenders += filepath.Join(m.common, "objects") + "\n"
	}
	return os.WriteFile(filepath.Join(m.bare, "objects", "info", "alternates"), []byte(lenders), 0o600)
}

// objects is where snapshots are written. It borrows from no other repository: git renews the times of borrowed
// objects that it would have written, and the user's are not to be touched.
func (m *Mirror) objects() string { return filepath.Join(m.bare, "snapshots") }

// Root is the folder that is shown.
func (m *Mirror) Root() string { return filepath.Join(m.work, filepath.FromSlash(m.prefix)) }

// Repo is the name of the repository on the server.
func (m *Mirror) Repo() string { return m.repo }

// Branch is the branch that is checked out, under which the mirror shows the working copy. The
// branch that was checked out at the first Sync shows it too.
func (m *Mirror) Branch() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.branch
}

// ShowAs has the working copy shown under a further branch, which is set before the first Sync: whatever reads that branch gets what
// is checked out. A working copy that is on no branch is on that one.
func (m *Mirror) ShowAs(ctx context.Context, branch string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.also = branch; branch != "" && m.References(ctx).Branch == "" {
		m.branch = branch
	}
}

// Remotes are the URLs of the working copy's remotes, without credentials.
func (m *Mirror) Remotes(ctx context.Context) []string {
	if m.git == "" {
		return nil
	}
	out, err := run(ctx, command{args: []string{"--git-dir", m.git, "config", "-z", "--get-regexp", `^remote\..*\.(push)?url$`}})
	if err != nil {
		return nil
	}
	var urls []string
	for entry := range strings.SplitSeq(out, "\x00") {
		_, text, ok := strings.Cut(entry, "\n")
		if !ok {
			continue
		}
		if clean, ok := withoutCredentials(text); ok {
			urls = append(urls, clean)
		}
	}
	return urls
}
