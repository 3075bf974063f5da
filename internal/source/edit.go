package source

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// GitEdit says what is changed in a repository, and where that is pushed to.
type GitEdit struct {
	// GitOptions say where the repository is; Ref selects the commit to begin with. What is included, ignored
	// or verified there is not read.
	GitOptions
	// Branch is pushed to. If the repository has it, it is continued; otherwise it starts at the commit.
	Branch string
	// Refspec, when set, says where the commit is pushed to besides.
	Refspec string
	// PushOptions are handed to the server.
	PushOptions map[string]string
	// AuthorName and AuthorEmail are who commits, and Sign signs, if it is set.
	AuthorName, AuthorEmail string
	Sign                    *Signer
	// Dir is the directory that is looked into; empty means all.
	Dir string
	// Wants reports whether a file is handed over, by its path and its content.
	Wants func(path string, content []byte) bool
	// Edit is handed files by their paths from the root, and returns those that change or are new and the message
	// of the commit. It may be asked again, for another commit.
	Edit func(files map[string][]byte) (changed map[string][]byte, message string, err error)
	// Previous is the result's Seen of an edit that would be the same now; nothing is fetched when the
	// repository has not moved since.
	Previous string
	// Dry has nothing committed and nothing pushed.
	Dry bool
	// Init has a repository begun that has no commit yet.
	Init bool
}

// GitEdited is what an edit came to.
type GitEdited struct {
	// Revision is that of the commit to begin with, or of the commit that was pushed when it was pushed to the
	// same branch.
	Revision string
	// Seen is what the repository had.
	Seen string
	// Commit is the hash of the commit that was pushed, and Message its message; empty when nothing changed.
	Commit, Message string
	// Unchanged is set when the repository has not moved.
	Unchanged bool
	// Large are files that were skipped because of their size.
	Large []string
}

// maxEdited bounds a file that is changed; maxTries how often a push is tried when others push too.
const (
	maxEdited = 16 << 20
	maxTries  = 5
)

// ErrPush is a push that the server did not take.
var ErrPush = errors.New("push rejected")

// EditGit changes files of a repository, and pushes them as one commit when something changed. A push goes ahead
// of what the branch has and never over it: if another commit was pushed in the meantime, the edit is repeated on
// top of it. No error holds a credential.
func EditGit(ctx context.Context, e GitEdit) (*GitEdited, error) {
	if e.Timeout == 0 {
		e.Timeout = defaultTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, e.Timeout, fmt.Errorf("timed out after %s", e.Timeout))
	defer cancel()
	if e.App != nil {
		if err := e.App.login(ctx, &e.GitOptions); err != nil {
			return nil, err
		}
	}
	done, err := e.run(ctx)
	if e.App != nil && errors.Is(err, ErrAuth) {
		e.App.forget()
	}
	return done, err
}

func (e *GitEdit) run(ctx context.Context) (*GitEdited, error) {
	var before string
	for try := 1; ; try++ {
		r, err := newRemote(e.GitOptions)
		if err != nil {
			return nil, err
		}
		p := &pusher{remote: r, edit: e}
		err = r.permitted(ctx)
		var done *GitEdited
		if err == nil {
			done, err = p.try(ctx)
		}
		r.close()
		// A server that refuses for a reason of its own would refuse again.
		if errors.Is(err, ErrPush) && try < maxTries && p.seen != before {
			before = p.seen
			continue
		}
		return done, err
	}
}

// pusher makes one attempt.
type pusher struct {
	*remote
	edit *GitEdit
	repo *git.Repository
	// known are the references of the server, seen those that matter in words.
	known references
	seen  string
	// checkout is the selected commit, base the one that is continued.
	checkout, base target
	// empty is set when the repository has no commit.
	empty bool
	// made are the objects that the server does not have.
	made []plumbing.Hash
}

func (p *pusher) try(ctx context.Context) (*GitEdited, error) {
	err := p.look(ctx)
	p.empty = p.edit.Init && errors.Is(err, errEmpty)
	if err != nil && !p.empty {
		return nil, err
	}
	if p.empty {
		branch := plumbing.NewBranchReferenceName(p.edit.Branch)
		p.checkout, p.seen = target{reference: branch, label: p.edit.Branch}, errEmpty.Error()
	}
	done := &GitEdited{Revision: p.checkout.revision(), Seen: p.seen}
	if p.seen == p.edit.Previous {
		done.Unchanged = true
		return done, nil
	}
	dir, err := os.MkdirTemp(p.options.SpillDir, tempPrefix)
	if err != nil {
		return nil, fmt.Errorf("creating a directory to fetch into: %w", err)
	}
	defer os.RemoveAll(dir)
	if p.repo, err = git.PlainInit(dir, true); err != nil {
		return nil, fmt.Errorf("creating a repository to fetch into: %w", err)
	}
	if p.empty {
		return done, p.change(ctx, nil, done)
	}
	if err := p.fetch(ctx, p.repo, p.base); err != nil {
		return nil, err
	}
	parent, err := p.repo.CommitObject(p.base.hash)
	switch {
	case err != nil && p.base.full:
		return nil, fmt.Errorf("fetching %q: %w: commit %s", p.url, ErrReference, p.base.hash)
	case err != nil:
		return nil, fmt.Errorf("fetching %q: %w: %s moved in the meantime", p.url, ErrPush, p.base.reference)
	}
	return done, p.change(ctx, parent, done)
}

// look asks the server for its references.
func (p *pusher) look(ctx context.Context) error {
	var err error
	if p.known, err = p.list(ctx); err != nil {
		return err
	}
	if p.checkout, err = p.known.target(p.options.Ref); err != nil {
		return err
	}
	p.base, p.seen = p.checkout, p.checkout.revision()
	branch := plumbing.NewBranchReferenceName(p.edit.Branch)
	if tip, has := p.known[branch]; has {
		p.base = target{reference: branch, label: p.edit.Branch, hash: tip.Hash()}
		p.seen += " " + p.base.revision()
	}
	return nil
}

// change edits, commits and pushes. There is no parent when the repository has no commit.
func (p *pusher) change(ctx context.Context, parent *object.Commit, done *GitEdited) error {
	root, files, modes := &object.Tree{}, map[string][]byte{}, map[string]filemode.FileMode{}
	if parent != nil {
		var err error
		if root, err = parent.Tree(); err == nil {
			files, modes, err = p.files(ctx, root, done)
		}
		if err != nil {
			return fmt.Errorf("reading commit %s: %w", parent.Hash, err)
		}
	}
	changed, message, err := p.edit.Edit(files)
	if err != nil || len(changed) == 0 || p.edit.Dry {
		done.Message = message
		return err
	}
	commit, err := p.commit(parent, root, changed, modes, message)
	if err != nil {
		return err
	}
	if err := p.push(ctx, commit); err != nil {
		return err
	}
	done.Commit, done.Message = commit.String(), message
	tip := target{label: p.edit.Branch, hash: commit}
	if p.checkout.reference == plumbing.NewBranchReferenceName(p.edit.Branch) {
		p.checkout.hash = commit
		done.Revision = p.checkout.revision()
	}
	done.Seen = p.checkout.revision() + " " + tip.revision()
	return nil
}

// files reads what is wanted below the directory. Links are left out: what they lead to is a file of its own.
func (p *pusher) files(ctx context.Context, root *object.Tree, done *GitEdited) (map[string][]byte, map[string]filemode.FileMode, error) {
	blobs, _, err := p.entries(ctx, root)
	if err != nil {
		return nil, nil, err
	}
	dir := strings.TrimPrefix(path.Clean("/"+p.edit.Dir), "/")
	files, modes, within := map[string][]byte{}, map[string]filemode.FileMode{}, dir == ""
	for _, b := range blobs {
		if dir != "" && !strings.HasPrefix(b.path, dir+"/") {
			continue
		}
		within = true
		if b.entry.Mode == filemode.Symlink || !p.edit.Wants(b.path, nil) {
			continue
		}
		if size, err := root.Size(b.path); err == nil && size > maxEdited {
			done.Large = append(done.Large, b.path)
			continue
		}
		content, err := contents(root, b, maxEdited)
		if err != nil {
			return nil, nil, fmt.Errorf("reading %q: %w", b.path, err)
		}
		if p.edit.Wants(b.path, content) {
			files[b.path], modes[b.path] = content, b.entry.Mode
		}
	}
	if !within {
		return nil, nil, fmt.Errorf("spec.update.path: no such directory %q", dir)
	}
	return files, modes, nil
}

// commit makes a commit of the files that changed.
func (p *pusher) commit(
	parent *object.Commit, root *object.Tree, changed map[string][]byte, modes map[string]filemode.FileMode, message string,
) (plumbing.Hash, error) {
	entries := map[string]object.TreeEntry{}
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		hash, err := p.store(plumbing.BlobObject, changed[name])
		if err != nil {
			return hash, fmt.Errorf("writing %q: %w", name, err)
		}
		mode, known := modes[name]
		if !known {
			mode = filemode.Regular
		}
		entries[name] = object.TreeEntry{Name: path.Base(name), Mode: mode, Hash: hash}
	}
	tree, err := p.tree(root, entries)
	if err != nil {
		return tree, fmt.Errorf("writing the directories of the commit: %w", err)
	}
	who := object.Signature{Name: p.edit.AuthorName, Email: p.edit.AuthorEmail, When: time.Now()}
	c := &object.Commit{Author: who, Committer: who, Message: message, TreeHash: tree}
	if parent != nil {
		c.ParentHashes = []plumbing.Hash{parent.Hash}
	}
	if p.edit.Sign != nil {
		text, err := unsigned(c)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		if c.PGPSignature, err = p.edit.Sign.sign(text); err != nil {
			return plumbing.ZeroHash, err
		}
	}
	return p.keep(c)
}

// tree makes a directory of one with other entries, and with new ones, given by their paths from it.
func (p *pusher) tree(from *object.Tree, entries map[string]object.TreeEntry) (plumbing.Hash, error) {
	below := map[string]map[string]object.TreeEntry{}
	next := &object.Tree{Entries: slices.Clone(from.Entries)}
	put := func(entry object.TreeEntry) {
		for i := range next.Entries {
			if next.Entries[i].Name == entry.Name {
				next.Entries[i] = entry
				return
			}
		}
		next.Entries = append(next.Entries, entry)
	}
	for name, entry := range entries {
		first, rest, deeper := strings.Cut(name, "/")
		if !deeper {
			put(entry)
			continue
		}
		if below[first] == nil {
			below[first] = map[string]object.TreeEntry{}
		}
		below[first][rest] = entry
	}
	for name, inner := range below {
		sub, err := from.Tree(name)
		if _, taken := from.FindEntry(name); errors.Is(err, object.ErrDirectoryNotFound) && taken != nil {
			sub, err = &object.Tree{}, nil
		}
		if err != nil {
			return plumbing.ZeroHash, fmt.Errorf("%q: %w", name, err)
		}
		hash, err := p.tree(sub, inner)
		if err != nil {
			return hash, err
		}
		put(object.TreeEntry{Name: name, Mode: filemode.Dir, Hash: hash})
	}
	slices.SortFunc(next.Entries, func(a, b object.TreeEntry) int { return strings.Compare(sortedAs(a), sortedAs(b)) })
	return p.keep(next)
}

// sortedAs is what Git sorts an entry by: directories as if their names ended in a slash.
func sortedAs(e object.TreeEntry) string {
	if e.Mode == filemode.Dir {
		return e.Name + "/"
	}
	return e.Name
}

// store writes an object, and notes that the server does not have it.
func (p *pusher) store(kind plumbing.ObjectType, data []byte) (plumbing.Hash, error) {
	o := p.repo.Storer.NewEncodedObject()
	o.SetType(kind)
	w, err := o.Writer()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	if _, err := w.Write(data); err != nil {
		return plumbing.ZeroHash, errors.Join(err, w.Close())
	}
	if err := w.Close(); err != nil {
		return plumbing.ZeroHash, err
	}
	return p.add(o)
}

// keep writes a commit or a directory.
func (p *pusher) keep(what object.Object) (plumbing.Hash, error) {
	o := p.repo.Storer.NewEncodedObject()
	if err := what.Encode(o); err != nil {
		return plumbing.ZeroHash, err
	}
	return p.add(o)
}

func (p *pusher) add(o plumbing.EncodedObject) (plumbing.Hash, error) {
	hash, err := p.repo.Storer.SetEncodedObject(o)
	if err == nil {
		p.made = append(p.made, hash)
	}
	return hash, err
}
