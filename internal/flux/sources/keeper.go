// Package sources follows the objects that declare sources: GitRepositories, OCIRepositories, Buckets, HelmRepositories, HelmCharts
// and ExternalArtifacts. It publishes their artifacts, writes their status, and answers the runner.
//
// How content is fetched is known by internal/feed and internal/source, and what it is used for by no one here.
package sources

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
	remotes "github.com/headgate-dev/headgate/internal/feed"
	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/guard"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/source"
)

// Keeper runs the sources of a cluster and answers for their artifacts.
type Keeper struct {
	access.Reach

	Client  dynamic.Interface
	secrets kubernetes.Interface
	Store   *source.Store
	Events  toolkit.Events
	// rewrite answers with the URL and credentials to fetch from instead of a URL, if there are any.
	rewrite  func(url string) (source.Local, bool)
	rewrites atomic.Pointer[source.Rewrites]
	problem  func(subject, text string)
	Passed   func(kind, namespace, name string, took time.Duration, ok bool)
	Guard    guard.Guard
	// remotes are the repositories that are fetched; slots bound the generators that work at a time.
	remotes *remotes.Feed
	Slots   *rounds.Slots
	passes  *rounds.Loop[source.Key]
	Ctx     context.Context
	Wg      sync.WaitGroup

	// Elsewhere is set when another controller fetches the sources of this cluster: what it publishes is read.
	Elsewhere bool
	// Sharded is set when other engines serve sources of this cluster as well.
	Sharded bool

	objects *cluster.Objects
	made    madeHere
	// StandIns is nil where everything is real.
	StandIns standIns
	charts   madeForReleases
	readers  []reader

	mu    sync.RWMutex
	feeds map[source.Key]*Feed
	read  map[engine.ObjectID]readSecret
	apps  map[source.Key]*source.App
	// Listed is closed when all sources are known that there were at the start.
	Listed chan struct{}
}

// madeHere are the ExternalArtifacts that generators of this engine make from other sources.
type madeHere interface {
	// WakeReaders has those generators reconciled that read a source, or make it.
	WakeReaders(key source.Key)
	// Settled reports whether an ExternalArtifact is made here and, if so, whether a feed may have what was made.
	Settled(ctx context.Context, o *sourcev1.ExternalArtifact, f *Feed) (here, settled bool, err error)
	// Parts are the sources that an ExternalArtifact is made from here.
	Parts(o *sourcev1.ExternalArtifact) []source.Key
	// Latest reports whether it is made from what its sources have now, and why that failed if it did.
	Latest(o *sourcev1.ExternalArtifact) (latest bool, failure string)
	// Retry has its generator try again what failed.
	Retry(o *sourcev1.ExternalArtifact)
}

// madeForReleases are the HelmCharts that HelmReleases declare, which are made here.
type madeForReleases interface {
	// Failure says why one could not be made, if that is so.
	Failure(key source.Key) string
	// Awaited reports whether one is about to be made.
	Awaited(key source.Key) bool
	// Outdated reports whether one is not what its release declares.
	Outdated(c HelmChart) bool
}

// reader is notified when a source may have changed.
type reader interface {
	SourceChanged(id engine.SourceID)
}

// standIns make stand-ins of what sources cannot get, where they may.
type standIns interface {
	// StandIn is for a source, by the object that declares it; the error is why there is nothing else.
	StandIn(o Origin, id engine.SourceID, failure error) (*Fetched, bool)
}

// New returns the sources of a cluster, which are fetched until ctx ends; they join what makes some of them, and what reads
// them, before the first object is read.
func New(ctx context.Context, t toolkit.Tools) *Keeper {
	s := &Keeper{
		Client: t.Home.Dynamic, objects: t.Home.Objects,
		secrets: t.Secrets, Store: t.Store, Events: t.Events, rewrite: t.Local, problem: t.Problem,
		Passed: t.Metrics.Pass, Guard: t.Guard, remotes: t.Feed, Slots: rounds.NewSlots(composes), Ctx: ctx, feeds: map[source.Key]*Feed{},
		read: map[engine.ObjectID]readSecret{}, Listed: make(chan struct{}), Elsewhere: !t.Serve.Serves(toolkit.Sources.Name),
		Sharded: t.Selector != "",
	}
	s.Reach = access.Reach{Rules: s.rewriting, Egress: t.Egress.Fetches, Spill: t.Store.SpillDir(), Held: s.heldSecret, Account: s.heldAccount}
	s.SetRewrites(t.Rewrites)
	s.start()
	return s
}

// Join has the sources know what makes some of them, and notify what reads them.
func (s *Keeper) Join(made madeHere, charts madeForReleases, readers ...reader) {
	s.made, s.charts, s.readers = made, charts, readers
}

// start begins with the passes over sources.
func (s *Keeper) start() {
	s.passes = rounds.New(s, rounds.Options{Guard: s.Guard})
	s.passes.Start(s.Ctx)
	s.Wg.Go(func() {
		s.passes.Wait()
		s.mu.RLock()
		defer s.mu.RUnlock()
		for _, f := range s.feeds {
			f.end()
		}
	})
}

// Pass fetches a source when that is due.
func (s *Keeper) Pass(ctx context.Context, key source.Key) rounds.Next {
	f, known := s.Feed(key)
	if !known {
		return rounds.Rest()
	}
	next := f.pass(ctx)
	f.mu.Lock()
	f.again = f.nudged
	f.mu.Unlock()
	return next
}

// Share is the namespace of a source.
func (s *Keeper) Share(key source.Key) string { return key.Namespace }

// Put takes a source from the watch.
func (s *Keeper) Put(o Origin) {
	key := toolkit.SourceKey(o.SourceKind().Name, o.GetNamespace(), o.GetName())
	s.mu.Lock()
	f, ok := s.feeds[key]
	if !ok {
		f = &Feed{sources: s, Key: key}
		s.feeds[key] = f
	}
	s.mu.Unlock()
	before := f.Current()
	f.Put(o)
	switch {
	case !ok:
		s.changed(key)
	case before != nil && !slices.Equal(includesOf(before), includesOf(o)):
		// It may close or open a cycle.
		s.wakeComposed(key)
	case key.Kind == sourcev1.ExternalArtifactKind:
		// The generator checks whether it is still as it was made.
		s.made.WakeReaders(key)
	}
}

// Dropped takes a source that is gone.
func (s *Keeper) Dropped(kind *SourceKind) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) {
		key := toolkit.SourceKey(kind.Name, u.GetNamespace(), u.GetName())
		s.mu.Lock()
		f, ok := s.feeds[key]
		delete(s.feeds, key)
		delete(s.apps, key)
		s.mu.Unlock()
		s.passes.Forget(key)
		if ok {
			// A pass that is in progress ends soon, and is not waited for here.
			s.Guard.Go(f.Key.Kind+" "+f.Key.Namespace+"/"+f.Key.Name, f.end)
		}
		s.changed(key)
	}
}

// WaitListed waits until all sources are known that there were at the start.
func (s *Keeper) WaitListed(ctx context.Context) error {
	select {
	case <-s.Listed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Feed is that of a source.
func (s *Keeper) Feed(key source.Key) (*Feed, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	f, known := s.feeds[key]
	return f, known
}

// changed notifies the readers of a source that it may have changed.
func (s *Keeper) changed(key source.Key) {
	s.Notify(engine.SourceID(key))
	s.wakeComposed(key)
	s.made.WakeReaders(key)
}

// Notify tells the readers of a source that it may have changed.
func (s *Keeper) Notify(id engine.SourceID) {
	for _, r := range s.readers {
		r.SourceChanged(id)
	}
}

// Tell reports a problem of a source to the person who runs the engine.
func (s *Keeper) Tell(key source.Key, text string) {
	s.problem(key.Kind+" "+key.Namespace+"/"+key.Name, text)
}

// OriginRevision is the annotation that tells from what an artifact was built.
const OriginRevision = "org.opencontainers.image.revision"

// StandIn is what stands in for the content of a source, if anything may.
func (s *Keeper) StandIn(o Origin, id engine.SourceID, failure error) (*Fetched, bool) {
	if s.StandIns == nil {
		return nil, false
	}
	return s.StandIns.StandIn(o, id, failure)
}

// NudgeURL has every source fetched whose URL, or whose stand-in, is the given one.
func (s *Keeper) NudgeURL(matches func(url string) bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, f := range s.feeds {
		o := f.Current()
		if chart, is := o.(HelmChart); is {
			// It is fetched from where its repository is.
			if from, known := s.feeds[chart.ChartSource()]; known {
				o = from.Current()
			}
		}
		if o != nil && o.Address() != "" && matches(o.Address()) {
			f.Nudge()
		}
	}
}
