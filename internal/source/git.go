package source

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
)

// Kinds of failures that a caller may want to tell apart.
var (
	// ErrURL is a URL that cannot be fetched from at all.
	ErrURL = errors.New("invalid URL")
	// ErrAuth is a server that does not let us in.
	ErrAuth = errors.New("authentication failed")
	// ErrReference is a reference that the repository does not have.
	ErrReference = errors.New("no such reference")
	// errEmpty is a repository without a commit.
	errEmpty = errors.New("the repository is empty")
)

// GitRef selects a commit: by Commit, else Name, else SemVer, else Tag, else Branch, else the
// branch "master".
type GitRef struct{ Branch, Tag, SemVer, Name, Commit string }

// GitOptions say what is fetched, and how.
type GitOptions struct {
	// URL is http, https or ssh.
	URL string
	// Username and Password, or BearerToken, are for http. Password also opens Identity.
	Username, Password, BearerToken string
	// App, when set, logs in over http(s) in their place.
	App *App
	// CAFile holds PEM certificates to trust beside the system's.
	CAFile []byte
	// ClientCert and ClientKey are PEM, for servers that ask who calls.
	ClientCert, ClientKey []byte
	// Identity is a private key for ssh, and KnownHosts are the keys of its hosts.
	Identity, KnownHosts []byte
	// Proxy is the URL of a proxy, with its credentials; empty means that of the environment.
	Proxy string
	Ref   GitRef
	// Sparse are the directories that are wanted; none means all. One that the commit does not have is
	// an error.
	Sparse []string
	// RecurseSubmodules fetches submodules too, and theirs.
	RecurseSubmodules bool
	// Include are parts of other sources that are copied in.
	Include []Inclusion
	// Verify, when set, refuses a commit that is not signed as it says.
	Verify *Verification
	// Ignore is spec.ignore of Flux; nil means its defaults.
	Ignore *string
	// Clone, when set, keeps what is fetched for the next fetch.
	Clone *Clone
	// Timeout is one minute when zero.
	Timeout time.Duration
	// SpillDir keeps files that are too large for memory; when it is empty nothing is.
	SpillDir string
}

// GitResult is what a fetch found.
type GitResult struct {
	// Revision is "branch@sha1:hash", "tag@sha1:hash", "refs/…@sha1:hash" or "sha1:hash".
	Revision      string
	Tree          *Tree
	CommitMessage string
	// Verified says which signatures were verified.
	Verified []string
	// Unchanged is set when the revision is the previous one; nothing was downloaded then.
	Unchanged bool
}

const defaultTimeout = time.Minute

// FetchGit fetches the selected commit, unless that is the previous revision: a caller gives one only
// when the options, and what is included, are those of then. Files that the previous tree has too are
// shared with it. No error holds a credential.
func FetchGit(ctx context.Context, o GitOptions, previousRevision string, previous *Tree) (*GitResult, error) {
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.Timeout, fmt.Errorf("timed out after %s", o.Timeout))
	defer cancel()
	if o.App == nil {
		return fetchGit(ctx, o, previousRevision, previous)
	}
	if err := o.App.login(ctx, &o); err != nil {
		return nil, err
	}
	got, err := fetchGit(ctx, o, previousRevision, previous)
	if errors.Is(err, ErrAuth) {
		o.App.forget()
	}
	return got, err
}

func fetchGit(ctx context.Context, o GitOptions, previousRevision string, previous *Tree) (*GitResult, error) {
	r, err := newRemote(o)
	if err != nil {
		return nil, err
	}
	t, err := r.resolve(ctx)
	if err != nil {
		return nil, err
	}
	if previous != nil && t.revision() == previousRevision {
		return &GitResult{Revision: previousRevision, Tree: previous, Unchanged: true}, nil
	}
	return r.download(ctx, t, previous)
}

// resolve selects a commit, and asks the server for its references where that needs them.
func (r *remote) resolve(ctx context.Context) (target, error) {
	if r.options.Ref.Commit != "" {
		return commitTarget(r.options.Ref)
	}
	known, err := r.list(ctx)
	if err != nil {
		return target{}, err
	}
	t, err := selectRef(r.options.Ref, known)
	if err != nil {
		return t, err
	}
	if t.hash, t.reference, err = known.find(t.reference); err != nil {
		return t, err
	}
	return t, nil
}

// list asks the server for its references.
func (r *remote) list(ctx context.Context) (references, error) {
	asked := git.NewRemote(nil, &config.RemoteConfig{Name: "origin", URLs: []string{r.url}})
	refs, err := asked.ListContext(ctx, &git.ListOptions{
		Auth: r.auth, CABundle: r.options.CAFile, ClientCert: r.options.ClientCert, ClientKey: r.options.ClientKey,
		ProxyOptions: r.proxy, PeelingOption: git.AppendPeeled,
	})
	if err != nil {
		return nil, r.explain(ctx, err)
	}
	known := make(references, len(refs))
	for _, ref := range refs {
		known[ref.Name()] = ref
	}
	return known, nil
}

// references are what a server lists.
type references map[plumbing.ReferenceName]*plumbing.Reference

// find returns the commit that a reference names, and the name under which it can be fetched.
func (known references) find(name plumbing.ReferenceName) (plumbing.Hash, plumbing.ReferenceName, error) {
	ref, ok := known[name]
	if ok && ref.Type() == plumbing.SymbolicReference {
		name = ref.Target()
		ref, ok = known[name]
	}
	if !ok || ref.Type() != plumbing.HashReference {
		return plumbing.ZeroHash, name, fmt.Errorf("%w: the repository has no %q", ErrReference, name)
	}
	// An annotated tag is an object of its own; the commit that it names is listed beside it.
	if peeled, ok := known[name+"^{}"]; ok {
		ref = peeled
	}
	return ref.Hash(), name, nil
}
