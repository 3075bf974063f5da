package steps

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// gitTimeout bounds one call of git.
const gitTimeout = 5 * time.Minute

// git runs git for a checkout. The login is in the environment of the process alone: neither in its arguments nor on disk.
func (s *step) git(ctx context.Context, at string, c Checkout, login access, arguments ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	tree := filepath.Join(s.work.Dir, files, filepath.FromSlash(at))
	cmd := exec.CommandContext(ctx, "git", arguments...) //nolint:gosec // the arguments are ours, and names of tenants follow checks or "--"
	cmd.Dir = tree
	settings := [][2]string{
		{"core.hooksPath", "/dev/null"},
		{"core.fsmonitor", "false"},
		{"core.bare", "false"},
		{"safe.directory", "*"},
		{"gc.auto", "0"},
		{"commit.gpgSign", "false"},
		{"advice.detachedHead", "false"},
		{"http.followRedirects", "false"},
		{"submodule.recurse", "false"},
		{"diff.ignoreSubmodules", "all"},
	}
	if c.Insecure {
		settings = append(settings, [2]string{"http.sslVerify", "false"})
	}
	if login.URL != "" && login.URL != c.URL {
		settings = append(settings, [2]string{"url." + login.URL + ".insteadOf", c.URL})
	}
	for _, pin := range login.Pins {
		settings = append(settings, [2]string{"http.curloptResolve", pin})
	}
	if login.Login != (Login{}) {
		token := base64.StdEncoding.EncodeToString([]byte(login.Username + ":" + login.Password))
		settings = append(settings, [2]string{"http." + cmp.Or(login.URL, c.URL) + ".extraHeader", "Authorization: Basic " + token})
	}
	name, email := c.AuthorName, c.AuthorEmail
	if name == "" {
		name = "Headgate"
	}
	if email == "" {
		email = "no-reply@headgate.dev"
	}
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/dev/null", "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS=false", "GIT_EDITOR=true", "GIT_ALLOW_PROTOCOL=http:https", "GIT_DIR=" + filepath.Join(s.work.Dir, gitData, filepath.Base(c.Git)), "GIT_WORK_TREE=" + tree,
		"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=" + email, "GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=" + email,
		fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings)),
	}
	for i, one := range settings {
		cmd.Env = append(cmd.Env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, one[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, one[1]))
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		text := strings.TrimSpace(stderr.String())
		if login.Password != "" {
			text = strings.ReplaceAll(text, login.Password, "…")
		}
		return "", fmt.Errorf("git %s of %s: %w: %.500s", arguments[0], c.URL, err, text)
	}
	return strings.TrimSpace(stdout.String()), nil
}

// access is how an address is reached: where it leads, and who logs in there.
type access struct {
	Login
	Route
}

// reach prepares for an address: it is allowed, and there is a login for it.
func (s *step) reach(ctx context.Context, repoURL string) (access, error) {
	if s.runner.Route == nil {
		return access{}, fail("repoURL: no address is allowed")
	}
	route, err := s.runner.Route(ctx, repoURL)
	if err != nil {
		return access{}, fail("repoURL: %w", err)
	}
	if s.runner.Login == nil {
		return access{Route: route}, nil
	}
	login, err := s.runner.Login(ctx, repoURL)
	if err != nil {
		return access{}, fmt.Errorf("reading the credentials of %s: %w", repoURL, err)
	}
	return access{Login: login, Route: route}, nil
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
	login, err := s.reach(ctx, config.RepoURL)
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
		if c, err = s.checkOut(ctx, at, c, one, login); err != nil {
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

func (s *step) checkOut(ctx context.Context, at string, c Checkout, one checkout, login access) (Checkout, error) {
	for other := range s.work.State.Checkouts {
		if other != at && (at == "." || other == "." || strings.HasPrefix(at, other+"/") || strings.HasPrefix(other, at+"/")) {
			return c, fail("path %q is within, or around, the checkout at %q", at, other)
		}
	}
	if err := s.root.MkdirAll(at, 0o700); err != nil {
		return c, fmt.Errorf("creating %q: %w", at, err)
	}
	// Each clone has data of its own, so that one which was begun before is not taken for this one.
	data, err := os.MkdirTemp(filepath.Join(s.work.Dir, gitData), "clone-")
	if err != nil {
		return c, fmt.Errorf("creating a directory for Git: %w", err)
	}
	c.Git = filepath.Base(data)
	if _, err := s.git(ctx, at, c, access{}, "init", "--quiet", "--template="); err != nil {
		return c, err
	}
	if err := s.fetchFor(ctx, at, &c, one, login); err != nil {
		return c, errors.Join(err, os.RemoveAll(data))
	}
	if old, had := s.work.State.Checkouts[at]; had {
		if err := os.RemoveAll(filepath.Join(s.work.Dir, gitData, filepath.Base(old.Git))); err != nil {
			return c, fmt.Errorf("replacing the clone at %q: %w", at, err)
		}
	}
	if c.Head, err = s.git(ctx, at, c, access{}, "rev-parse", "HEAD"); err != nil {
		return c, err
	}
	return c, nil
}

// empty deletes what is at a path; the directory of the Promotion itself stays.
func (s *step) empty(at string) error {
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

// fetchFor fetches what a checkout names, and checks it out.
func (s *step) fetchFor(ctx context.Context, at string, c *Checkout, one checkout, login access) error {
	var ref string
	switch {
	case one.Branch != "" && one.Commit+one.Tag == "":
		ref = "refs/heads/" + one.Branch
	case one.Tag != "" && one.Branch+one.Commit == "":
		ref = "refs/tags/" + one.Tag
	case one.Commit != "" && one.Branch+one.Tag == "":
		ref = one.Commit
		if strings.Trim(one.Commit, "0123456789abcdef") != "" {
			return fail("commit: %q is not the ID of a commit", one.Commit)
		}
	case one.Branch+one.Tag+one.Commit == "":
		ref = "HEAD"
	default:
		return fail("only one of branch, commit and tag may be set")
	}
	if _, err := s.git(ctx, at, *c, access{}, "check-ref-format", "refs/heads/"+ref); err != nil {
		return fail("%q is not the name of a branch or tag", ref)
	}
	_, err := s.git(ctx, at, *c, login, "fetch", "--quiet", "--no-tags", "--", c.URL, ref)
	missing := err != nil && strings.Contains(err.Error(), "couldn't find remote ref")
	switch {
	case missing && one.Branch != "" && one.Create:
		return s.orphan(ctx, at, *c, one.Branch)
	case missing:
		return fail("%s has no %q", c.URL, ref)
	case err != nil:
		return err
	}
	if ref == "HEAD" {
		// The name of the default branch is what a later push goes to.
		listed, err := s.git(ctx, at, *c, login, "ls-remote", "--symref", "--", c.URL, "HEAD")
		if err != nil {
			return err
		}
		if _, after, found := strings.Cut(listed, "ref: refs/heads/"); found {
			c.Branch, _, _ = strings.Cut(after, "\t")
		}
	}
	if err := s.replace(ctx, at, *c, one.Sparse); err != nil {
		return err
	}
	_, err = s.git(ctx, at, *c, access{}, "checkout", "--quiet", "--force", "--detach", "FETCH_HEAD")
	return err
}

// replace deletes what is at a path for a checkout, of some directories alone if there are any.
func (s *step) replace(ctx context.Context, at string, c Checkout, sparse []string) error {
	if err := s.empty(at); err != nil {
		return fmt.Errorf("replacing %q: %w", at, err)
	}
	if len(sparse) == 0 {
		return nil
	}
	dirs := make([]string, len(sparse))
	for i, dir := range sparse {
		cleaned, err := clean(fmt.Sprintf("sparse[%d]", i), dir)
		if err != nil {
			return err
		}
		if strings.ContainsAny(cleaned, "*?[]\\!\n\x00") || strings.HasPrefix(cleaned, "-") {
			return fail("sparse[%d]: %q is not the path of a directory; patterns are not supported", i, dir)
		}
		dirs[i] = cleaned
	}
	_, err := s.git(ctx, at, c, access{}, append([]string{"sparse-checkout", "set", "--cone", "--no-sparse-index"}, dirs...)...)
	return err
}

// orphan begins a branch that the repository does not have.
func (s *step) orphan(ctx context.Context, at string, c Checkout, branch string) error {
	if err := s.empty(at); err != nil {
		return fmt.Errorf("replacing %q: %w", at, err)
	}
	if _, err := s.git(ctx, at, c, access{}, "checkout", "--quiet", "--orphan", "headgate"); err != nil {
		return err
	}
	_, err := s.git(ctx, at, c, access{}, "commit", "--quiet", "--allow-empty", "--message", "Initial commit of "+branch)
	return err
}
