package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

// ErrRejected is a push that the server did not take; if the branch has moved, another one may be taken.
var ErrRejected = errors.New("the push was rejected")

// Push puts Head on top of what a branch of the server has, pushes it, and has the files of a directory be those of it. A branch that is not there is
// made; nothing that the branch has is lost.
func (r *Repository) Push(ctx context.Context, c *Connection, root *os.Root, branch string, by Author) error {
	name := plumbing.NewBranchReferenceName(branch)
	tip, exists := c.refs[name]
	head := r.record.Head
	if exists && tip != head {
		var err error
		if tip != r.record.Base {
			if err = r.deepen(ctx, c, tip); err != nil {
				return err
			}
		}
		if head, err = r.onto(ctx, tip, by); err != nil {
			return err
		}
	}
	if head != r.record.Head {
		if err := r.movable(ctx, root, head); err != nil {
			return err
		}
	}
	if head != tip {
		if err := c.push(ctx, r, &packp.Command{Name: name, Old: tip, New: head}); err != nil {
			return err
		}
	}
	r.record.Moving = head
	if err := r.save(); err != nil {
		return err
	}
	return r.Recover(ctx, root)
}

// Recover completes what a process that ended left half done: the files become those of the commit that was pushed.
func (r *Repository) Recover(ctx context.Context, root *os.Root) error {
	to := r.record.Moving
	if to.IsZero() {
		return nil
	}
	if to != r.record.Head {
		before, err := r.commit(r.record.Head)
		if err != nil {
			return err
		}
		after, err := r.commit(to)
		if err != nil {
			return err
		}
		w := r.writer(ctx, root)
		w.again = true
		if err := w.change(before.TreeHash, after.TreeHash, "."); err != nil {
			return fmt.Errorf("writing the files of commit %s: %w", to, err)
		}
	}
	r.record.Head, r.record.Base, r.record.Moving = to, to, plumbing.ZeroHash
	return r.save()
}

// movable refuses to change files that are not those of Head, or to write over some that no commit has.
func (r *Repository) movable(ctx context.Context, root *os.Root, to plumbing.Hash) error {
	before, err := r.commit(r.record.Head)
	if err != nil {
		return err
	}
	after, err := r.commit(to)
	if err != nil {
		return err
	}
	now, err := r.snapshot(ctx, root, before.TreeHash)
	if err != nil {
		return err
	}
	return r.untouched(root, before.TreeHash, after.TreeHash, now, ".")
}

// untouched compares what a commit changes in a directory with what was changed there, but not committed.
func (r *Repository) untouched(root *os.Root, before, after, now plumbing.Hash, at string) error {
	if before == after {
		return nil
	}
	var sides [3]map[string]object.TreeEntry
	for i, tree := range []plumbing.Hash{before, after, now} {
		entries, err := r.entries(tree)
		if err != nil {
			return err
		}
		sides[i] = map[string]object.TreeEntry{}
		for _, entry := range entries {
			sides[i][entry.Name] = entry
		}
	}
	names := slices.Collect(func(yield func(string) bool) {
		for _, side := range sides[:2] {
			for name := range side {
				if !yield(name) {
					return
				}
			}
		}
	})
	for _, name := range names {
		was, will, is, at := sides[0][name], sides[1][name], sides[2][name], path.Join(at, name)
		_, err := root.Lstat(at)
		switch {
		case was == will:
		case is == was && (!was.Hash.IsZero() || errors.Is(err, fs.ErrNotExist)), is == will && !will.Hash.IsZero():
		case is.Mode == filemode.Dir && within(was) && within(will):
			if err := r.untouched(root, was.Hash, will.Hash, is.Hash, at); err != nil {
				return err
			}
		default:
			return fmt.Errorf("%w: %q was changed and not committed", ErrConflict, at)
		}
	}
	return nil
}

// within reports whether an entry is a directory, or not there.
func within(e object.TreeEntry) bool { return e.Mode == filemode.Dir || e.Hash.IsZero() }

// push has the server make or move a reference.
func (c *Connection) push(ctx context.Context, r *Repository, command *packp.Command) (err error) {
	over, endpoint, auth, err := c.remote.transport()
	if err != nil {
		return err
	}
	session, err := over.NewReceivePackSession(endpoint, auth)
	if err != nil {
		return c.remote.explain(ctx, "pushing to", err)
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	offered, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		return c.remote.explain(ctx, "pushing to", err)
	}
	asked := packp.NewReferenceUpdateRequestFromCapabilities(offered.Capabilities)
	asked.Commands = []*packp.Command{command}
	made, err := r.missing(ctx, c, command.New)
	if err != nil {
		return err
	}
	var pack bytes.Buffer
	if _, err := packfile.NewEncoder(&pack, r.store, false).Encode(made, 0); err != nil {
		return fmt.Errorf("packing commit %s: %w", command.New, err)
	}
	asked.Packfile = io.NopCloser(&pack)
	report, err := session.ReceivePack(ctx, asked)
	switch {
	case err == nil && report != nil:
		err = report.Error()
	case err == nil && offered.Capabilities.Supports(capability.ReportStatus):
		err = errors.New("the server does not say what became of the push")
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil, errors.Is(err, transport.ErrAuthenticationRequired), errors.Is(err, transport.ErrAuthorizationFailed), errors.Is(err, transport.ErrRepositoryNotFound):
		return c.remote.explain(ctx, "pushing to", err)
	}
	return fmt.Errorf("%w: %w", ErrRejected, c.remote.explain(ctx, "pushing to", err))
}

// missing are the objects of a commit, and of those before it, that the server does not have.
func (r *Repository) missing(ctx context.Context, c *Connection, head plumbing.Hash) ([]plumbing.Hash, error) {
	known := map[plumbing.Hash]bool{r.record.Base: true, plumbing.ZeroHash: true}
	for _, hash := range c.refs {
		known[hash] = true
	}
	p := &packing{Repository: r, ctx: ctx, known: known, left: int64(maxPack)}
	next := []plumbing.Hash{head}
	for len(next) > 0 {
		hash := next[len(next)-1]
		next = next[:len(next)-1]
		if known[hash] {
			continue
		}
		commit, err := r.commit(hash)
		if err != nil {
			return nil, err
		}
		p.add(hash)
		var before plumbing.Hash
		for i, parent := range commit.ParentHashes {
			next = append(next, parent)
			if c, err := object.GetCommit(r.store, parent); err == nil && i == 0 {
				before = c.TreeHash
			}
		}
		if err := p.dir(before, commit.TreeHash); err != nil {
			return nil, err
		}
	}
	return p.made, nil
}

// packing collects objects.
type packing struct {
	*Repository
	ctx   context.Context
	known map[plumbing.Hash]bool
	made  []plumbing.Hash
	left  int64
}

func (p *packing) add(hash plumbing.Hash) {
	p.known[hash] = true
	p.made = append(p.made, hash)
}

// dir collects what a directory has and another one does not.
func (p *packing) dir(before, after plumbing.Hash) error {
	if before == after || p.known[after] {
		return nil
	}
	if p.ctx.Err() != nil {
		return context.Cause(p.ctx)
	}
	was, err := p.entries(before)
	if err != nil {
		return err
	}
	is, err := p.entries(after)
	if err != nil {
		return err
	}
	p.add(after)
	old := map[string]object.TreeEntry{}
	for _, entry := range was {
		old[entry.Name] = entry
	}
	for _, entry := range is {
		then := old[entry.Name]
		switch {
		case entry.Hash == then.Hash, entry.Mode == filemode.Submodule, p.known[entry.Hash]:
		case entry.Mode == filemode.Dir:
			var from plumbing.Hash
			if then.Mode == filemode.Dir {
				from = then.Hash
			}
			if err := p.dir(from, entry.Hash); err != nil {
				return err
			}
		default:
			size, err := p.store.EncodedObjectSize(entry.Hash)
			if err != nil {
				return fmt.Errorf("reading file %s: %w", entry.Hash, err)
			}
			if p.left -= size; p.left < 0 {
				return fmt.Errorf("%w: the commits have more than %d bytes", errLarge, maxPack)
			}
			p.add(entry.Hash)
		}
	}
	return nil
}
