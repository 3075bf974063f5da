package steps

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/headgate-dev/headgate/internal/promote/worktree"
)

// checkedOut is the checkout at a path, with its data.
func (s *step) checkedOut(name string) (string, Checkout, *worktree.Repository, error) {
	at, err := clean("path", name)
	if err != nil {
		return "", Checkout{}, nil, err
	}
	c, known := s.work.State.Checkouts[at]
	if !known {
		return "", c, nil, fail("path: there is no checkout at %q: git-clone makes one", name)
	}
	repo, err := worktree.Open(s.gitDir(c))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", c, nil, fail("path: the checkout at %q is gone, with the directory of the Promotion: promote once more", name)
	case err != nil:
		return "", c, nil, fmt.Errorf("opening the checkout at %q: %w", name, err)
	}
	return at, c, repo, nil
}

type commitConfig struct {
	Path    string  `json:"path"`
	Message string  `json:"message"`
	Author  *author `json:"author"`
}

// commit commits what changed. Without a change it is skipped. A commit that an earlier attempt made is found again: it is on top of the commit
// that the steps before left.
func (s *step) commit(ctx context.Context, data []byte) (map[string]any, error) {
	config, err := decode[commitConfig](data)
	if err != nil {
		return nil, err
	}
	at, c, repo, err := s.checkedOut(config.Path)
	if err != nil {
		return nil, err
	}
	if err := config.Author.check(); err != nil {
		return nil, err
	}
	if config.Author != nil {
		c.AuthorName, c.AuthorEmail = config.Author.Name, config.Author.Email
	}
	if worktree.Cleaned(config.Message) == "" {
		return nil, fail("message: it is empty")
	}
	changed := false
	err = s.filesOf(at, func(root *os.Root) error {
		err := repo.Recover(ctx, root)
		if err == nil {
			changed, err = repo.Commit(ctx, root, config.Message, c.author())
		}
		return err
	})
	if err != nil {
		return nil, final(fmt.Errorf("committing the files of %q: %w", at, err))
	}
	if !changed && repo.Head() == c.Head {
		s.skipped, s.message = true, "nothing changed"
		return map[string]any{"commit": c.Head}, nil
	}
	c.Head = repo.Head()
	s.work.State.Checkouts[at] = c
	return map[string]any{"commit": c.Head}, nil
}

type pushConfig struct {
	Path                 string `json:"path"`
	TargetBranch         string `json:"targetBranch"`
	GenerateTargetBranch bool   `json:"generateTargetBranch"`
	MaxAttempts          int    `json:"maxAttempts"`
	Force                bool   `json:"force"`
	ForcePush            bool   `json:"forcePush"`
	Provider             string `json:"provider"`
}

// push pushes the commits of a checkout. If the branch has others, they are fetched, and ours are put on top of them; a conflict is final.
func (s *step) push(ctx context.Context, data []byte) (map[string]any, error) {
	config, err := decode[pushConfig](data)
	if err != nil {
		return nil, err
	}
	at, c, repo, err := s.checkedOut(config.Path)
	if err != nil {
		return nil, err
	}
	if config.Force || config.ForcePush {
		return nil, fail("force: a push that overwrites commits of others is not supported: leave it out, and the push is rebased")
	}
	branch := config.TargetBranch
	switch {
	case config.GenerateTargetBranch && branch != "":
		return nil, fail("targetBranch and generateTargetBranch exclude each other")
	case config.GenerateTargetBranch:
		branch = "kargo/promotion/" + s.work.Promotion
	case branch == "":
		branch = c.Branch
	}
	if !worktree.IsBranch(branch) {
		return nil, fail("targetBranch: %q is not the name of a branch", branch)
	}
	remote, err := s.reach(ctx, c.URL, c.Insecure)
	if err != nil {
		return nil, err
	}
	turn := s.runner.turn(c.URL, branch)
	turn.Lock()
	defer turn.Unlock()
	attempts := 10
	if config.MaxAttempts > 0 {
		attempts = min(config.MaxAttempts, 50)
	}
	err = s.filesOf(at, func(root *os.Root) error {
		if err := repo.Recover(ctx, root); err != nil {
			return err
		}
		return pushing{repo, remote, root, branch, c.author()}.tries(ctx, attempts)
	})
	switch {
	case errors.Is(err, worktree.ErrConflict):
		return nil, fail("the commits of %q conflict with those of branch %q, or the rebase is not possible: %w", at, branch, err)
	case err != nil:
		return nil, final(err)
	}
	c.Head = repo.Head()
	s.work.State.Checkouts[at] = c
	return map[string]any{"commit": c.Head, "branch": branch, "commitURL": strings.TrimSuffix(strings.TrimSuffix(c.URL, "/"), ".git") + "/commit/" + c.Head}, nil
}

// pushing is a push of what is checked out.
type pushing struct {
	repo   *worktree.Repository
	remote worktree.Remote
	root   *os.Root
	branch string
	by     worktree.Author
}

// tries pushes, again each time that another push was first. A server that refuses for a reason of its own would refuse again.
func (p pushing) tries(ctx context.Context, attempts int) error {
	for before := "none"; ; attempts-- {
		tip, err := p.once(ctx)
		if err == nil || !errors.Is(err, worktree.ErrRejected) || attempts <= 1 || tip == before {
			return err
		}
		before = tip
	}
}

// once makes an attempt, and returns what the branch had.
func (p pushing) once(ctx context.Context) (tip string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, gitTimeout, errTimeout)
	defer cancel()
	server, err := p.remote.Connect(ctx)
	if err != nil {
		return "", err
	}
	return server.Branch(p.branch), p.repo.Push(ctx, server, p.root, p.branch, p.by)
}
