package helm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/release"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage"
	"helm.sh/helm/v4/pkg/storage/driver"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/helm/plan"
)

// defaultTimeout bounds each hook of an action that says nothing else, as in Flux.
const defaultTimeout = 5 * time.Minute

// ErrNotFound reports that the storage has no release of the name.
var ErrNotFound = driver.ErrReleaseNotFound

// Client carries out actions on releases whose records are in one namespace, as one account. It is
// safe for concurrent use: actions on different releases run in parallel, those on one follow each
// other.
type Client struct {
	connection *connection
	turns      *turns
	namespace  string
	// known are the records of releases, when they are remembered, and written what their actions wrote.
	known   map[string][]*releasev1.Release
	written *[]*unstructured.Unstructured
	// guard is nil where no one is asked.
	guard Guard
}

// New returns a Client that keeps its records in a namespace. It asks the cluster nothing.
func New(config *rest.Config, storageNamespace string) (*Client, error) {
	setUp()
	c, err := connect(config)
	if err != nil {
		return nil, fmt.Errorf("preparing a client for Helm: %w", err)
	}
	return &Client{connection: c, turns: newTurns(), namespace: storageNamespace}, nil
}

// In returns a Client with another storage namespace, which shares the connection with this one.
func (c *Client) In(storageNamespace string) *Client {
	out := *c
	out.namespace = storageNamespace
	return &out
}

// Remembering returns a Client for one pass over a release: it asks for the records once, and again only
// after each action of its own. It is not for concurrent use.
func (c *Client) Remembering() *Client {
	out := *c
	out.known, out.written = map[string][]*releasev1.Release{}, &[]*unstructured.Unstructured{}
	return &out
}

// Written returns the objects that the actions of a remembering Client wrote, as the server had them then, in
// order: watchers may not have seen that yet.
func (c *Client) Written() []*unstructured.Unstructured {
	if c.written == nil {
		return nil
	}
	return *c.written
}

// Invalidate makes the next action ask what the cluster serves. It is for when a kind becomes served,
// or no longer is; what is remembered is some seconds old at most anyway.
func (c *Client) Invalidate() { c.connection.forget() }

// Mark changes whenever the records of a release do, by whomever, and costs no request. It is not ok
// while that is unknown, or if the account may not watch Secrets. It may be behind for a moment.
func (c *Client) Mark(name string) (mark string, ok bool) {
	return c.connection.mark(c.namespace, name)
}

// Close ends what the Client, and those that it shares a connection with, watch. Nothing else ends.
func (c *Client) Close() { c.connection.close() }

// store is Helm's storage. Its writes are not tied to the context of an action, so that an action
// which is cancelled can still record its end.
func (c *Client) store() *storage.Storage {
	secrets := driver.NewSecrets(c.connection.storage.CoreV1().Secrets(c.namespace))
	secrets.SetLogger(slog.DiscardHandler)
	s := storage.Init(secrets)
	s.SetLogger(slog.DiscardHandler)
	return s
}

// running is one action in progress.
type running struct {
	*action.Configuration
	ctx     context.Context
	cluster *cluster
	written *written
}

// written is a driver of Helm's storage that remembers what an action created and changed.
type written struct {
	driver.Driver
	ctx              context.Context
	client           *Client
	created, changed map[int]bool
	// lost says for each revision why it could not be stored as it is now, of which Helm says nothing.
	lost map[int]error
}

// Create stores a new revision.
func (w *written) Create(key string, r release.Releaser) error {
	if err := w.claim(r); err != nil {
		return err
	}
	err := w.Driver.Create(key, r)
	if made, ok := r.(*releasev1.Release); ok && err == nil {
		w.created[made.Version], w.changed[made.Version] = true, true
	}
	return err
}

// Update stores a revision again.
func (w *written) Update(key string, r release.Releaser) error {
	err := w.Driver.Update(key, r)
	if made, ok := r.(*releasev1.Release); ok {
		w.changed[made.Version] = true
		w.lost[made.Version] = err
	}
	return err
}

// Delete deletes a revision.
func (w *written) Delete(key string) (release.Releaser, error) {
	r, err := w.Driver.Delete(key)
	if gone, ok := r.(*releasev1.Release); ok && err == nil {
		delete(w.lost, gone.Version)
	}
	return r, err
}

// failure is why the records are not what they have to be.
func (w *written) failure() error {
	if err := errors.Join(slices.Collect(maps.Values(w.lost))...); err != nil {
		return fmt.Errorf("recording the result: %w", err)
	}
	return nil
}

// act runs one action when it is the release's turn. It returns what the storage holds of the release
// afterwards, also when the action failed, and whether the action made that revision. An action that
// ends in the middle leaves no lock behind; one that another program holds is left to it.
func (c *Client) act(ctx context.Context, name, namespace string, do func(*running) error) (s plan.Snapshot, made bool, err error) {
	done, err := c.turns.take(ctx, c.namespace+"/"+name)
	if err != nil {
		return s, false, fmt.Errorf("waiting for another action on release %s/%s: %w", c.namespace, name, err)
	}
	defer done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	g := &getter{connection: c.connection, ctx: ctx, namespace: namespace}
	r := &running{
		Configuration: action.NewConfiguration(action.ConfigurationSetLogger(slog.DiscardHandler)),
		ctx:           ctx, cluster: newCluster(g, c.guard),
	}
	r.RESTClientGetter, r.KubeClient, r.Releases = g, r.cluster, c.store()
	r.written = &written{ctx: ctx, client: c, Driver: r.Releases.Driver, created: map[int]bool{}, changed: map[int]bool{}, lost: map[int]error{}}
	r.Releases.Driver = r.written
	if r.Capabilities, err = c.connection.capabilities(); err != nil {
		return s, false, err
	}
	c.forget(name)
	if err = do(r); err == nil {
		err = r.written.failure()
	}
	if c.written != nil {
		*c.written = append(*c.written, r.cluster.written...)
	}
	all, allErr := c.releases(context.WithoutCancel(ctx), name)
	if allErr != nil || len(all) == 0 {
		return s, false, errors.Join(err, allErr)
	}
	last := all[0]
	if err != nil && unfinished(last) && r.written.changed[last.Version] {
		err = errors.Join(err, fail(r.Releases, last, err.Error()))
	}
	return snapshot(last), r.written.created[last.Version], err
}

// detached is a context for Helm, which returns at once when its context ends and works on behind
// our back. What ends the work is that its requests fail.
func (r *running) detached() context.Context { return context.WithoutCancel(r.ctx) }

// readable is what templates look things up in.
func (r *running) readable() *rest.Config {
	config, err := r.RESTClientGetter.ToRESTConfig()
	if err != nil {
		return nil
	}
	return config
}

// cause adds why an action ended early.
func (r *running) cause(err error) error {
	if err != nil && r.ctx.Err() != nil {
		return fmt.Errorf("%w: %w", context.Cause(r.ctx), err)
	}
	return err
}

func lastOf(s *storage.Storage, name string) (*releasev1.Release, error) {
	last, err := s.Last(name)
	if err != nil {
		return nil, err
	}
	found, ok := last.(*releasev1.Release)
	if !ok {
		return nil, fmt.Errorf("reading release %q: unsupported type %T", name, last)
	}
	return found, nil
}

func timeoutOr(given time.Duration) time.Duration {
	if given > 0 {
		return given
	}
	return defaultTimeout
}
