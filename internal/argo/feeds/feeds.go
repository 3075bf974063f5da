// Package feeds keeps the repositories fetched that Applications and ApplicationSets read: each revision of each
// repository once, for as long as it is wanted, and again when it is due, or when a change is reported.
//
// It holds what it fetched in memory, and tells by key when that changed. It refuses to know what an Application is,
// to render, and to wait for anybody.
package feeds

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/feed"
	"github.com/headgate-dev/headgate/internal/guard"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/source"
)

// Kind is how a repository is fetched.
type Kind string

// The kinds.
const (
	Git  Kind = "git"
	Helm Kind = "helm"
	OCI  Kind = "oci"
	// BuiltIn is a chart that this process serves itself: nothing is fetched.
	BuiltIn Kind = "built-in"
)

// Key names a revision of a repository, as read with one set of credentials.
type Key struct {
	Kind Kind
	// URL is as it was written: a server may distinguish addresses that only differ in case or in ".git".
	URL string
	// Revision is what was requested, such as a branch or a range of versions.
	Revision string
	// Chart is the name of a chart in a Helm repository, TagPrefix what tags in a range begin with.
	Chart, TagPrefix string
	// Project says by whose credentials.
	Project string
}

// String names a key in the log, without what its URL may have of credentials.
func (k Key) String() string {
	host := ""
	if u, err := url.Parse(k.URL); err == nil {
		host = " " + u.Host + u.Path
	}
	return fmt.Sprintf("%s repository%s at %q", k.Kind, host, k.Revision)
}

// KeyOf is the key of a source for an AppProject.
func KeyOf(s v1alpha1.ApplicationSource, project string) Key {
	k := Key{Kind: Git, URL: strings.TrimSpace(s.RepoURL), Revision: s.TargetRevision, TagPrefix: s.TagPrefix, Project: project}
	switch {
	case s.Chart != "":
		k.Kind, k.Chart = Helm, s.Chart
	case isOCI(s.RepoURL):
		k.Kind = OCI
	}
	if k.Kind == Git && k.Revision == "" {
		k.Revision = "HEAD"
	}
	return k
}

// Fixed reports whether a key always stands for the same content.
func (k Key) Fixed() bool { return k.Kind == Git && isCommit(k.Revision) || k.Kind == BuiltIn }

// State is what is known of a revision.
type State struct {
	// Settled is set once it is known what there is, or that it cannot be fetched.
	Settled bool
	// Revision is what it resolved to: a commit, the version of a chart, the digest of an artifact.
	Revision string
	// Tree are the files, Chart a packed chart; Digest is that of the content.
	Tree   *source.Tree
	Chart  []byte
	Digest string
	// Signatures are those of a commit, nil for anything else. Local is set for a working copy: it is its user's own, and what is
	// not committed yet cannot be signed.
	Signatures *source.Signatures
	Local      bool
	// Err is why the last fetch failed, Since when that began. What was fetched before is kept.
	Err   error
	Since time.Time
	// Known is since when it is that revision; Fetched is when the last fetch began that went well.
	Known, Fetched time.Time
	// Asked is the newest request that was made when the last fetch began, as Refresh returns them.
	Asked uint64
}

// Has reports whether there is content.
func (s State) Has() bool { return s.Digest != "" }

// Config is what Feeds need. Functions must not block.
type Config struct {
	// Settings are those of now.
	Settings func() settings.Settings
	// Local answers with what stands in for a URL, if anything does.
	Local func(url string) (source.Local, bool)
	// Rewrites send fetches elsewhere.
	Rewrites source.Rewrites
	// Egress is where servers may be: anywhere by default.
	Egress egress.Rules
	// SpillDir keeps files that are too large for memory.
	SpillDir string
	// Remotes are where repositories are fetched, for others too.
	Remotes *feed.Feed
	// Changed is called with each key whose state changed.
	Changed func(Key)
	// Fetched, when set, is called with each request to a repository, and whether it brought content. What another reader
	// has requested is not counted again.
	Fetched func(k Key, brought bool, took time.Duration, err error)
	// StandIn, when set, gives a chart that cannot be fetched.
	StandIn func(repo, name, version string, cause error) (data []byte, resolved string, ok bool)
	// Guard logs and counts fetches that panic.
	Guard guard.Guard
}

// Feeds are the repositories that are followed. It is safe for concurrent use.
type Feeds struct {
	cfg    Config
	ctx    context.Context
	passes *rounds.Loop[Key]
	wg     sync.WaitGroup
	asked  requests

	mu sync.RWMutex
	// over is set once nothing is released on its own any more.
	over   bool
	feeds  map[Key]*reader
	wanted map[string][]Key
	charts map[wanted]*chart
	apps   map[string]*source.App
}

// requests counts the requests for a fetch.
type requests struct {
	mu   sync.Mutex
	last uint64
	at   time.Time
}

// next is the number of a new request.
func (r *requests) next() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	r.at = time.Now()
	return r.last
}

// newest is the number of the last request, and when it was made.
func (r *requests) newest() (uint64, time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last, r.at
}

// New returns Feeds that run until ctx ends.
func New(ctx context.Context, cfg Config) *Feeds {
	f := &Feeds{
		cfg: cfg, ctx: ctx, feeds: map[Key]*reader{}, wanted: map[string][]Key{},
		charts: map[wanted]*chart{}, apps: map[string]*source.App{},
	}
	f.passes = rounds.New(fetching{f}, rounds.Options{Backoff: rounds.Backoff{Min: retryMin, Max: retryMax}, Guard: cfg.Guard})
	f.passes.Start(ctx)
	return f
}

// fetching are the passes over what is followed.
type fetching struct{ feeds *Feeds }

// Share is that of every key: slots are taken when something is requested.
func (f fetching) Share(Key) string { return "" }

// ShareOf is the share of a project in what is fetched. It is not that of a namespace with its name.
func ShareOf(project string) string { return "project/" + project }

// Pass fetches what a key names, if anybody wants it.
func (f fetching) Pass(ctx context.Context, k Key) rounds.Next {
	f.feeds.mu.RLock()
	one := f.feeds.feeds[k]
	f.feeds.mu.RUnlock()
	if one == nil {
		return rounds.Rest()
	}
	return one.pass(ctx)
}

// Wait waits until every fetch has ended.
func (f *Feeds) Wait() {
	f.passes.Wait()
	f.mu.Lock()
	f.over = true
	for _, one := range f.feeds {
		one.end()
	}
	f.mu.Unlock()
	f.wg.Wait()
}

// Want follows keys for a client, instead of those that it wanted before. What is no longer wanted is released.
func (f *Feeds) Want(owner string, keys []Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(keys) == 0 {
		delete(f.wanted, owner)
		f.release(owner, nil)
	} else {
		f.wanted[owner] = keys
	}
	used := map[Key]bool{}
	for _, all := range f.wanted {
		for _, k := range all {
			used[k] = true
			f.follow(k)
		}
	}
	for k, one := range f.feeds {
		if !used[k] {
			delete(f.feeds, k)
			f.passes.Forget(k)
			if !f.over {
				f.wg.Go(func() { f.cfg.Guard.Run("the end of a repository", one.end) })
			}
		}
	}
}

// follow begins to fetch; the caller holds the lock.
func (f *Feeds) follow(k Key) {
	if f.feeds[k] != nil || f.ctx.Err() != nil {
		return
	}
	f.feeds[k] = &reader{feeds: f, key: k, hearing: hearing{wished: time.Now()}}
	f.passes.Wake(k)
}

// Get returns what is known of a key; one that is not followed is not settled.
func (f *Feeds) Get(k Key) State {
	f.mu.RLock()
	one := f.feeds[k]
	f.mu.RUnlock()
	if one == nil {
		return State{}
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	return one.state
}

// Nudge fetches every repository at once whose URL matches.
func (f *Feeds) Nudge(matches func(url string) bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for k, one := range f.feeds {
		if matches(k.URL) {
			one.poke()
		}
	}
}

// Refresh has keys fetched at once. It returns the number of the request: what a key stands for by then is known once its
// state says that the number was requested. Changed is called with that, whatever the result of the fetch.
func (f *Feeds) Refresh(keys []Key) uint64 {
	f.mu.RLock()
	defer f.mu.RUnlock()
	request := f.asked.next()
	for _, k := range keys {
		if one := f.feeds[k]; one != nil {
			one.mu.Lock()
			one.request = request
			one.mu.Unlock()
			one.poke()
		}
	}
	return request
}

// Retry fetches everything at once that could not be fetched last: the credentials may have changed.
func (f *Feeds) Retry() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.charts {
		one.err = nil
	}
	for _, one := range f.feeds {
		one.mu.Lock()
		failed := one.state.Err != nil
		one.mu.Unlock()
		if failed {
			one.poke()
		}
	}
}

// ErrPending says that something is being fetched, and that the client is notified when it has been.
var ErrPending = errors.New("it is being fetched")
