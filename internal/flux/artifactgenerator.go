package flux

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
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/source"
)

// generators runs the ArtifactGenerators of a cluster, which make ExternalArtifacts from other sources.
type generators struct {
	sources *sources
	policy  *policies
	// shard are the labels by which objects are selected that are served here: what is made has those of
	// its generator.
	shard []string
	// listed is closed when all are known that there were at the start.
	listed chan struct{}
	passes *rounds.Loop[types.NamespacedName]

	mu   sync.RWMutex
	held map[types.NamespacedName]*generator
	// claims tells which one makes an ExternalArtifact: the first one that declared it.
	claims map[source.Key]types.NamespacedName
}

func newGenerators(s *sources, policy *policies, selector string) (*generators, error) {
	parsed, err := labels.Parse(selector)
	if err != nil {
		return nil, fmt.Errorf("parsing the selector of served objects: %w", err)
	}
	var shard []string
	requirements, _ := parsed.Requirements()
	for _, r := range requirements {
		shard = append(shard, r.Key())
	}
	g := &generators{
		shard:   shard,
		sources: s, policy: policy, listed: make(chan struct{}),
		held: map[types.NamespacedName]*generator{}, claims: map[source.Key]types.NamespacedName{},
	}
	g.passes = rounds.New(g, rounds.Options{Backoff: fetchBackoff})
	g.passes.Start(s.ctx)
	s.wg.Go(g.passes.Wait)
	return g, nil
}

// Pass makes what is due of a generator.
func (s *generators) Pass(ctx context.Context, id types.NamespacedName) rounds.Next {
	g, known := s.get(id)
	if !known {
		return rounds.Rest()
	}
	return g.pass(ctx)
}

// Share is the namespace of a generator.
func (s *generators) Share(id types.NamespacedName) string { return id.Namespace }

// put takes an ArtifactGenerator from the watch.
func (s *generators) put(u *unstructured.Unstructured) (*swapi.ArtifactGenerator, error) {
	o, err := declared.Read[swapi.ArtifactGenerator](u)
	if err != nil {
		return nil, err
	}
	id := types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
	s.mu.Lock()
	g, known := s.held[id]
	if !known {
		g = &generator{generators: s, id: id, now: o}
		s.held[id] = g
	}
	s.mu.Unlock()
	if before := g.put(o); !known || before.Generation != o.Generation {
		// It may close or open a cycle.
		s.wakeFailed(id)
	}
	return o, nil
}

// dropped takes an ArtifactGenerator that is gone.
func (s *generators) dropped(u *unstructured.Unstructured) {
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

func (s *generators) get(id types.NamespacedName) (*generator, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	g, known := s.held[id]
	return g, known
}

func (s *generators) all() []*generator {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := make([]*generator, 0, len(s.held))
	for _, g := range s.held {
		all = append(all, g)
	}
	return all
}

// wakeReaders has those look again that read a source, or make it.
func (s *generators) wakeReaders(key source.Key) {
	for _, g := range s.all() {
		if g.concerned(key) {
			g.poke()
		}
	}
}

// wakeFailed has those try again that failed: what changed with another one may have been in their way.
func (s *generators) wakeFailed(except types.NamespacedName) {
	for _, g := range s.all() {
		if g.id != except {
			g.retry()
		}
	}
}

// claim gives an ExternalArtifact to a generator, unless another one has it, which it names.
func (s *generators) claim(key source.Key, id types.NamespacedName) (by string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if other, taken := s.claims[key]; taken && other != id {
		return other.Name, false
	}
	s.claims[key] = id
	return "", true
}

func (s *generators) release(key source.Key, id types.NamespacedName) {
	s.mu.Lock()
	if s.claims[key] == id {
		delete(s.claims, key)
	}
	s.mu.Unlock()
	s.wakeFailed(id)
}

// edges are the generators, by "namespace/name", that make what a generator reads.
func (s *generators) edges(id string) []string {
	var next []string
	for _, g := range s.all() {
		if g.id.String() != id {
			continue
		}
		for _, key := range sourcesOf(g.current()) {
			next = append(next, s.makersOf(key)...)
		}
	}
	slices.Sort(next)
	return slices.Compact(next)
}

// makersOf are the generators that declare an ExternalArtifact, or have it.
func (s *generators) makersOf(key source.Key) []string {
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

// sourcesOf are the sources that an ArtifactGenerator reads, in their order.
func sourcesOf(o *swapi.ArtifactGenerator) []source.Key {
	keys := make([]source.Key, len(o.Spec.Sources))
	for i, ref := range o.Spec.Sources {
		keys[i] = sourceKey(ref.Kind, cmp.Or(ref.Namespace, o.Namespace), ref.Name)
	}
	return keys
}

// here is the generator that makes an ExternalArtifact; nil when it comes from elsewhere.
func (s *generators) here(o *sourcev1.ExternalArtifact) *generator {
	id, made := generatorOf(o)
	if !made {
		return nil
	}
	g, _ := s.get(id)
	return g
}

func (s *generators) settled(ctx context.Context, o *sourcev1.ExternalArtifact, f *feed) (here, settled bool, err error) {
	if _, made := generatorOf(o); !made {
		return false, false, nil
	}
	select {
	case <-s.listed:
	case <-ctx.Done():
		return false, false, context.Cause(ctx)
	}
	g := s.here(o)
	return g != nil, g != nil && g.settledFor(f), nil
}

func (s *generators) parts(o *sourcev1.ExternalArtifact) []source.Key {
	if g := s.here(o); g != nil {
		return sourcesOf(g.current())
	}
	return nil
}

func (s *generators) latest(o *sourcev1.ExternalArtifact) (latest bool, failure string) {
	g := s.here(o)
	if g == nil {
		return false, ""
	}
	return g.latest(), g.whyFailed()
}

func (s *generators) retry(o *sourcev1.ExternalArtifact) {
	if g := s.here(o); g != nil {
		g.retry()
	}
}
