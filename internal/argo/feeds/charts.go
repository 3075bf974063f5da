package feeds

import (
	"context"
	"sync"
	"time"
)

// chartKey names a chart that a kustomization or another chart asks for.
type chartKey struct{ repo, name, version, project string }

// chart is one that was fetched.
type chart struct {
	mu       sync.Mutex
	data     []byte
	resolved string
	at       time.Time
}

// Charts fetches charts by the credentials of an AppProject.
type Charts struct {
	feeds   *Feeds
	project string
}

// Charts returns how charts are fetched for an AppProject.
func (f *Feeds) Charts(project string) Charts { return Charts{f, project} }

// Chart fetches a chart that a kustomization or another chart names, or takes the one that it has: a version that is no range
// never changes, and what is in a range is looked for as often as repositories are.
func (c Charts) Chart(ctx context.Context, repo, name, version string) (data []byte, resolved string, err error) {
	f := c.feeds
	key := chartKey{repo, name, version, c.project}
	f.mu.Lock()
	held := f.charts[key]
	if held == nil {
		held = &chart{}
		f.charts[key] = held
	}
	f.mu.Unlock()
	held.mu.Lock()
	defer held.mu.Unlock()
	if held.data != nil && (version != "" && !isRange(version) || time.Since(held.at) < f.cfg.Settings().Reconciliation.Every) {
		return held.data, held.resolved, nil
	}
	data, resolved, err = f.fetchChart(ctx, repo, name, version, c.project, held.resolved)
	if err != nil {
		return nil, "", err
	}
	if data != nil {
		held.data, held.resolved = data, resolved
	}
	held.at = time.Now()
	return held.data, held.resolved, nil
}
