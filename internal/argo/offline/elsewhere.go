package offline

import (
	"context"
	"fmt"
	"sync"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/feeds"
	"github.com/headgate-dev/headgate/internal/argo/manifests"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/feed"
	"github.com/headgate-dev/headgate/internal/source"
)

// Network fetches sources as the engine does, each once. It is safe for concurrent use.
type Network struct {
	feeds   *feeds.Feeds
	remotes *feed.Feed
	stop    context.CancelFunc

	mu      sync.Mutex
	wanted  []feeds.Key
	changed chan struct{}
}

// NewNetwork returns a Network with the logins of settings; files that are too large for memory go below spill. Close
// ends it.
func NewNetwork(ctx context.Context, s settings.Settings, rewrites source.Rewrites, spill string) *Network {
	ctx, stop := context.WithCancel(ctx)
	n := &Network{stop: stop, remotes: feed.New(), changed: make(chan struct{})}
	n.feeds = feeds.New(ctx, feeds.Config{
		Settings: func() settings.Settings { return s }, Local: func(string) (source.Local, bool) { return source.Local{}, false },
		Rewrites: rewrites, SpillDir: spill, Remotes: n.remotes, Changed: func(feeds.Key) { n.wake() },
	})
	return n
}

// Close ends what is being fetched.
func (n *Network) Close() {
	n.stop()
	n.feeds.Wait()
	n.remotes.Wait()
}

// wake tells everybody who waits that something came.
func (n *Network) wake() {
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.changed)
	n.changed = make(chan struct{})
}

// Source fetches a source, and waits for it.
func (n *Network) Source(ctx context.Context, spec v1alpha1.ApplicationSource, project string) (manifests.Source, error) {
	key := feeds.KeyOf(spec, project)
	n.mu.Lock()
	n.wanted = append(n.wanted, key)
	n.feeds.Want("offline", n.wanted)
	n.mu.Unlock()
	for {
		n.mu.Lock()
		changed := n.changed
		n.mu.Unlock()
		state := n.feeds.Get(key)
		switch {
		case state.Has():
			return manifests.Source{Spec: spec, Tree: state.Tree, Chart: state.Chart, Revision: state.Revision}, nil
		case state.Settled:
			return manifests.Source{}, state.Err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return manifests.Source{}, fmt.Errorf("fetching: %w", context.Cause(ctx))
		}
	}
}

// Charts fetches charts for an AppProject.
func (n *Network) Charts(project string, permission feeds.Permission) manifests.Charts {
	return n.feeds.Charts(project, permission)
}
