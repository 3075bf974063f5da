package gitserver

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Mirror is a repository of ours that shows a user's working copy, with what is not committed.
type Mirror struct {
	server *Server
	repo   string
	bare   string
	// work is the root of the working copy; git is its repository, empty for a plain folder.
	work, git string
	// prefix is the folder of the working copy that is shown, ending in a slash; empty shows all.
	prefix string

	mu     sync.Mutex
	branch string
	last   string
}

// Mirror makes a repository that shows path: a working copy, a folder in one (what the working copy
// ignores is left out there too), or a plain folder. Nothing is shown before the first Sync.
func (s *Server) Mirror(ctx context.Context, repo, path string) (*Mirror, error) {
	path, err := filepath.Abs(path)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return nil, fmt.Errorf("looking at %q: %w", path, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("looking at %q: %w", path, err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("looking at %q: it is not a directory", path)
	}
	m := &Mirror{server: s, repo: repo, bare: s.path(repo), work: path, branch: "main"}
	if top, err := run(ctx, command{args: []string{"-C", path, "rev-parse", "--show-toplevel"}}); err == nil {
		m.work = top
		if m.prefix, err = run(ctx, command{args: []string{"-C", path, "rev-parse", "--show-prefix"}}); err != nil {
			return nil, fmt.Errorf("looking at %q: %w", path, err)
		}
		if m.git, err = run(ctx, command{args: []string{"-C", path, "rev-parse", "--absolute-git-dir"}}); err != nil {
			return nil, fmt.Errorf("looking at %q: %w", path, err)
		}
	}
	if err := s.CreateRepo(ctx, repo); err != nil {
		return nil, err
	}
	return m, m.borrow(ctx)
}

// borrow lets our repository read the objects of the user's.
func (m *Mirror) borrow(ctx context.Context) error {
	info := filepath.Join(m.bare, "info")
	if err := os.MkdirAll(info, 0o700); err != nil {
		return fmt.Errorf("making the mirror: %w", err)
	}
	if m.git == "" {
		return nil
	}
	common, err := run(ctx, command{args: []string{"-C", m.work, "rev-parse", "--path-format=absolute", "--git-common-dir"}})
	if err != nil {
		return fmt.Errorf("making the mirror: %w", err)
	}
	alternates := filepath.Join(m.bare, "objects", "info", "alternates")
	if err := os.WriteFile(alternates, []byte(filepath.Join(common, "objects")+"\n"), 0o600); err != nil {
		return fmt.Errorf("making the mirror: %w", err)
	}
	// The user's own list of ignored files counts too.
	if exclude, err := os.ReadFile(filepath.Join(common, "info", "exclude")); err == nil {
		return os.WriteFile(filepath.Join(info, "exclude"), exclude, 0o600)
	}
	return nil
}

// Root is the folder that is shown.
func (m *Mirror) Root() string { return filepath.Join(m.work, filepath.FromSlash(m.prefix)) }

// Branch is the branch under which the mirror shows the working copy.
func (m *Mirror) Branch() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.branch
}

// Repo is the name of the repository on the server.
func (m *Mirror) Repo() string { return m.repo }

// Sync shows what the working copy holds now: its commit when it is clean, else a commit of ours on
// top of that with everything that is not ignored. Equal contents give equal commits.
func (m *Mirror) Sync(ctx context.Context) (revision string, changed bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	head := m.head(ctx)
	revision, err = m.snapshot(ctx, head)
	if err != nil {
		return "", false, err
	}
	if revision == m.last {
		return revision, false, nil
	}
	for _, args := range [][]string{
		{"--git-dir", m.bare, "update-ref", "refs/heads/" + m.branch, revision},
		{"--git-dir", m.bare, "symbolic-ref", "HEAD", "refs/heads/" + m.branch},
	} {
		if _, err := run(ctx, command{args: args}); err != nil {
			return "", false, fmt.Errorf("showing the working copy: %w", err)
		}
	}
	m.last = revision
	return revision, true, nil
}

// head returns the commit that is checked out, if any, and notes its branch.
func (m *Mirror) head(ctx context.Context) string {
	if m.git == "" {
		return ""
	}
	if branch, err := run(ctx, command{args: []string{"--git-dir", m.git, "symbolic-ref", "--short", "HEAD"}}); err == nil {
		m.branch = branch
	}
	head, err := run(ctx, command{args: []string{"--git-dir", m.git, "rev-parse", "--verify", "-q", "HEAD^{commit}"}})
	if err != nil {
		return ""
	}
	return head
}

// snapshot writes the working copy into our repository, through an index of ours.
func (m *Mirror) snapshot(ctx context.Context, head string) (string, error) {
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(m.bare, "headgate-index")}
	add := []string{
		"--git-dir", m.bare, "--work-tree", m.work, "-c", "core.autocrlf=false", "-c", "core.fileMode=true",
		"-c", "advice.addEmbeddedRepo=false", "add", "--all", "--ignore-errors", "--", "./" + m.prefix,
	}
	if _, err := run(ctx, command{args: append([]string{"-C", m.work}, add...), env: env}); err != nil {
		return "", fmt.Errorf("reading the working copy: %w", err)
	}
	tree, err := m.writeTree(ctx, env)
	if err != nil {
		return "", fmt.Errorf("reading the working copy: %w", err)
	}
	if m.prefix != "" {
		// The commits of the user's show the whole working copy, so that one of ours is needed.
		return m.commit(ctx, tree, "")
	}
	if head != "" {
		if committed, err := run(ctx, command{args: []string{"--git-dir", m.bare, "rev-parse", head + "^{tree}"}}); err == nil && committed == tree {
			return head, nil
		}
	}
	return m.commit(ctx, tree, head)
}

func (m *Mirror) writeTree(ctx context.Context, env []string) (string, error) {
	args := []string{"--git-dir", m.bare, "write-tree"}
	if m.prefix != "" {
		args = append(args, "--prefix="+m.prefix)
	}
	return run(ctx, command{args: args, env: env})
}

// commit makes a commit that depends on its tree and its parent only.
func (m *Mirror) commit(ctx context.Context, tree, head string) (string, error) {
	const who, when = "headgate", "1700000000 +0000"
	args := []string{"--git-dir", m.bare, "commit-tree", tree, "-m", "working tree of " + m.branch}
	if head != "" {
		args = append(args, "-p", head)
	}
	revision, err := run(ctx, command{args: args, env: []string{
		"GIT_AUTHOR_NAME=" + who, "GIT_AUTHOR_EMAIL=headgate@localhost", "GIT_AUTHOR_DATE=" + when,
		"GIT_COMMITTER_NAME=" + who, "GIT_COMMITTER_EMAIL=headgate@localhost", "GIT_COMMITTER_DATE=" + when,
	}})
	if err != nil {
		return "", fmt.Errorf("showing the working copy: %w", err)
	}
	return revision, nil
}

// Remotes are the URLs of the working copy's remotes.
func (m *Mirror) Remotes(ctx context.Context) []string {
	if m.git == "" {
		return nil
	}
	out, err := run(ctx, command{args: []string{"--git-dir", m.git, "config", "--get-regexp", `^remote\..*\.url$`}})
	if err != nil {
		return nil
	}
	var urls []string
	for _, line := range strings.Split(out, "\n") {
		if _, u, ok := strings.Cut(line, " "); ok {
			urls = append(urls, u)
		}
	}
	return urls
}

// SameRepository tells whether two URLs name one repository, by whatever protocol and credentials.
func SameRepository(a, b string) bool {
	x, errX := normalise(a)
	y, errY := normalise(b)
	return errX == nil && errY == nil && x == y
}

// normalise returns "host/path" of a repository's URL.
func normalise(text string) (string, error) {
	if host, path, ok := strings.Cut(text, ":"); ok && !strings.Contains(text, "://") && !strings.HasPrefix(path, "//") {
		// The form user@host:path of ssh.
		_, after, found := strings.Cut(host, "@")
		if found {
			host = after
		}
		text = "ssh://" + host + "/" + strings.TrimPrefix(path, "/")
	}
	u, err := url.Parse(text)
	if err != nil {
		return "", fmt.Errorf("reading a repository's URL: %w", err)
	}
	if u.Host == "" {
		return "", errors.New("reading a repository's URL: it names no host")
	}
	path := strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git")
	return strings.ToLower(u.Hostname()) + "/" + path, nil
}
