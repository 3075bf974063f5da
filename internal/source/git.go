package source

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/headgate-dev/headgate/internal/egress"
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
// branch that Flux assumes.
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
	// HTTP, when set, sends the requests over http(s), instead of a client that goes by Egress.
	HTTP *http.Client
	// Egress is where the server may be, and the servers of submodules. Without rules, that is anywhere: for what a person asks for by hand.
	Egress egress.Rules
	Ref    GitRef
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
	// Tag is the Signatures.TagID of the previous revision, if that counts: another tag of the same commit is another revision
	// then.
	Tag *string
	// Listed, when set, is what the server has: it is not asked again.
	Listed *References
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
	// Verified says which signatures were verified, Signatures what there is to verify.
	Verified   []string
	Signatures *Signatures
	// Unchanged is set when the revision is the previous one; nothing was downloaded then.
	Unchanged bool
	// Transferred is set when the server sent the commit, which it did not if the clone had it.
	Transferred bool
}

// FetchGit fetches the selected commit, unless that is the previous revision: a caller gives one only
// when the options, and what is included, are those of then. Files that the previous tree has too are
// shared with it. No error holds a credential.
func FetchGit(ctx context.Context, o GitOptions, previousRevision string, previous *Tree) (*GitResult, error) {
	var got *GitResult
	err := o.visit(ctx, func(ctx context.Context, r *remote) error {
		t, err := r.resolve(ctx)
		switch {
		case err != nil:
			return err
		case previous != nil && o.same(t, previousRevision):
			got = &GitResult{Revision: previousRevision, Tree: previous, Unchanged: true}
			return nil
		}
		got, err = r.download(ctx, t, previous)
		return err
	})
	return got, err
}

// ListGit asks for the references of a repository. No error holds a credential.
func ListGit(ctx context.Context, o GitOptions) (*References, error) {
	var listed *References
	err := o.visit(ctx, func(ctx context.Context, r *remote) error {
		known, err := r.list(ctx)
		listed = &References{known}
		return err
	})
	return listed, err
}

// Unchanged reports whether a fetch would find the previous revision, and that without a request.
func (o *GitOptions) Unchanged(previousRevision string, previous *Tree) bool {
	if previous == nil || o.Listed == nil && o.Ref.Commit == "" {
		return false
	}
	var known references
	if o.Listed != nil {
		known = o.Listed.known
	}
	t, err := known.target(o.Ref)
	return err == nil && o.same(t, previousRevision)
}

// same reports whether what is selected is the previous revision.
func (o *GitOptions) same(t target, previousRevision string) bool {
	return t.revision() == previousRevision && (o.Tag == nil || t.tag() == *o.Tag)
}

// visit logs in, for as long as the timeout allows.
func (o GitOptions) visit(ctx context.Context, do func(context.Context, *remote) error) error {
	o.Timeout = Deadline(o.Timeout)
	ctx, cancel := context.WithTimeoutCause(ctx, o.Timeout, fmt.Errorf("timed out after %s", o.Timeout))
	defer cancel()
	if o.App != nil {
		if err := o.App.login(ctx, &o); err != nil {
			return err
		}
	}
	r, err := newRemote(o)
	if err != nil {
		return err
	}
	if err := r.permitted(ctx); err != nil {
		return err
	}
	defer r.close()
	err = do(ctx, r)
	if o.App != nil && errors.Is(err, ErrAuth) {
		o.App.forget()
	}
	return err
}

// resolve selects a commit, and asks the server for its references where that needs them.
func (r *remote) resolve(ctx context.Context) (target, error) {
	ref := r.options.Ref
	switch {
	case ref.Commit != "":
		return commitTarget(ref)
	case r.options.Listed != nil:
		return r.options.Listed.known.target(ref)
	}
	known, err := r.list(ctx)
	if err != nil {
		return target{}, err
	}
	return known.target(ref)
}

// list asks the server for its references.
func (r *remote) list(ctx context.Context) (references, error) {
	known, err := r.listOver(ctx)
	if err != nil {
		return nil, r.explain(ctx, err)
	}
	return known, nil
}
