package steps

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// checkedOut is the checkout at a path.
func (s *step) checkedOut(name string) (string, Checkout, error) {
	at, err := clean("path", name)
	if err != nil {
		return "", Checkout{}, err
	}
	c, known := s.work.State.Checkouts[at]
	if !known {
		return "", c, fail("path: there is no checkout at %q: git-clone makes one", name)
	}
	if _, err := os.Stat(filepath.Join(s.work.Dir, gitData, filepath.Base(c.Git))); err != nil {
		return "", c, fail("path: the checkout at %q is gone, with the directory of the Promotion: promote once more", name)
	}
	return at, c, nil
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
	at, c, err := s.checkedOut(config.Path)
	if err != nil {
		return nil, err
	}
	if err := config.Author.check(); err != nil {
		return nil, err
	}
	if config.Author != nil {
		c.AuthorName, c.AuthorEmail = config.Author.Name, config.Author.Email
	}
	if config.Message == "" {
		return nil, fail("message: it is empty")
	}
	if err := s.recover(ctx, at, c); err != nil {
		return nil, err
	}
	head, err := s.git(ctx, at, c, access{}, "rev-parse", "HEAD")
	if err != nil {
		return nil, err
	}
	made := head != c.Head
	if _, err := s.git(ctx, at, c, access{}, "add", "--all", "--", "."); err != nil {
		return nil, err
	}
	changed, err := s.git(ctx, at, c, access{}, "diff", "--cached", "--name-only")
	switch {
	case err != nil:
		return nil, err
	case changed == "" && !made:
		s.skipped, s.message = true, "nothing changed"
		return map[string]any{"commit": head}, nil
	case changed != "":
		if _, err := s.git(ctx, at, c, access{}, "commit", "--quiet", "--message", config.Message); err != nil {
			return nil, err
		}
	}
	if c.Head, err = s.git(ctx, at, c, access{}, "rev-parse", "HEAD"); err != nil {
		return nil, err
	}
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

// errMoved is a branch to which another commit was pushed meanwhile.
var errMoved = errors.New("the branch has moved")

// push pushes the commits of a checkout. If the branch has others, they are fetched, and ours are put on top of them; a conflict is final.
func (s *step) push(ctx context.Context, data []byte) (map[string]any, error) {
	config, err := decode[pushConfig](data)
	if err != nil {
		return nil, err
	}
	at, c, err := s.checkedOut(config.Path)
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
	if _, err := s.git(ctx, at, c, access{}, "check-ref-format", "refs/heads/"+branch); err != nil || branch == "" {
		return nil, fail("targetBranch: %q is not the name of a branch", branch)
	}
	login, err := s.reach(ctx, c.URL)
	if err != nil {
		return nil, err
	}
	turn := s.runner.turn(c.URL, branch)
	turn.Lock()
	defer turn.Unlock()
	if err := s.recover(ctx, at, c); err != nil {
		return nil, err
	}
	attempts := 10
	if config.MaxAttempts > 0 {
		attempts = min(config.MaxAttempts, 50)
	}
	for try := 1; ; try++ {
		err = s.pushOnce(ctx, at, c, branch, login)
		if err == nil || !errors.Is(err, errMoved) || try == attempts {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	if c.Head, err = s.git(ctx, at, c, access{}, "rev-parse", "HEAD"); err != nil {
		return nil, err
	}
	s.work.State.Checkouts[at] = c
	return map[string]any{"commit": c.Head, "branch": branch, "commitURL": strings.TrimSuffix(strings.TrimSuffix(c.URL, "/"), ".git") + "/commit/" + c.Head}, nil
}

// recover clears what an attempt left that its process did not live to end.
func (s *step) recover(ctx context.Context, at string, c Checkout) error {
	data := filepath.Join(s.work.Dir, gitData, filepath.Base(c.Git))
	if err := os.Remove(filepath.Join(data, "index.lock")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("unlocking the checkout at %q: %w", at, err)
	}
	for _, name := range []string{"rebase-merge", "rebase-apply"} {
		if _, err := os.Stat(filepath.Join(data, name)); err != nil {
			continue
		}
		if _, err := s.git(ctx, at, c, access{}, "rebase", "--abort"); err != nil {
			return err
		}
	}
	return nil
}

func (s *step) pushOnce(ctx context.Context, at string, c Checkout, branch string, login access) error {
	_, err := s.git(ctx, at, c, login, "fetch", "--quiet", "--no-tags", "--", c.URL, "refs/heads/"+branch)
	switch {
	case err != nil && strings.Contains(err.Error(), "couldn't find remote ref"):
	case err != nil:
		return err
	default:
		if _, err := s.git(ctx, at, c, access{}, "rebase", "--quiet", "--no-autostash", "FETCH_HEAD"); err != nil {
			_, ended := s.git(ctx, at, c, access{}, "rebase", "--abort")
			return fail("the commits of %q conflict with those of branch %q, or the rebase is not possible: %w", at, branch, errors.Join(err, ended))
		}
	}
	_, err = s.git(ctx, at, c, login, "push", "--quiet", "--", c.URL, "HEAD:refs/heads/"+branch)
	if err != nil && (strings.Contains(err.Error(), "rejected") || strings.Contains(err.Error(), "failed to update ref") || strings.Contains(err.Error(), "cannot lock ref")) {
		return fmt.Errorf("%w: %w", errMoved, err)
	}
	return err
}
