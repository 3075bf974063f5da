package generators

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	swapi "github.com/fluxcd/source-watcher/api/v2/v1beta1"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/flux/sources"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/source"
)

// generator keeps the ExternalArtifacts of one ArtifactGenerator made.
type generator struct {
	*Keeper
	id types.NamespacedName

	mu  sync.Mutex
	now *swapi.ArtifactGenerator
	// settled is set once a pass of this process knows what there is: until then units wait rather than go
	// back to what an earlier process made.
	settled bool
	// outputs are what the last pass wanted to make.
	outputs map[source.Key]bool
	last    rounds.Memory[lookedAt]
	failure string
	// failed is set when the last pass failed, again when another attempt was requested since it started.
	failed, again bool
}

// lookedAt is what a pass had evaluated.
type lookedAt struct {
	generation       int64
	requested        string
	sources, outputs string
}

// put takes a later version and returns the one before.
func (g *generator) put(o *swapi.ArtifactGenerator) *swapi.ArtifactGenerator {
	g.mu.Lock()
	before := g.now
	if declared.Newer(o, before) {
		g.now = o
	}
	g.mu.Unlock()
	g.poke()
	return before
}

func (g *generator) poke() { g.passes.Wake(g.id) }

// retry forgets a failure, so that the next pass tries again.
func (g *generator) retry() {
	g.mu.Lock()
	// A pass in progress may have read it too early.
	g.again = true
	if g.failed {
		g.last.Forget()
	}
	g.mu.Unlock()
	g.poke()
}

func (g *generator) current() *swapi.ArtifactGenerator {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.now
}

// concerned reports whether a generator reads a source or makes it.
func (g *generator) concerned(key source.Key) bool {
	g.mu.Lock()
	makes, o := g.outputs[key], g.now
	g.mu.Unlock()
	return makes || slices.Contains(SourcesOf(o), key)
}

// makes reports whether an ExternalArtifact is declared, or was wanted by the last pass.
func (g *generator) makes(key source.Key) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.outputs[key] || key.Namespace == g.id.Namespace &&
		slices.ContainsFunc(g.now.Spec.OutputArtifacts, func(a swapi.OutputArtifact) bool { return a.Name == key.Name })
}

// pass does what is due.
func (g *generator) pass(ctx context.Context) rounds.Next {
	select {
	case <-g.sources.Listed:
	case <-ctx.Done():
		return rounds.Rest()
	}
	o := g.current()
	switch {
	case o.DeletionTimestamp != nil:
		return g.finalize(ctx, o)
	case o.IsDisabled():
		g.rest(ctx, o)
		return rounds.Rest()
	}
	in, err := g.look(o)
	if errors.Is(err, sources.ErrPending) {
		g.begin(ctx, o)
		return rounds.Rest()
	}
	if wait := g.due(o, in); wait > 0 {
		return rounds.After(wait)
	}
	turn, ok := g.sources.Slots.Take(ctx, g.id.Namespace)
	if !ok {
		return rounds.Rest()
	}
	defer turn.End()
	g.mu.Lock()
	g.again = false
	g.mu.Unlock()
	began := time.Now()
	var made []swapi.ExternalArtifactReference
	if err == nil {
		err = g.sources.Guard.Call(swapi.ArtifactGeneratorKind+" "+g.id.String(), func() (err error) {
			made, err = g.make(ctx, o, in)
			return err
		})
	}
	if ctx.Err() != nil {
		return rounds.Rest()
	}
	if g.sources.Passed != nil {
		g.sources.Passed(swapi.ArtifactGeneratorKind, o.Namespace, o.Name, time.Since(began), err == nil)
	}
	wait := g.report(ctx, o, in, made, err)
	g.settle()
	return wait
}

// due returns how long a generator may rest: zero when something changed since the last pass.
func (g *generator) due(o *swapi.ArtifactGenerator, in inputs) time.Duration {
	now := g.lookedAt(o, in)
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.last.Rest(now)
}

func (g *generator) lookedAt(o *swapi.ArtifactGenerator, in inputs) lookedAt {
	return lookedAt{generation: o.Generation, requested: o.Annotations[toolkit.RequestedAt], sources: in.digest, outputs: g.state()}
}

// state is that of what the last pass wanted to make: it changes when anybody touches one of these.
func (g *generator) state() string {
	g.mu.Lock()
	keys := make([]source.Key, 0, len(g.outputs))
	for key := range g.outputs {
		keys = append(keys, key)
	}
	g.mu.Unlock()
	slices.SortFunc(keys, func(a, b source.Key) int { return strings.Compare(a.Name, b.Name) })
	var b strings.Builder
	for _, key := range keys {
		fmt.Fprintf(&b, "%s", key.Name)
		if o, there := g.known(key); there {
			fmt.Fprintf(&b, " %s %s", o.UID, o.ResourceVersion)
		}
		if a, stored := g.sources.Store.Get(key); stored {
			fmt.Fprintf(&b, " %s %s", a.Revision, a.Digest)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// known is an ExternalArtifact as the watch, or our own last write, has it.
func (g *generator) known(key source.Key) (*sourcev1.ExternalArtifact, bool) {
	f, known := g.sources.Feed(key)
	if !known {
		return nil, false
	}
	o, ok := f.Current().(sources.ExternalArtifact)
	return o.ExternalArtifact, ok
}

// noted keeps what a pass had read, and says when the next one is due.
func (g *generator) noted(o *swapi.ArtifactGenerator, in inputs, failure *access.Failure) rounds.Next {
	now := g.lookedAt(o, in)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failed = failure != nil
	switch {
	case failure == nil:
		return rounds.After(g.last.Passed(now, rounds.About(o.GetRequeueAfter())))
	case g.again:
		g.last.Failed(now, sources.FetchBackoff)
		g.last.Forget()
		return rounds.After(0)
	case failure.Terminal || failure.Woken:
		return rounds.After(g.last.Waits(now, sources.FetchRetryMax))
	}
	return rounds.After(g.last.Failed(now, sources.FetchBackoff))
}

// settle lets units have what there is, and tells them that it is of what its sources have now.
func (g *generator) settle() {
	g.mu.Lock()
	known := g.settled
	g.settled = true
	g.mu.Unlock()
	for _, f := range g.sources.GeneratedBy(g.id) {
		if known {
			g.sources.Notify(engine.SourceID(f.Key))
			continue
		}
		f.Nudge()
	}
}

func (g *generator) isSettled() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.settled
}

// finalize deletes what a generator that is deleted has made, and lets its object go.
func (g *generator) finalize(ctx context.Context, o *swapi.ArtifactGenerator) rounds.Next {
	var errs []error
	for key := range g.everything(o) {
		errs = append(errs, g.remove(ctx, key))
	}
	err := errors.Join(errs...)
	if err == nil {
		err = toolkit.SetFinalizer(ctx, g.sources.Client.Resource(toolkit.ArtifactGenerators), o, swapi.Finalizer, false)
	}
	if err == nil || ctx.Err() != nil {
		return rounds.Rest()
	}
	logr.FromContextOrDiscard(ctx).Info("the finalizer of a deleted ArtifactGenerator could not be removed", "generator", g.id.String(), "error", err.Error())
	return rounds.Retry(err)
}

// everything are the ExternalArtifacts that a generator has made: those of the inventory, and those that say
// so, which a run that was killed could not write down.
func (g *generator) everything(o *swapi.ArtifactGenerator) map[source.Key]bool {
	keys := map[source.Key]bool{}
	for _, f := range g.sources.GeneratedBy(g.id) {
		keys[f.Key] = true
	}
	for _, e := range o.Status.Inventory {
		keys[artifactKey(e.Namespace, e.Name)] = true
	}
	return keys
}

func artifactKey(namespace, name string) source.Key {
	return toolkit.SourceKey(sourcev1.ExternalArtifactKind, namespace, name)
}

// latest reports whether a generator has made what it makes from what its sources have now.
func (g *generator) latest() bool {
	o := g.current()
	in, err := g.look(o)
	g.mu.Lock()
	defer g.mu.Unlock()
	last, made := g.last.Last()
	return err == nil && made && !g.failed && last.generation == o.Generation && last.sources == in.digest
}

func (g *generator) whyFailed() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.failure
}
