// Package generators makes ExternalArtifacts from other sources, as ArtifactGenerators declare them.
//
// It fetches nothing.
package generators

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	swapi "github.com/fluxcd/source-watcher/api/v2/v1beta1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/flux/policies"
	"github.com/headgate-dev/headgate/internal/flux/sources"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/source"
)

// Keeper runs the ArtifactGenerators of a cluster, which make ExternalArtifacts from other sources.
type Keeper struct {
	sources *sources.Keeper
	policy  *policies.Effective
	// shard are the labels by which objects are selected that are served here: what is made has those of
	// its generator.
	shard []string
	// Listed is closed when all are known that there were at the start.
	Listed chan struct{}
	passes *rounds.Loop[types.NamespacedName]

	mu   sync.RWMutex
	held map[types.NamespacedName]*generator
	// claims reports which one makes an ExternalArtifact: the first one that declared it.
	claims map[source.Key]types.NamespacedName
}

// New returns what serves the ArtifactGenerators of a shard.
func New(s *sources.Keeper, policy *policies.Effective, selector string) (*Keeper, error) {
	parsed, err := labels.Parse(selector)
	if err != nil {
		return nil, fmt.Errorf("parsing the selector of served objects: %w", err)
	}
	var shard []string
	requirements, _ := parsed.Requirements()
	for _, r := range requirements {
		shard = append(shard, r.Key())
	}
	g := &Keeper{
		shard:   shard,
		sources: s, policy: policy, Listed: make(chan struct{}),
		held: map[types.NamespacedName]*generator{}, claims: map[source.Key]types.NamespacedName{},
	}
	g.passes = rounds.New(g, rounds.Options{Backoff: sources.FetchBackoff, Guard: s.Guard})
	g.passes.Start(s.Ctx)
	s.Wg.Go(g.passes.Wait)
	return g, nil
}

// Pass makes what is due of a generator.
func (s *Keeper) Pass(ctx context.Context, id types.NamespacedName) rounds.Next {
	g, known := s.get(id)
	if !known {
		return rounds.Rest()
	}
	return g.pass(ctx)
}

// Share is the namespace of a generator.
func (s *Keeper) Share(id types.NamespacedName) string { return id.Namespace }

// Put takes an ArtifactGenerator from the watch.
func (s *Keeper) Put(u *unstructured.Unstructured) (*swapi.ArtifactGenerator, error) {
	o, err := declared.Read[swapi.ArtifactGenerator](u)
	if err != nil {
		return nil, err
	}
	id := types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
	s.mu.Lock()
	g, known := s.held[id]
	if !known {
		g = &generator{Keeper: s, id: id, now: o}
		s.held[id] = g
	}
	s.mu.Unlock()
	if before := g.put(o); !known || before.Generation != o.Generation {
		// It may close or open a cycle.
		s.wakeFailed(id)
	}
	return o, nil
}

// Dropped takes an ArtifactGenerator that is gone.
func (s *Keeper) Dropped(u *unstructured.Unstructured) {
	id := types.NamespacedName{Namespace: u.GetNamespace(), Name: u.GetName()}
	s.mu.Lock()
	delete(s.held, id)
	for key, by := range s.claims {
		if by == id {
			delete(s.claims, key)
		}
	}
	s.mu.Unlock()
	s.passes.Forget(id)
	s.wakeFailed(id)
}

func (s *Keeper) get(id types.NamespacedName) (*generator, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	g, known := s.held[id]
	return g, known
}

func (s *Keeper) all() []*generator {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := make([]*generator, 0, len(s.held))
	for _, g := range s.held {
		all = append(all, g)
	}
	return all
}

// WakeReaders has those look again that read a source, or make it.
func (s *Keeper) WakeReaders(key source.Key) {
	for _, g := range s.all() {
		if g.concerned(key) {
			g.poke()
		}
	}
}

// wakeFailed has those try again that failed: what changed with another one may have been in their way.
func (s *Keeper) wakeFailed(except types.NamespacedName) {
	for _, g := range s.all() {
		if g.id != except {
			g.retry()
		}
	}
}

// WakeAll has every generator reconciled again, since what is permitted changed.
func (s *Keeper) WakeAll() { s.wakeFailed(types.NamespacedName{}) }

// claim gives an ExternalArtifact to a generator, unless another one has it, which it names.
func (s *Keeper) claim(key source.Key, id types.NamespacedName) (by string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if other, taken := s.claims[key]; taken && other != id {
		return other.Name, false
	}
	s.claims[key] = id
	return "", true
}

func (s *Keeper) release(key source.Key, id types.NamespacedName) {
	s.mu.Lock()
	if s.claims[key] == id {
		delete(s.claims, key)
	}
	s.mu.Unlock()
	s.wakeFailed(id)
}

// edges are the generators, by "namespace/name", that make what a generator reads.
func (s *Keeper) edges(id string) []string {
	var next []string
	for _, g := range s.all() {
		if g.id.String() != id {
			continue
		}
		for _, key := range SourcesOf(g.current()) {
			next = append(next, s.makersOf(key)...)
		}
	}
	slices.Sort(next)
	return slices.Compact(next)
}

// makersOf are the generators that declare an ExternalArtifact, or have it.
func (s *Keeper) makersOf(key source.Key) []string {
	var makers []string
	if key.Kind != sourcev1.ExternalArtifactKind {
		return nil
	}
	for _, g := range s.all() {
		if g.makes(key) {
			makers = append(makers, g.id.String())
		}
	}
	return makers
}

// SourcesOf are the sources that an ArtifactGenerator reads, in their order.
func SourcesOf(o *swapi.ArtifactGenerator) []source.Key {
	keys := make([]source.Key, len(o.Spec.Sources))
	for i, ref := range o.Spec.Sources {
		keys[i] = toolkit.SourceKey(ref.Kind, cmp.Or(ref.Namespace, o.Namespace), ref.Name)
	}
	return keys
}

// here is the generator that makes an ExternalArtifact; nil when it comes from elsewhere.
func (s *Keeper) here(o *sourcev1.ExternalArtifact) *generator {
	id, made := sources.GeneratorOf(o)
	if !made {
		return nil
	}
	g, _ := s.get(id)
	return g
}

// Settled reports whether an ExternalArtifact is made here and, if so, whether a feed may have what was made.
func (s *Keeper) Settled(ctx context.Context, o *sourcev1.ExternalArtifact, f *sources.Feed) (here, settled bool, err error) {
	if _, made := sources.GeneratorOf(o); !made {
		return false, false, nil
	}
	select {
	case <-s.Listed:
	case <-ctx.Done():
		return false, false, context.Cause(ctx)
	}
	g := s.here(o)
	return g != nil, g != nil && g.settledFor(f), nil
}

// Parts are the sources that an ExternalArtifact is made from here.
func (s *Keeper) Parts(o *sourcev1.ExternalArtifact) []source.Key {
	if g := s.here(o); g != nil {
		return SourcesOf(g.current())
	}
	return nil
}

// Latest reports whether an ExternalArtifact is made from what its sources have now, and why that failed if it did.
func (s *Keeper) Latest(o *sourcev1.ExternalArtifact) (latest bool, failure string) {
	g := s.here(o)
	if g == nil {
		return false, ""
	}
	return g.latest(), g.whyFailed()
}

// Retry has the generator of an ExternalArtifact try again what failed.
func (s *Keeper) Retry(o *sourcev1.ExternalArtifact) {
	if g := s.here(o); g != nil {
		g.retry()
	}
}
