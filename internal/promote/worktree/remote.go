package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"

	"github.com/headgate-dev/headgate/internal/redaction"
)

// Remote is a repository on a server.
type Remote struct {
	// URL is its address over HTTP, without a login.
	URL string
	// Username and Password log in; both empty is no one.
	Username, Password string
	// Client sends the requests. Its timeout does not hold: the context does.
	Client *http.Client
}

// Connection is what a server has listed, and the way to fetch it.
type Connection struct {
	remote  Remote
	session transport.UploadPackSession
	refs    map[plumbing.ReferenceName]plumbing.Hash
	can     *capability.List
	head    string
}

// ErrMissing is a branch, a tag or a commit that a repository does not have.
var ErrMissing = errors.New("not found in the repository")

func (r Remote) transport() (transport.Transport, *transport.Endpoint, transport.AuthMethod, error) {
	endpoint, err := transport.NewEndpoint(r.URL)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%w: the address cannot be parsed", ErrRefused)
	}
	client := *r.Client
	client.Timeout = 0
	next := client.Transport
	if next == nil {
		return nil, nil, nil, errors.New("there is no transport for requests to Git servers")
	}
	client.Transport = bounded{next}
	var auth transport.AuthMethod
	if r.Username != "" || r.Password != "" {
		auth = &githttp.BasicAuth{Username: r.Username, Password: r.Password}
	}
	return githttp.NewClientWithOptions(&client, &githttp.ClientOptions{RedirectPolicy: githttp.NoFollowRedirects}), endpoint, auth, nil
}

// Connect asks a server for its references. A repository without any is no error.
func (r Remote) Connect(ctx context.Context) (*Connection, error) {
	over, endpoint, auth, err := r.transport()
	if err != nil {
		return nil, err
	}
	c := &Connection{remote: r, refs: map[plumbing.ReferenceName]plumbing.Hash{}, can: capability.NewList()}
	if c.session, err = over.NewUploadPackSession(endpoint, auth); err != nil {
		return nil, r.explain(ctx, "reading", err)
	}
	offered, err := c.session.AdvertisedReferencesContext(ctx)
	switch {
	case errors.Is(err, transport.ErrEmptyRemoteRepository):
		return c, nil
	case err != nil:
		return nil, r.explain(ctx, "reading", err)
	}
	c.can = offered.Capabilities
	for name, hash := range offered.References {
		c.refs[plumbing.ReferenceName(name)] = hash
	}
	if offered.Head != nil {
		c.refs[plumbing.HEAD] = *offered.Head
	}
	for _, one := range offered.Capabilities.Get(capability.SymRef) {
		if branch, is := strings.CutPrefix(one, "HEAD:refs/heads/"); is {
			c.head = branch
		}
	}
	return c, nil
}

// Branch is the commit of a branch; empty where there is none.
func (c *Connection) Branch(name string) string {
	hash, has := c.refs[plumbing.NewBranchReferenceName(name)]
	if !has {
		return ""
	}
	return hash.String()
}

// Default is the name of the default branch; empty where the server does not say it.
func (c *Connection) Default() string { return c.head }

// IsBranch and IsTag report whether something may be the name of one.
func IsBranch(name string) bool { return plumbing.NewBranchReferenceName(name).Validate() == nil }

// IsTag reports whether something may be the name of a tag.
func IsTag(name string) bool { return plumbing.NewTagReferenceName(name).Validate() == nil }

// request says what is fetched: wants with as many commits as depth says, all of them if it is zero, without what follows from haves.
type request struct {
	wants, haves, shallows []plumbing.Hash
	depth                  int
}

// fetch stores what a server sends for a request.
func (c *Connection) fetch(ctx context.Context, into *Repository, r request) (err error) {
	asked := packp.NewUploadPackRequestFromCapabilities(c.can)
	asked.Wants, asked.Haves, asked.Shallows = r.wants, r.haves, r.shallows
	asked.Depth = packp.DepthCommits(r.depth)
	// What a server sends is complete without objects that are here.
	asked.Capabilities.Delete(capability.ThinPack)
	for _, one := range []capability.Capability{capability.NoProgress, capability.Shallow} {
		if one == capability.Shallow && r.depth == 0 && len(r.shallows) == 0 {
			continue
		}
		if err := asked.Capabilities.Set(one); err != nil {
			return err
		}
	}
	answer, err := c.session.UploadPack(ctx, asked)
	if errors.Is(err, transport.ErrEmptyUploadPackRequest) {
		return nil
	}
	if err != nil {
		return c.remote.explain(ctx, "fetching", err)
	}
	defer func() { err = errors.Join(err, answer.Close()) }()
	var pack io.Reader = answer
	switch {
	case asked.Capabilities.Supports(capability.Sideband64k):
		pack = sideband.NewDemuxer(sideband.Sideband64k, answer)
	case asked.Capabilities.Supports(capability.Sideband):
		pack = sideband.NewDemuxer(sideband.Sideband, answer)
	}
	if err := into.unpack(ctx, pack); err != nil {
		return c.remote.explain(ctx, "fetching", err)
	}
	return nil
}

// explain words an error, without the login.
func (r Remote) explain(ctx context.Context, what string, err error) error {
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s %s: %w", what, r.URL, context.Cause(ctx))
	case errors.Is(err, ErrRefused):
		return fmt.Errorf("%s %s: %w", what, r.URL, err)
	case errors.Is(err, transport.ErrAuthenticationRequired):
		return fmt.Errorf("%s %s: authentication failed: the server requires another login", what, r.URL)
	case errors.Is(err, transport.ErrAuthorizationFailed):
		return fmt.Errorf("%s %s: authorization failed: the login may not do this", what, r.URL)
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return fmt.Errorf("%s %s: the repository does not exist, or the login may not read it", what, r.URL)
	}
	return fmt.Errorf("%s %s: %s", what, r.URL, r.clear(err.Error()))
}

// clear is a text without the password.
func (r Remote) clear(text string) string {
	const most = 500
	text = redaction.NewValues(r.Password).Text(text)
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}
