package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// downloadInto has a commit in the repository of a clone, and reads its files.
func (r *remote) downloadInto(ctx context.Context, kept *Clone, t target, previous *Tree) (*GitResult, error) {
	if r.nesting == 0 {
		r.quota = newQuota()
	}
	repo, err := openBounded(kept.dir, r.quota)
	if err != nil {
		return nil, fmt.Errorf("opening the repository to fetch into: %w", err)
	}
	if !t.full {
		// No name gets in the way of one that is fetched later, such as a branch of one below it.
		defer func() { _ = repo.Storer.RemoveReference(t.reference) }()
	}
	held := kept.holds(t)
	if err := r.get(ctx, repo, kept, t); err != nil {
		return nil, err
	}
	if !t.full {
		// The reference may have moved since it was listed: what was fetched is what counts.
		if t.hash, t.offered, err = peel(repo, t.reference); err != nil {
			return nil, fmt.Errorf("fetching %q: %w", r.url, err)
		}
		kept.hold(t)
	}
	commit, err := repo.CommitObject(t.hash)
	if err != nil {
		return nil, fmt.Errorf("fetching %q: %w: commit %s", r.url, ErrReference, t.hash)
	}
	result := &GitResult{Revision: t.revision(), CommitMessage: commit.Message, Transferred: !held}
	if v := r.options.Verify; v != nil {
		if result.Verified, err = v.verify(repo, t, commit); err != nil {
			return nil, fmt.Errorf("fetching %q: %w", r.url, err)
		}
	}
	if result.Signatures, err = signaturesOf(repo, t, commit); err != nil {
		return nil, fmt.Errorf("fetching %q: %w", r.url, err)
	}
	if result.Tree, err = r.read(ctx, commit, previous); err != nil {
		return nil, fmt.Errorf("reading commit %s of %q: %w", t.hash, r.url, err)
	}
	return result, nil
}

// get has a commit in a repository: as it is there, by what is new, or as a whole.
func (r *remote) get(ctx context.Context, repo *git.Repository, kept *Clone, t target) error {
	switch {
	case kept.holds(t) && t.full:
		return nil
	case kept.holds(t):
		return repo.Storer.SetReference(plumbing.NewHashReference(t.reference, t.offered))
	case len(kept.newest) > 0:
		return r.fetchNew(ctx, repo, kept, t)
	}
	return r.fetch(ctx, repo, t)
}

// maxTags bounds the annotated tags of annotated tags.
const maxTags = 8

// peel returns the commit that a reference names, and what the reference itself is of.
func peel(repo *git.Repository, name plumbing.ReferenceName) (commit, offered plumbing.Hash, err error) {
	ref, err := repo.Reference(name, true)
	if err != nil {
		return plumbing.ZeroHash, plumbing.ZeroHash, fmt.Errorf("%w: %q", ErrReference, name)
	}
	commit = ref.Hash()
	for range maxTags {
		tag, err := repo.TagObject(commit)
		if err != nil {
			return commit, ref.Hash(), nil
		}
		commit = tag.Target
	}
	return commit, ref.Hash(), fmt.Errorf("%w: %q is a tag of a tag", ErrReference, name)
}

// blob is a file or a symbolic link of a commit.
type blob struct {
	path  string
	entry object.TreeEntry
}

func (b blob) at() string { return b.path }

func (r *remote) read(ctx context.Context, commit *object.Commit, previous *Tree) (*Tree, error) {
	root, err := commit.Tree()
	if err != nil {
		return nil, err
	}
	blobs, modules, err := r.entries(ctx, root)
	if err != nil {
		return nil, err
	}
	if blobs, err = sparse(blobs, r.options.Sparse); err != nil {
		return nil, err
	}
	included, err := copies(r.options.Include)
	if err != nil {
		return nil, err
	}
	rules, err := r.rules(root, blobs, included)
	if err != nil {
		return nil, err
	}
	reader := &blobReader{root: root, previous: previous, keep: keeper{dir: r.options.SpillDir}, taken: &r.quota.budget}
	var files []*File
	for _, b := range blobs {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		if rules.leaveOut(b.path) {
			continue
		}
		f, err := reader.file(b)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	below, err := r.submodules(ctx, root, modules)
	if err != nil {
		return nil, err
	}
	files, err = include(append(files, below...), included, rules, &r.quota.budget)
	if err != nil {
		return nil, err
	}
	return NewTree(files)
}

// errSparse is a wanted directory that a commit does not have.
var errSparse = errors.New("no such directory")

// sparse keeps what lies in the directories that are wanted.
func sparse[T interface{ at() string }](files []T, wanted []string) ([]T, error) {
	if len(wanted) == 0 {
		return files, nil
	}
	var kept []T
	found := make([]bool, len(wanted))
	for _, f := range files {
		in := false
		for i, dir := range wanted {
			dir = strings.TrimPrefix(path.Clean("/"+dir), "/")
			if dir == "" || strings.HasPrefix(f.at(), dir+"/") {
				in, found[i] = true, true
			}
		}
		if in {
			kept = append(kept, f)
		}
	}
	for i, dir := range wanted {
		if !found[i] {
			return nil, fmt.Errorf("spec.sparseCheckout[%d]: %w %q", i, errSparse, dir)
		}
	}
	return kept, nil
}

// rules reads the rules of a commit, and of what is included.
func (r *remote) rules(root *object.Tree, blobs []blob, included []inclusion) (*rules, error) {
	files, others := map[string]blob{}, map[string]*File{}
	for _, i := range included {
		if path.Base(i.file.Path) == ignoreFile && i.file.Link == "" {
			others[i.file.Path] = i.file
		}
	}
	for _, b := range blobs {
		if path.Base(b.path) == ignoreFile && b.entry.Mode != filemode.Symlink {
			files[b.path] = b
		}
	}
	paths := slices.AppendSeq(slices.Collect(maps.Keys(files)), maps.Keys(others))
	return readRules(paths, r.options.Ignore, func(p string) ([]byte, error) {
		if f, ok := others[p]; ok {
			return f.Read()
		}
		return contents(root, files[p], inMemory)
	})
}

// maxEntries bounds what is listed of a commit, directories and ignored files included: a few
// trees that hold each other several times can name more files than any machine can list.
const maxEntries = 2_000_000

// entries lists the files and symbolic links of a commit, and its submodules.
func (r *remote) entries(ctx context.Context, root *object.Tree) (blobs, modules []blob, err error) {
	walker := object.NewTreeWalker(root, true, nil)
	defer walker.Close()
	for range maxEntries {
		name, entry, err := walker.Next()
		if errors.Is(err, io.EOF) {
			return blobs, modules, nil
		}
		if err != nil {
			return nil, nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, context.Cause(ctx)
		}
		if err := r.quota.path(name); err != nil {
			return nil, nil, err
		}
		switch entry.Mode {
		case filemode.Dir:
		case filemode.Submodule:
			modules = append(modules, blob{path: name, entry: entry})
		default:
			blobs = append(blobs, blob{path: name, entry: entry})
		}
	}
	return nil, nil, fmt.Errorf("it has more than %d entries", maxEntries)
}

// contents returns a blob that has at most limit bytes.
func contents(root *object.Tree, b blob, limit int64) ([]byte, error) {
	f, err := root.TreeEntryFile(&b.entry)
	if err != nil {
		return nil, err
	}
	if f.Size > limit {
		return nil, fmt.Errorf("it has %d bytes, more than %d", f.Size, limit)
	}
	text, err := f.Contents()
	return []byte(text), err
}

// blobReader reads blobs into files. What the previous tree has is shared with it.
type blobReader struct {
	root     *object.Tree
	previous *Tree
	keep     keeper
	taken    *budget
}

func (r *blobReader) file(b blob) (*File, error) {
	if b.entry.Mode == filemode.Symlink {
		target, err := contents(r.root, b, maxLink)
		if err != nil {
			return nil, fmt.Errorf("reading link %q: %w", b.path, err)
		}
		return NewLink(b.path, string(target)), r.taken.take(b.path, 0)
	}
	mode, err := b.entry.Mode.ToOSFileMode()
	if err != nil {
		return nil, fmt.Errorf("reading %q: %w", b.path, err)
	}
	f, err := r.root.TreeEntryFile(&b.entry)
	if errors.Is(err, errOversized) {
		return nil, fmt.Errorf("file %q: %w; exclude it by spec.ignore or a %s file", b.path, err, ignoreFile)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %q: %w", b.path, err)
	}
	if err := r.taken.take(b.path, f.Size); err != nil {
		return nil, err
	}
	content, err := f.Reader()
	if err != nil {
		return nil, fmt.Errorf("reading %q: %w", b.path, err)
	}
	defer content.Close()
	file, err := r.keep.file(b.path, mode, f.Size, content)
	if err != nil || r.previous == nil {
		return file, err
	}
	if old, ok := r.previous.File(b.path); ok && old.Digest == file.Digest && old.Mode == file.Mode {
		return old, nil
	}
	return file, nil
}
