package source

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"
)

// maxNew bounds the bytes of what is new, which is taken in by way of memory. What is larger is fetched
// into a new clone.
const maxNew = 16 << 20

// fetchNew fetches a reference into a clone that has other commits, and transfers only the objects that those
// do not have.
//
// Remote.Fetch of the library cannot: it does not ask for a thin pack, and for a shallow clone Git knows
// what is new from what is known only in thin ones, so that a server sends all of the commit. Without a
// depth it would send the history. The request here is that of git itself, and its answer is read by the
// library's parser, which finds in the clone what a thin pack refers to.
func (r *remote) fetchNew(ctx context.Context, repo *git.Repository, kept *Clone, t target) (err error) {
	session, err := r.session()
	if err != nil {
		return r.explain(ctx, err)
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	offered, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		return r.explain(ctx, err)
	}
	refs, err := offered.AllReferences()
	if err != nil {
		return r.explain(ctx, err)
	}
	ref, err := storer.ResolveReference(refs, t.reference)
	if err != nil {
		return fmt.Errorf("fetching %q: %w", r.url, ErrReference)
	}
	if _, held := kept.held[ref.Hash()]; !held {
		kept.fetches++
		if err := r.takeNew(ctx, repo, session, offered.Capabilities, ref.Hash()); err != nil {
			return r.explain(ctx, err)
		}
	}
	return repo.Storer.SetReference(plumbing.NewHashReference(t.reference, ref.Hash()))
}

func (r *remote) session() (transport.UploadPackSession, error) {
	c, endpoint, err := r.connection()
	if err != nil {
		return nil, err
	}
	return c.NewUploadPackSession(endpoint, r.auth)
}

// connection is what sends requests, and where to.
func (r *remote) connection() (transport.Transport, *transport.Endpoint, error) {
	endpoint, err := transport.NewEndpoint(r.url)
	if err != nil {
		return nil, nil, err
	}
	if endpoint.Protocol != "ssh" {
		return githttp.NewClient(r.web), endpoint, nil
	}
	endpoint.Proxy = r.proxy
	return gitssh.DefaultClient, endpoint, nil
}

// takeNew asks for an object by what is there, and stores what comes.
func (r *remote) takeNew(
	ctx context.Context, repo *git.Repository, session transport.UploadPackSession, can *capability.List, want plumbing.Hash,
) (err error) {
	asked := packp.NewUploadPackRequestFromCapabilities(can)
	has := r.options.Clone.newest
	asked.Wants, asked.Haves, asked.Shallows = []plumbing.Hash{want}, has, has
	asked.Depth = packp.DepthCommits(1)
	for _, c := range []capability.Capability{capability.Shallow, capability.ThinPack, capability.NoProgress} {
		if err := asked.Capabilities.Set(c); err != nil {
			return err
		}
	}
	answer, err := session.UploadPack(ctx, asked)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, answer.Close()) }()
	limited := &io.LimitedReader{R: sentPack(asked, answer), N: maxNew}
	parser, err := packfile.NewParserWithStorage(packfile.NewScanner(limited), repo.Storer)
	if err != nil {
		return err
	}
	_, err = parser.Parse()
	r.options.Clone.bytes += maxNew - limited.N
	return err
}
