package feeds

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/headgate-dev/headgate/internal/feed"
)

// chart is one that was fetched, or is being.
type chart struct {
	// ready is closed when the current fetch has ended; nil while there is none.
	ready    chan struct{}
	data     []byte
	resolved string
	err      error
	at       time.Time
	// wished is when the current fetch was requested.
	wished time.Time
	// owners are those whose last render read it. It goes with the last one.
	owners map[string]bool
}

// Listed is not waited for: a chart is fetched when it is requested.
func (*chart) Listed(feed.Listing) {}

// Permission is what a project says of repositories.
type Permission interface {
	// PermitsSource is an error where Applications of the project may not read a repository.
	PermitsSource(url string) error
}

// Charts answers for charts at once, by the credentials of an AppProject: those that it does not have are fetched
// meanwhile. It is for one render after the other.
type Charts struct {
	feeds      *Feeds
	project    string
	permission Permission

	// owner is for whom it is rendered, used what was requested for that; the lock of the feeds is for it.
	owner string
	used  map[*chart]bool

	mu      sync.Mutex
	pending []chan struct{}
}

// For has charts be kept for an owner, until it renders without them, or wants nothing any more.
func (c *Charts) For(owner string) *Charts {
	c.owner, c.used = owner, map[*chart]bool{}
	return c
}

// Keep releases what the owner has requested before, and not for this render.
func (c *Charts) Keep() {
	c.feeds.mu.Lock()
	defer c.feeds.mu.Unlock()
	c.feeds.release(c.owner, c.used)
}

// release has an owner no longer own charts but some. What no one owns any more is forgotten. The caller holds the lock.
func (f *Feeds) release(owner string, but map[*chart]bool) {
	for key, held := range f.charts {
		if !held.owners[owner] || but[held] {
			continue
		}
		if delete(held.owners, owner); len(held.owners) == 0 {
			delete(f.charts, key)
		}
	}
}

// Charts returns how charts are fetched for an AppProject. What it does not permit is fetched without the credentials of the
// installation: a chart names its dependencies, and its author does not choose where these logins are sent.
func (f *Feeds) Charts(project string, permission Permission) *Charts {
	return &Charts{feeds: f, project: project, permission: permission}
}

// chartRetry is how long a failure to fetch a chart is kept.
const chartRetry = 5 * time.Second

// Chart returns a chart that is here, or ErrPending while it is being fetched. A version that is no range never changes,
// and what is in a range is checked as often as repositories are.
func (c *Charts) Chart(_ context.Context, repo, name, version string) (data []byte, resolved string, err error) {
	f := c.feeds
	key := wanted{repo: repo, name: name, version: version, project: c.project, bare: c.permission.PermitsSource(repo) != nil}
	every := f.cfg.Settings().Reconciliation.Every
	f.mu.Lock()
	defer f.mu.Unlock()
	held := f.charts[key]
	if held == nil {
		held = &chart{owners: map[string]bool{}}
		f.charts[key] = held
	}
	if held.owners[c.owner] = true; c.used != nil {
		c.used[held] = true
	}
	age := time.Since(held.at)
	switch {
	case held.ready != nil:
	case held.data != nil && (version != "" && !isRange(version) || age < every):
		return held.data, held.resolved, nil
	case held.err != nil && age < chartRetry:
		return nil, "", held.err
	default:
		held.ready, held.wished = make(chan struct{}), time.Now()
		f.wg.Go(func() { f.fetchInto(key, held) })
	}
	c.mu.Lock()
	c.pending = append(c.pending, held.ready)
	c.mu.Unlock()
	return nil, "", fmt.Errorf("chart %s of %s: %w", name, repo, ErrPending)
}

// fetchInto fetches a chart.
func (f *Feeds) fetchInto(key wanted, held *chart) {
	var got fetchedChart
	err := f.cfg.Guard.Call("chart "+key.name, func() error {
		index, err := f.index(f.ctx, held, key, held.wished)
		got, err = f.fetchChart(f.ctx, key, chartFrom{index.Index, held.resolved, err})
		return err
	})
	f.cfg.Remotes.Leave(held)
	f.mu.Lock()
	defer f.mu.Unlock()
	held.err, held.at = err, time.Now()
	if err == nil && got.data != nil {
		held.data, held.resolved = got.data, got.version
	}
	close(held.ready)
	held.ready = nil
}

// Wait waits until every requested chart has arrived, or failed.
func (c *Charts) Wait(ctx context.Context) error {
	c.mu.Lock()
	pending := c.pending
	c.pending = nil
	c.mu.Unlock()
	for _, one := range pending {
		select {
		case <-one:
		case <-ctx.Done():
			return fmt.Errorf("waiting for charts: %w", context.Cause(ctx))
		}
	}
	return nil
}
