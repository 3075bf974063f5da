// Package worktree holds checkouts of Git repositories, without the git program: it fetches objects, writes the files of a commit into a directory,
// makes commits of what is in the directory later, puts them on top of those of others, and pushes them.
//
// What is in a repository is data to it: no hook, filter, attribute or setting of one is evaluated, symbolic links are written and committed as what they
// are and never followed, and a nested repository is neither entered nor made. It refuses names that are Git's own on any file system, names that are
// one name on the file system of the directory, responses and files beyond a bound, and pushes over commits of others.
package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// Repository is what is known of a repository: objects, and what is checked out. All of it is in a directory that nothing else writes.
type Repository struct {
	dir    string
	store  *filesystem.Storage
	record record
}

// record is what is checked out.
type record struct {
	// Head is the commit of the files, and Base the last one that the server has of those below it; empty if it has none.
	Head plumbing.Hash `json:"head"`
	Base plumbing.Hash `json:"base"`
	// From is the reference that Base was fetched by.
	From plumbing.ReferenceName `json:"from,omitempty"`
	// Shallow is set where the parents of Base are not here.
	Shallow bool `json:"shallow,omitempty"`
	// Sparse are the directories that are checked out; none is all.
	Sparse []string `json:"sparse,omitempty"`
	// Moving is the commit to whose files those of Head are being changed.
	Moving plumbing.Hash `json:"moving"`
}

// recordFile is where the record is, beside the objects.
const recordFile = "checkout.json"

// Create makes a repository in a directory, which is empty.
func Create(dir string) (*Repository, error) {
	made, err := git.PlainInit(dir, true)
	if err != nil {
		return nil, fmt.Errorf("creating a repository: %w", err)
	}
	return newRepository(dir, made)
}

// Open opens the repository in a directory. One without a checkout is an error that is fs.ErrNotExist.
func Open(dir string) (*Repository, error) {
	data, err := os.ReadFile(filepath.Join(dir, recordFile))
	if err != nil {
		return nil, err
	}
	made, err := git.PlainOpen(dir)
	if err != nil {
		return nil, fmt.Errorf("opening a repository: %w", err)
	}
	r, err := newRepository(dir, made)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &r.record); err != nil {
		return nil, fmt.Errorf("reading what is checked out: %w", err)
	}
	return r, nil
}

func newRepository(dir string, made *git.Repository) (*Repository, error) {
	store, is := made.Storer.(*filesystem.Storage)
	if !is {
		return nil, fmt.Errorf("%T is not a storage on disk", made.Storer)
	}
	return &Repository{dir: dir, store: store}, nil
}

// Head is the commit of the files.
func (r *Repository) Head() string { return r.record.Head.String() }

// save replaces the record at once.
func (r *Repository) save() error {
	data, err := json.Marshal(r.record)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(r.dir, recordFile+"-")
	if err != nil {
		return fmt.Errorf("recording what is checked out: %w", err)
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), filepath.Join(r.dir, recordFile))
	}
	if err != nil {
		return fmt.Errorf("recording what is checked out: %w", err)
	}
	return nil
}

// unpack stores the objects that a server sends, once it is known how large they are.
func (r *Repository) unpack(ctx context.Context, from io.Reader) (err error) {
	file, err := os.CreateTemp(r.dir, "incoming-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	if _, err := io.Copy(file, from); err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	count, err := measure(ctx, file)
	if err != nil || count == 0 {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	into, err := r.store.PackfileWriter()
	if err != nil {
		return err
	}
	_, err = io.Copy(into, file)
	return errors.Join(err, into.Close())
}

// measure counts objects, and refuses those that are too large, alone or together: the library trusts what they say of themselves.
func measure(ctx context.Context, pack io.Reader) (count uint32, err error) {
	scanner := packfile.NewScanner(pack)
	if _, count, err = scanner.Header(); err != nil {
		return 0, err
	}
	if count > maxObjects {
		return 0, fmt.Errorf("%w: the server sends %d objects, more than %d", errLarge, count, maxObjects)
	}
	left := int64(maxUnpacked)
	add := func(size int64) error {
		if size < 0 || size > maxObject {
			return fmt.Errorf("%w: an object has more than %d bytes", errLarge, maxObject)
		}
		if left -= size; left < 0 {
			return fmt.Errorf("%w: the objects have more than %d bytes together", errLarge, int64(maxUnpacked))
		}
		return ctx.Err()
	}
	for range count {
		header, err := scanner.NextObjectHeader()
		if err != nil {
			return 0, err
		}
		if err := add(header.Length); err != nil {
			return 0, err
		}
		var start opening
		if _, _, err := scanner.NextObject(&start); err != nil {
			return 0, err
		}
		if header.Type != plumbing.OFSDeltaObject && header.Type != plumbing.REFDeltaObject {
			continue
		}
		size, err := start.target()
		if err != nil {
			return 0, err
		}
		if err := add(size); err != nil {
			return 0, err
		}
	}
	return count, nil
}

// commit reads a commit.
func (r *Repository) commit(hash plumbing.Hash) (*object.Commit, error) {
	c, err := object.GetCommit(r.store, hash)
	if err != nil {
		return nil, fmt.Errorf("reading commit %s: %w", hash, err)
	}
	return c, nil
}

// has reports whether an object is here.
func (r *Repository) has(hash plumbing.Hash) bool { return r.store.HasEncodedObject(hash) == nil }

// entries are those of a directory; a zero hash is one that is not there.
func (r *Repository) entries(tree plumbing.Hash) ([]object.TreeEntry, error) {
	if tree.IsZero() {
		return nil, nil
	}
	t, err := object.GetTree(r.store, tree)
	if err != nil {
		return nil, fmt.Errorf("reading directory %s: %w", tree, err)
	}
	return t.Entries, nil
}

// blob reads the content of a file.
func (r *Repository) blob(hash plumbing.Hash) (data []byte, err error) {
	b, err := object.GetBlob(r.store, hash)
	if err != nil {
		return nil, fmt.Errorf("reading file %s: %w", hash, err)
	}
	if b.Size > maxObject {
		return nil, fmt.Errorf("%w: a file has %d bytes, more than %d", errLarge, b.Size, maxObject)
	}
	content, err := b.Reader()
	if err != nil {
		return nil, fmt.Errorf("reading file %s: %w", hash, err)
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	return io.ReadAll(io.LimitReader(content, maxObject))
}

// keep stores a file, a directory or a commit, unless it is here.
func (r *Repository) keep(o plumbing.EncodedObject) (plumbing.Hash, error) {
	if r.has(o.Hash()) {
		return o.Hash(), nil
	}
	return r.store.SetEncodedObject(o)
}

func (r *Repository) keepBlob(data []byte) (plumbing.Hash, error) {
	o := &plumbing.MemoryObject{}
	o.SetType(plumbing.BlobObject)
	if _, err := o.Write(data); err != nil {
		return plumbing.ZeroHash, err
	}
	return r.keep(o)
}

func (r *Repository) keepObject(what object.Object) (plumbing.Hash, error) {
	o := &plumbing.MemoryObject{}
	if err := what.Encode(o); err != nil {
		return plumbing.ZeroHash, err
	}
	return r.keep(o)
}
