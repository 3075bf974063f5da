package steps

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/headgate-dev/headgate/internal/promote/worktree"
)

type openPullConfig struct {
	RepoURL               string   `json:"repoURL"`
	Provider              string   `json:"provider"`
	InsecureSkipTLSVerify bool     `json:"insecureSkipTLSVerify"`
	SourceBranch          string   `json:"sourceBranch"`
	TargetBranch          string   `json:"targetBranch"`
	CreateTargetBranch    bool     `json:"createTargetBranch"`
	Title                 string   `json:"title"`
	Description           string   `json:"description"`
	Labels                []string `json:"labels"`
}

// openPull opens a pull request. One of the same branches that is open already, or that was merged with the commit of the source, is the one that an
// earlier attempt opened.
func (s *step) openPull(ctx context.Context, data []byte) (map[string]any, error) {
	config, err := decode[openPullConfig](data)
	if err != nil {
		return nil, err
	}
	if config.SourceBranch == "" || config.TargetBranch == "" {
		return nil, fail("sourceBranch and targetBranch have to be set")
	}
	if config.SourceBranch == config.TargetBranch {
		return nil, fail("sourceBranch and targetBranch are the same: %q", config.SourceBranch)
	}
	f, err := s.pulls(ctx, config.RepoURL, config.Provider, config.InsecureSkipTLSVerify)
	if err != nil {
		return nil, err
	}
	source, target, err := s.heads(ctx, f, config)
	switch {
	case err != nil:
		return nil, err
	case source == "":
		return nil, fail("sourceBranch: %s has no branch %q", config.RepoURL, config.SourceBranch)
	}
	found, err := f.api.find(ctx, f, config.SourceBranch, config.TargetBranch, source)
	switch {
	case err != nil:
		return nil, err
	case found != nil:
	case target == "" && !config.CreateTargetBranch:
		return nil, fail("targetBranch: %s has no branch %q: set createTargetBranch", config.RepoURL, config.TargetBranch)
	case source == target:
		s.skipped, s.message = true, "the branches do not differ"
		return nil, nil
	default:
		if found, err = s.openNew(ctx, f, config, target == ""); err != nil {
			return nil, err
		}
	}
	return map[string]any{"pr": map[string]any{"id": found.Number, "url": found.URL}}, nil
}

// openNew opens a pull request. What it does not say of itself is said by the message of the last commit.
func (s *step) openNew(ctx context.Context, f *pullServer, config openPullConfig, create bool) (*pull, error) {
	if config.Title == "" {
		message, err := s.lastMessage(ctx, f, config.SourceBranch)
		if err != nil {
			return nil, err
		}
		title, rest, _ := strings.Cut(message, "\n")
		config.Title = title
		if config.Description == "" {
			config.Description = strings.TrimSpace(rest)
		}
	}
	if config.Title == "" {
		config.Title = fmt.Sprintf("Promote %s to %s", config.SourceBranch, config.TargetBranch)
	}
	if create {
		if err := s.createBranch(ctx, f, config.TargetBranch); err != nil {
			return nil, err
		}
	}
	return f.api.open(ctx, f, config)
}

// lastMessage is that of the last commit of a branch.
func (s *step) lastMessage(ctx context.Context, f *pullServer, branch string) (message string, err error) {
	err = s.bare(ctx, f, func(ctx context.Context, repo *worktree.Repository, server *worktree.Connection) error {
		if err := repo.Fetch(ctx, server, worktree.Ref{Branch: branch}); err != nil {
			return err
		}
		message, err = repo.Message()
		message = strings.TrimSpace(message)
		return err
	})
	return message, err
}

// heads are the commits of the two branches; empty for one that is not there.
func (s *step) heads(ctx context.Context, f *pullServer, config openPullConfig) (source, target string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, gitTimeout, errTimeout)
	defer cancel()
	server, err := f.remote.Connect(ctx)
	if err != nil {
		return "", "", err
	}
	return server.Branch(config.SourceBranch), server.Branch(config.TargetBranch), nil
}

// createBranch pushes a branch with an empty commit.
func (s *step) createBranch(ctx context.Context, f *pullServer, branch string) error {
	if !worktree.IsBranch(branch) {
		return fail("targetBranch: %q is not the name of a branch", branch)
	}
	return s.bare(ctx, f, func(ctx context.Context, repo *worktree.Repository, server *worktree.Connection) error {
		by := Checkout{}.author()
		if err := repo.Begin(branch, by); err != nil {
			return err
		}
		return s.filesOf(".", func(root *os.Root) error { return repo.Push(ctx, server, root, branch, by) })
	})
}

// bare has something done with a copy of a repository that has nothing yet, and is gone afterwards.
func (s *step) bare(ctx context.Context, f *pullServer, do func(context.Context, *worktree.Repository, *worktree.Connection) error) (err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, gitTimeout, errTimeout)
	defer cancel()
	dir, err := os.MkdirTemp(filepath.Join(s.work.Dir, gitData), "pull-")
	if err != nil {
		return fmt.Errorf("creating a directory for Git: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	repo, err := worktree.Create(dir)
	if err != nil {
		return err
	}
	server, err := f.remote.Connect(ctx)
	if err != nil {
		return err
	}
	return final(do(ctx, repo, server))
}

// pullServer is a repository on a server with pull requests.
type pullServer struct {
	repoURL  string
	insecure bool
	remote   worktree.Remote
	api      pullAPI
	step     *step
	// base is the address of the API, and path that of the repository on the server: OWNER/NAME.
	base, path string
}

func (f *pullServer) login() Login { return Login{f.remote.Username, f.remote.Password} }

// pull is a pull request.
type pull struct {
	Number       int64
	URL          string
	Open, Merged bool
	// Commit is what the target has since the merge.
	Commit string
}

// pullAPI lists the pull requests of one kind of server.
type pullAPI interface {
	// find is the open one of two branches of the repository itself, or else one that was merged with a commit; nil where there is none.
	find(ctx context.Context, f *pullServer, source, target, commit string) (*pull, error)
	open(ctx context.Context, f *pullServer, config openPullConfig) (*pull, error)
	get(ctx context.Context, f *pullServer, number int64) (*pull, error)
	// merge merges one by a method that the server knows; empty is its own choice.
	merge(ctx context.Context, f *pullServer, number int64, method string) error
}

// pulls prepares for the server of a repository.
func (s *step) pulls(ctx context.Context, repoURL, provider string, insecure bool) (*pullServer, error) {
	address, err := url.Parse(repoURL)
	if err != nil || address.Scheme != "https" && address.Scheme != "http" || address.User != nil {
		return nil, fail("repoURL: want an http or https address without a login")
	}
	remote, err := s.reach(ctx, repoURL, insecure)
	if err != nil {
		return nil, err
	}
	f := &pullServer{repoURL: repoURL, insecure: insecure, remote: remote, step: s, path: strings.TrimSuffix(strings.Trim(address.Path, "/"), ".git")}
	if provider == "" {
		provider = inferred(address.Hostname())
	}
	root := address.Scheme + "://" + address.Host
	switch provider {
	case "github":
		f.api, f.base = github{}, root+"/api/v3"
		if address.Hostname() == "github.com" {
			f.base = "https://api.github.com"
		}
	case "gitea":
		f.api, f.base = github{gitea: true}, root+"/api/v1"
	case "gitlab":
		f.api, f.base = gitlab{}, root+"/api/v4"
	case "":
		return nil, fail("provider: it does not follow from %s: set github, gitea or gitlab", address.Host)
	default:
		return nil, fail("provider: %q is not supported: use github, gitea or gitlab", provider)
	}
	return f, nil
}

// inferred is the kind of server that a host says by its name.
func inferred(host string) string {
	for _, one := range [][2]string{{"github", "github"}, {"gitlab", "gitlab"}, {"gitea", "gitea"}, {"forgejo", "gitea"}, {"codeberg.org", "gitea"}} {
		if strings.Contains(host, one[0]) {
			return one[1]
		}
	}
	return ""
}
