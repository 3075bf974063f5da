package source

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/storage/memory"
)

// History is a part of the history of a repository, in memory: commits and annotated tags, with their directories if they were wanted. The content of
// files is left out where the server can do that.
type History struct{ store *memory.Storage }

// HistoryOptions say which part of a history is fetched.
type HistoryOptions struct {
	// Wants are the IDs of commits and annotated tags that the server lists.
	Wants []string
	// Depth is how many commits in a row are fetched from each.
	Depth int
	// Trees also fetches directories, which Changes needs.
	Trees bool
}

// Commit is a commit without its files.
type Commit struct {
	// ID and Parent are hashes; Parent is that of the first parent, and empty if there is none.
	ID, Parent string
	// Author and Committer have the form "NAME <ADDRESS>".
	Author, Committer string
	// Subject is the first paragraph of the message, in one line.
	Subject string
	// Date is when it was committed.
	Date time.Time
}

// Annotation is what an annotated tag says of itself.
type Annotation struct {
	// Tagger has the form "NAME <ADDRESS>".
	Tagger string
	// Subject is the first paragraph of the message, in one line.
	Subject string
	// Date is when it was tagged.
	Date time.Time
}

// FetchHistory fetches a part of the history of a repository. No error holds a credential.
func FetchHistory(ctx context.Context, o GitOptions, part HistoryOptions) (*History, error) {
	h := &History{store: memory.NewStorage()}
	err := o.visit(ctx, func(ctx context.Context, r *remote) error {
		if err := r.history(ctx, part, h.store); err != nil {
			return r.explain(ctx, err)
		}
		return nil
	})
	return h, err
}

// history asks for objects by their IDs, and stores what comes.
func (r *remote) history(ctx context.Context, part HistoryOptions, into *memory.Storage) (err error) {
	session, err := r.session()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	offered, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		return err
	}
	asked, err := part.request(offered.Capabilities)
	if err != nil {
		return err
	}
	answer, err := session.UploadPack(ctx, asked)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, answer.Close()) }()
	return unpackObjects(sentPack(asked, answer), into)
}

// request is for commits, with as little beside them as the server can do.
func (part *HistoryOptions) request(can *capability.List) (*packp.UploadPackRequest, error) {
	asked := packp.NewUploadPackRequestFromCapabilities(can)
	for _, id := range part.Wants {
		asked.Wants = append(asked.Wants, plumbing.NewHash(id))
	}
	asked.Depth = packp.DepthCommits(part.Depth)
	wanted := []capability.Capability{capability.Shallow, capability.NoProgress}
	if can.Supports(capability.Filter) {
		wanted = append(wanted, capability.Filter)
		asked.Filter = packp.FilterTreeDepth(0)
		if part.Trees {
			asked.Filter = packp.FilterBlobNone()
		}
	}
	for _, c := range wanted {
		if err := asked.Capabilities.Set(c); err != nil {
			return nil, err
		}
	}
	return asked, nil
}

// Commit returns a commit, if it was fetched.
func (h *History) Commit(id string) (Commit, bool) {
	c, err := object.GetCommit(h.store, plumbing.NewHash(id))
	if err != nil {
		return Commit{}, false
	}
	found := Commit{ID: id, Author: person(c.Author), Committer: person(c.Committer), Subject: subject(c.Message), Date: c.Committer.When}
	if len(c.ParentHashes) > 0 {
		found.Parent = c.ParentHashes[0].String()
	}
	return found, true
}

// Annotation returns what an annotated tag says, if the ID is that of one which was fetched.
func (h *History) Annotation(id string) (Annotation, bool) {
	t, err := object.GetTag(h.store, plumbing.NewHash(id))
	if err != nil {
		return Annotation{}, false
	}
	return Annotation{Tagger: person(t.Tagger), Subject: subject(t.Message), Date: t.Tagger.When}, true
}

func person(s object.Signature) string { return fmt.Sprintf("%s <%s>", s.Name, s.Email) }

func subject(message string) string {
	first, _, _ := strings.Cut(strings.TrimLeft(message, "\n"), "\n\n")
	return strings.Join(strings.Fields(first), " ")
}

// maxChanges bounds the entries of directories that one comparison reads: directories that hold each other several times have more than could be read.
const maxChanges = 500_000

// Changes calls visit with the paths of files that differ between a commit and its first parent, until that returns false. Both must have been fetched
// with their directories.
func (h *History) Changes(id string, visit func(path string) bool) error {
	c, err := object.GetCommit(h.store, plumbing.NewHash(id))
	if err != nil {
		return fmt.Errorf("reading commit %s: %w", id, err)
	}
	before := plumbing.ZeroHash
	if len(c.ParentHashes) > 0 {
		parent, err := object.GetCommit(h.store, c.ParentHashes[0])
		if err != nil {
			return fmt.Errorf("reading commit %s, the parent of %s: %w", c.ParentHashes[0], id, err)
		}
		before = parent.TreeHash
	}
	w := comparison{history: h, visit: visit, left: maxChanges}
	if err := w.directory(before, c.TreeHash, ""); err != nil && !errors.Is(err, errEnough) {
		return fmt.Errorf("comparing commit %s with its parent: %w", id, err)
	}
	return nil
}

// errEnough ends a comparison early.
var errEnough = errors.New("enough was seen")

type comparison struct {
	history *History
	visit   func(path string) bool
	left    int
}

// directory compares two states of a directory; a zero hash is one that is not there.
func (w *comparison) directory(before, after plumbing.Hash, at string) error {
	if before == after {
		return nil
	}
	was, err := w.entries(before, at)
	if err != nil {
		return err
	}
	is, err := w.entries(after, at)
	if err != nil {
		return err
	}
	for name, now := range is {
		if err := w.entry(was[name], now, at+name); err != nil {
			return err
		}
		delete(was, name)
	}
	for name, then := range was {
		if err := w.entry(then, object.TreeEntry{}, at+name); err != nil {
			return err
		}
	}
	return nil
}

// entry compares two states of a name, either of which may be a directory.
func (w *comparison) entry(before, after object.TreeEntry, at string) error {
	if before.Hash == after.Hash && before.Mode == after.Mode {
		return nil
	}
	var was, is plumbing.Hash
	if before.Mode == filemode.Dir {
		was = before.Hash
	}
	if after.Mode == filemode.Dir {
		is = after.Hash
	}
	file := !before.Hash.IsZero() && before.Mode != filemode.Dir || !after.Hash.IsZero() && after.Mode != filemode.Dir
	if file && !w.visit(at) {
		return errEnough
	}
	return w.directory(was, is, at+"/")
}

func (w *comparison) entries(tree plumbing.Hash, at string) (map[string]object.TreeEntry, error) {
	if tree.IsZero() {
		return nil, nil
	}
	if len(at) > maxPath {
		return nil, fmt.Errorf("path %q... has more than %d bytes", at[:64], maxPath)
	}
	t, err := object.GetTree(w.history.store, tree)
	if err != nil {
		return nil, fmt.Errorf("reading directory %q: %w", at, err)
	}
	if w.left -= len(t.Entries); w.left < 0 {
		return nil, fmt.Errorf("more than %d entries of directories differ", maxChanges)
	}
	entries := make(map[string]object.TreeEntry, len(t.Entries))
	for _, e := range t.Entries {
		entries[e.Name] = e
	}
	return entries, nil
}

// ListedTag is a tag that a server lists.
type ListedTag struct {
	// Name of the tag, without "refs/tags/".
	Name string
	// ID is that of the annotated tag, or of the commit if it has no annotation; Commit is that of the commit.
	ID, Commit string
}

// Head is the commit at the end of a branch; an empty name is the default branch.
func (l *References) Head(branch string) (id string, found bool) {
	name := plumbing.HEAD
	if branch != "" {
		name = plumbing.NewBranchReferenceName(branch)
	}
	t, err := l.known.find(target{reference: name})
	return t.hash.String(), err == nil
}

// Tags are those that the server lists, by their names.
func (l *References) Tags() []ListedTag {
	var tags []ListedTag
	for name, ref := range l.known {
		short, is := strings.CutPrefix(string(name), "refs/tags/")
		if !is || strings.HasSuffix(short, "^{}") || ref.Type() != plumbing.HashReference {
			continue
		}
		tag := ListedTag{Name: short, ID: ref.Hash().String(), Commit: ref.Hash().String()}
		if peeled, annotated := l.known[name+"^{}"]; annotated {
			tag.Commit = peeled.Hash().String()
		}
		tags = append(tags, tag)
	}
	slices.SortFunc(tags, func(a, b ListedTag) int { return strings.Compare(a.Name, b.Name) })
	return tags
}

// listOver asks for references.
func (r *remote) listOver(ctx context.Context) (known references, err error) {
	session, err := r.session()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	offered, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		return nil, err
	}
	all, err := offered.AllReferences()
	if err != nil {
		return nil, err
	}
	known = make(references, len(all))
	for name, ref := range all {
		known[name] = ref
	}
	for name, hash := range offered.Peeled {
		known[plumbing.ReferenceName(name+"^{}")] = plumbing.NewHashReference(plumbing.ReferenceName(name+"^{}"), hash)
	}
	return known, nil
}
