package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/transport"

	"github.com/headgate-dev/headgate/internal/redaction"
)

// push sends the commit, first to the branch and then by the refspec.
//
// Remote.Push of the library finds what the server lacks by walking through the history, which a clone of
// one commit does not have. What it lacks is known here: it is what the edit made. The request names what the
// branch had when it was read, so that the server refuses it if another commit was pushed in the meantime.
func (p *pusher) push(ctx context.Context, commit plumbing.Hash) error {
	branch := plumbing.NewBranchReferenceName(p.edit.Branch)
	if err := p.send(ctx, branch, commit); err != nil {
		return err
	}
	if p.edit.Refspec == "" {
		return nil
	}
	to, force, err := p.edit.destination()
	if err != nil || to == branch {
		return err
	}
	if !force {
		if err := p.ahead(ctx, to); err != nil {
			return err
		}
	}
	return p.send(ctx, to, commit)
}

// Check reports what of an edit cannot be done, whatever the repository has.
func (e *GitEdit) Check() error {
	if err := plumbing.NewBranchReferenceName(e.Branch).Validate(); err != nil {
		return fmt.Errorf("spec.git.push.branch: %q is not a branch name", e.Branch)
	}
	if e.Refspec == "" {
		return nil
	}
	_, _, err := e.destination()
	return err
}

// destination reads the refspec: [+]SOURCE:DESTINATION, of which the source is what is pushed.
func (e *GitEdit) destination() (to plumbing.ReferenceName, force bool, err error) {
	text, force := strings.CutPrefix(e.Refspec, "+")
	from, name, found := strings.Cut(text, ":")
	to = plumbing.ReferenceName(name)
	ours := []string{"HEAD", e.Branch, "refs/heads/" + e.Branch}
	switch {
	case !found || !strings.HasPrefix(name, "refs/") || strings.Contains(name, "*") || to.Validate() != nil:
		return to, force, fmt.Errorf("spec.git.push.refspec: %q: want SOURCE:refs/DESTINATION, without patterns", e.Refspec)
	case !slices.Contains(ours, from):
		return to, force, fmt.Errorf("spec.git.push.refspec: %q: its source must be the branch of the commit: refs/heads/%s", e.Refspec, e.Branch)
	}
	return to, force, nil
}

// ahead reports whether a reference may be moved to the commit without losing one of its own.
func (p *pusher) ahead(ctx context.Context, to plumbing.ReferenceName) error {
	now, has := p.known[to]
	if !has || now.Hash() == p.base.hash {
		return nil
	}
	dir, err := os.MkdirTemp(p.options.SpillDir, tempPrefix)
	if err != nil {
		return fmt.Errorf("creating a directory to fetch into: %w", err)
	}
	defer os.RemoveAll(dir)
	repo, err := git.PlainInit(dir, true)
	if err != nil {
		return fmt.Errorf("creating a repository to fetch into: %w", err)
	}
	if err := p.fetch(ctx, repo, target{reference: p.base.reference, full: true}); err != nil {
		return err
	}
	theirs, err := repo.CommitObject(now.Hash())
	if err == nil {
		base, missing := repo.CommitObject(p.base.hash)
		if missing != nil {
			return fmt.Errorf("fetching %q: %w: commit %s", p.url, ErrReference, p.base.hash)
		}
		var inside bool
		if inside, err = theirs.IsAncestor(base); err == nil && inside {
			return nil
		}
	}
	return fmt.Errorf("pushing to %q: spec.git.push.refspec: %q has commits that the push does not contain; start the refspec with + to overwrite them", p.url, to)
}

// send moves one reference of the server to the commit.
func (p *pusher) send(ctx context.Context, to plumbing.ReferenceName, commit plumbing.Hash) (err error) {
	c, endpoint, err := p.connection()
	if err != nil {
		return p.explain(ctx, err)
	}
	session, err := c.NewReceivePackSession(endpoint, p.auth)
	if err != nil {
		return p.explain(ctx, err)
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	offered, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		return p.pushError(ctx, to, err)
	}
	asked := packp.NewReferenceUpdateRequestFromCapabilities(offered.Capabilities)
	command := &packp.Command{Name: to, New: commit}
	if now, has := p.known[to]; has {
		command.Old = now.Hash()
	}
	asked.Commands = []*packp.Command{command}
	if err := p.pushOptions(asked, offered.Capabilities); err != nil {
		return err
	}
	pack, err := p.pack()
	if err != nil {
		return fmt.Errorf("packing the commit: %w", err)
	}
	asked.Packfile = io.NopCloser(pack)
	report, err := session.ReceivePack(ctx, asked)
	if err != nil {
		return p.pushError(ctx, to, err)
	}
	if report == nil {
		return nil
	}
	if err := report.Error(); err != nil {
		return p.pushError(ctx, to, err)
	}
	return nil
}

// pushError words what went wrong with a push. What the server answers about the reference is an ErrPush.
func (p *pusher) pushError(ctx context.Context, to plumbing.ReferenceName, err error) error {
	switch {
	case ctx.Err() != nil, errors.Is(err, transport.ErrAuthenticationRequired), errors.Is(err, transport.ErrRepositoryNotFound):
		return p.explain(ctx, err)
	case errors.Is(err, transport.ErrAuthorizationFailed):
		return fmt.Errorf("pushing to %q: %w: the credentials are not allowed to push", p.url, ErrAuth)
	}
	text := redaction.NewValues(p.secrets...).Text(err.Error())
	return fmt.Errorf("pushing to %q: %w: %s: %s", p.url, ErrPush, to, text)
}

func (p *pusher) pushOptions(asked *packp.ReferenceUpdateRequest, offered *capability.List) error {
	if len(p.edit.PushOptions) == 0 {
		return nil
	}
	if !offered.Supports(capability.PushOptions) {
		return fmt.Errorf("pushing to %q: spec.git.push.options: the server does not support them", p.url)
	}
	if err := asked.Capabilities.Set(capability.PushOptions); err != nil {
		return fmt.Errorf("requesting push options: %w", err)
	}
	for _, key := range slices.Sorted(maps.Keys(p.edit.PushOptions)) {
		asked.Options = append(asked.Options, &packp.Option{Key: key, Value: p.edit.PushOptions[key]})
	}
	return nil
}

// pack holds what the edit made.
func (p *pusher) pack() (*bytes.Buffer, error) {
	var out bytes.Buffer
	_, err := packfile.NewEncoder(&out, p.repo.Storer, false).Encode(p.made, 0)
	return &out, err
}
