package source

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
)

// Kinds of failures that a caller may want to tell apart.
var (
	// ErrURL is a URL that cannot be fetched from at all.
	ErrURL = errors.New("invalid URL")
	// ErrAuth is a server that does not let us in.
	ErrAuth = errors.New("authentication failed")
	// ErrReference is a reference that the repository does not have.
	ErrReference = errors.New("no such reference")
)

// GitRef selects a commit: by Commit, else Name, else SemVer, else Tag, else Branch, else the
// branch "master".
type GitRef struct{ Branch, Tag, SemVer, Name, Commit string }

// GitOptions say what is fetched, and how.
type GitOptions struct {
	// URL is http or https.
	URL                             string
	Username, Password, BearerToken string
	// CAFile holds PEM certificates to trust beside the system's.
	CAFile []byte
	Ref    GitRef
	// Ignore is spec.ignore of Flux; nil means its defaults.
	Ignore *string
	// Timeout is one minute when zero.
	Timeout time.Duration
	// SpillDir keeps files that are too large for memory.
	SpillDir string
}

// GitResult is what a fetch found.
type GitResult struct {
	// Revision is "branch@sha1:hash", "tag@sha1:hash", "refs/…@sha1:hash" or "sha1:hash".
	Revision      string
	Tree          *Tree
	CommitMessage string
	// Unchanged is set when the revision is the previous one; nothing was downloaded then.
	Unchanged bool
}

const defaultTimeout = time.Minute

// FetchGit fetches the selected commit, unless that is the previous revision.
func FetchGit(ctx context.Context, o GitOptions, previousRevision string, previous *Tree) (*GitResult, error) {
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.Timeout, fmt.Errorf("it took longer than %s", o.Timeout))
	defer cancel()
	if err := checkURL(o.URL); err != nil {
		return nil, err
	}
	target, err := resolve(ctx, o)
	if err != nil {
		return nil, err
	}
	if previous != nil && target.revision() == previousRevision {
		return &GitResult{Revision: previousRevision, Tree: previous, Unchanged: true}, nil
	}
	return clone(ctx, o, target, previous)
}

func checkURL(text string) error {
	u, err := url.Parse(text)
	if err != nil {
		return fmt.Errorf("%w: it cannot be parsed", ErrURL)
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("%w: scheme %q is not served; use https or http", ErrURL, u.Scheme)
	}
	if u.Host == "" {
		return fmt.Errorf("%w: it names no host", ErrURL)
	}
	return nil
}

// target is a commit that was selected.
type target struct {
	// reference is what is cloned; label is how the revision names it.
	reference plumbing.ReferenceName
	label     string
	hash      plumbing.Hash
	// full asks for the whole history, since the commit need not be at its end.
	full bool
}

func (t target) revision() string {
	if t.label == "" {
		return "sha1:" + t.hash.String()
	}
	return t.label + "@sha1:" + t.hash.String()
}

// resolve asks the server for its references and selects a commit.
func resolve(ctx context.Context, o GitOptions) (target, error) {
	ref := o.Ref
	if ref.Commit != "" {
		return commitTarget(ref)
	}
	remote := git.NewRemote(nil, &config.RemoteConfig{Name: "origin", URLs: []string{o.URL}})
	refs, err := remote.ListContext(ctx, &git.ListOptions{Auth: o.auth(), CABundle: o.CAFile, PeelingOption: git.AppendPeeled})
	if err != nil {
		return target{}, o.explain(ctx, err)
	}
	known := map[plumbing.ReferenceName]plumbing.Hash{}
	for _, r := range refs {
		known[r.Name()] = r.Hash()
	}
	t, err := selectRef(ref, known)
	if err != nil {
		return t, err
	}
	hash, ok := known[t.reference]
	if !ok {
		return t, fmt.Errorf("%w: the repository has no %q", ErrReference, t.reference)
	}
	// An annotated tag is an object of its own; the commit that it names is listed beside it.
	if peeled, ok := known[t.reference+"^{}"]; ok {
		hash = peeled
	}
	t.hash = hash
	return t, nil
}

func commitTarget(ref GitRef) (target, error) {
	if !plumbing.IsHash(ref.Commit) {
		return target{}, fmt.Errorf("%w: %q is no commit hash", ErrReference, ref.Commit)
	}
	t := target{hash: plumbing.NewHash(ref.Commit), full: true}
	if ref.Branch != "" {
		t.reference, t.label = plumbing.NewBranchReferenceName(ref.Branch), ref.Branch
	}
	return t, nil
}

func selectRef(ref GitRef, known map[plumbing.ReferenceName]plumbing.Hash) (target, error) {
	switch {
	case ref.Name != "":
		return target{reference: plumbing.ReferenceName(ref.Name), label: ref.Name}, nil
	case ref.SemVer != "":
		return selectVersion(ref.SemVer, known)
	case ref.Tag != "":
		return target{reference: plumbing.NewTagReferenceName(ref.Tag), label: ref.Tag}, nil
	case ref.Branch != "":
		return target{reference: plumbing.NewBranchReferenceName(ref.Branch), label: ref.Branch}, nil
	default:
		return target{reference: plumbing.NewBranchReferenceName("master"), label: "master"}, nil
	}
}

// selectVersion selects the tag with the highest version in a range.
func selectVersion(text string, known map[plumbing.ReferenceName]plumbing.Hash) (target, error) {
	constraint, err := semver.NewConstraint(text)
	if err != nil {
		return target{}, fmt.Errorf("%w: semver range %q: %w", ErrReference, text, err)
	}
	type candidate struct {
		version *semver.Version
		tag     string
	}
	var found []candidate
	for name := range known {
		tag, ok := strings.CutPrefix(string(name), "refs/tags/")
		if !ok || strings.HasSuffix(tag, "^{}") {
			continue
		}
		if v, err := semver.NewVersion(tag); err == nil && constraint.Check(v) {
			found = append(found, candidate{v, tag})
		}
	}
	if len(found) == 0 {
		return target{}, fmt.Errorf("%w: no tag is in the semver range %q", ErrReference, text)
	}
	slices.SortFunc(found, func(a, b candidate) int {
		if c := b.version.Compare(a.version); c != 0 {
			return c
		}
		return strings.Compare(b.tag, a.tag)
	})
	return target{reference: plumbing.NewTagReferenceName(found[0].tag), label: found[0].tag}, nil
}

func (o GitOptions) auth() transport.AuthMethod {
	switch {
	case o.BearerToken != "":
		return &githttp.TokenAuth{Token: o.BearerToken}
	case o.Username != "" || o.Password != "":
		return &githttp.BasicAuth{Username: o.Username, Password: o.Password}
	default:
		return nil
	}
}

// explain words an error of the library, without the credentials that a URL may hold.
func (o GitOptions) explain(ctx context.Context, err error) error {
	where := redact(o.URL)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("fetching %q: %w", where, context.Cause(ctx))
	case errors.Is(err, transport.ErrAuthenticationRequired), errors.Is(err, transport.ErrAuthorizationFailed):
		return fmt.Errorf("fetching %q: %w", where, ErrAuth)
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return fmt.Errorf("fetching %q: there is no such repository, or its credentials do not show it", where)
	case errors.Is(err, transport.ErrEmptyRemoteRepository):
		return fmt.Errorf("fetching %q: the repository is empty", where)
	default:
		text := strings.ReplaceAll(err.Error(), o.URL, where)
		if o.Password != "" {
			text = strings.ReplaceAll(text, o.Password, "…")
		}
		return fmt.Errorf("fetching %q: %s", where, text)
	}
}

func redact(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "the repository"
	}
	return u.Redacted()
}

// clone downloads a commit into a temporary repository and reads its files.
func clone(ctx context.Context, o GitOptions, t target, previous *Tree) (*GitResult, error) {
	dir, err := os.MkdirTemp("", "headgate-git-")
	if err != nil {
		return nil, fmt.Errorf("making a directory to clone into: %w", err)
	}
	defer os.RemoveAll(dir)
	options := &git.CloneOptions{
		URL: o.URL, Auth: o.auth(), CABundle: o.CAFile, NoCheckout: true, SingleBranch: true,
		ReferenceName: t.reference, Depth: 1, Tags: git.NoTags,
	}
	if t.full {
		options.Depth = 0
		options.SingleBranch = t.reference != ""
	}
	repo, err := git.PlainCloneContext(ctx, dir, true, options)
	if err != nil {
		return nil, o.explain(ctx, err)
	}
	// The reference may have moved since it was listed: what was cloned is what counts.
	if !t.full {
		head, err := repo.ResolveRevision(plumbing.Revision(t.reference.String() + "^{commit}"))
		if err == nil {
			t.hash = *head
		}
	}
	commit, err := repo.CommitObject(t.hash)
	if err != nil {
		return nil, fmt.Errorf("fetching %q: %w: commit %s", redact(o.URL), ErrReference, t.hash)
	}
	tree, err := readCommit(ctx, commit, o, previous)
	if err != nil {
		return nil, fmt.Errorf("reading commit %s: %w", t.hash, err)
	}
	return &GitResult{Revision: t.revision(), Tree: tree, CommitMessage: commit.Message}, nil
}

func readCommit(ctx context.Context, commit *object.Commit, o GitOptions, previous *Tree) (*Tree, error) {
	root, err := commit.Tree()
	if err != nil {
		return nil, err
	}
	b := &blobs{spill: o.SpillDir, previous: previous}
	err = root.Files().ForEach(func(f *object.File) error {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		return b.add(f)
	})
	if err != nil {
		return nil, err
	}
	files, err := Filter(b.files, o.Ignore)
	if err != nil {
		return nil, err
	}
	return NewTree(files)
}
