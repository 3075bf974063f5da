package flux

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/go-logr/logr"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/source"
)

// fetches bounds the sources that are fetched at a time.
const fetches = 8

// Retries of a fetch that failed begin after fetchRetryMin and are at most fetchRetryMax apart.
const (
	fetchRetryMin = 750 * time.Millisecond
	fetchRetryMax = 15 * time.Minute
)

// gitSource keeps one GitRepository fetched. Its passes run one after the other, in a goroutine of
// its own that sleeps until it is woken.
type gitSource struct {
	sources *sources
	key     source.Key
	// clone belongs to the goroutine of the passes.
	clone source.Clone
	wake  chan struct{}
	stop  context.CancelFunc

	mu   sync.Mutex
	repo *sourcev1.GitRepository
	// settled is set once it is known what there is: until then units wait rather than go back to
	// what an earlier process fetched.
	settled  bool
	failure  string
	failures int
	nudged   bool
	done     *requestedPass
	// seen is what the last look at the includes gave; made is that of which the artifact is made.
	seen, made string
}

// requestedPass is what the last successful pass had looked at.
type requestedPass struct {
	generation int64
	requested  string
	at         time.Time
}

func (g *gitSource) put(repo *sourcev1.GitRepository) {
	g.mu.Lock()
	if g.repo == nil || !newer(g.repo.ResourceVersion, repo.ResourceVersion) {
		g.repo = repo
	}
	g.mu.Unlock()
	g.poke()
}

// nudge has the source fetched at once, whatever its interval.
func (g *gitSource) nudge() {
	g.mu.Lock()
	g.nudged = true
	g.mu.Unlock()
	g.poke()
}

func (g *gitSource) poke() {
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

func (g *gitSource) current() *sourcev1.GitRepository {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.repo
}

// run fetches whenever it is due, until ctx ends.
func (g *gitSource) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	// What cannot be deleted now is when the store is opened again.
	defer func() { _ = g.clone.Close() }()
	for {
		select {
		case <-ctx.Done():
			return
		case <-g.wake:
		case <-timer.C:
		}
		wait := g.pass(ctx)
		timer.Reset(wait)
	}
}

// minInterval is the least time between two fetches, whatever is declared.
const minInterval = time.Second

// forever is the wait of a source that only a change can wake.
const forever = 365 * 24 * time.Hour

// pass does what is due and returns how long to wait for the next.
func (g *gitSource) pass(ctx context.Context) time.Duration {
	repo := g.current()
	switch {
	case repo == nil:
		return forever
	case !repo.DeletionTimestamp.IsZero():
		g.finalize(ctx, repo)
		return fetchRetryMax
	case repo.Spec.Suspend:
		g.restore(repo)
		g.settle()
		return forever
	}
	if wait := g.due(repo); wait > 0 {
		return wait
	}
	if len(repo.Spec.Include) > 0 {
		select {
		case <-g.sources.listed:
		case <-ctx.Done():
			return forever
		}
	}
	select {
	case g.sources.slots <- struct{}{}:
		defer func() { <-g.sources.slots }()
	case <-ctx.Done():
		return forever
	}
	began := time.Now()
	err := g.fetch(ctx, repo)
	if g.sources.passed != nil && ctx.Err() == nil {
		g.sources.passed(g.key.Kind, g.key.Namespace, g.key.Name, time.Since(began), err == nil)
	}
	if err != nil {
		switch {
		case ctx.Err() != nil:
			return forever
		case errors.Is(err, errIncludePending):
			return g.interval(repo)
		}
		return g.failed(ctx, repo, err)
	}
	return g.interval(repo)
}

func (g *gitSource) interval(repo *sourcev1.GitRepository) time.Duration {
	d := max(repo.Spec.Interval.Duration, minInterval)
	return time.Duration(float64(d) * (0.95 + 0.1*rand.Float64()))
}

// due returns how long the source may rest: zero when it has to be fetched now.
func (g *gitSource) due(repo *sourcev1.GitRepository) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	nudged := g.nudged
	g.nudged = false
	d := g.done
	if nudged || d == nil || d.generation != repo.Generation || d.requested != repo.Annotations[requestedAt] {
		return 0
	}
	return max(0, time.Until(d.at.Add(repo.Spec.Interval.Duration)))
}

// fetch gets what is there and publishes it when it is new.
func (g *gitSource) fetch(ctx context.Context, repo *sourcev1.GitRepository) error {
	options, err := g.sources.options(ctx, repo)
	if err != nil {
		return err
	}
	g.restore(repo)
	includes, err := g.look(repo)
	if err != nil {
		return err
	}
	options.Include, options.Clone = includes.parts, &g.clone
	defer time.AfterFunc(fetchPatience, g.settle).Stop()
	var revision string
	var tree *source.Tree
	if before, known := g.sources.store.Get(g.key); known {
		tree = before.Tree
		if g.sameSelection(repo, includes) && (options.Verify == nil || wasVerified(repo)) {
			revision = before.Revision
		}
	}
	got, err := source.FetchGit(ctx, options, revision, tree)
	if err != nil {
		return err
	}
	if !got.Unchanged {
		if _, err := g.sources.store.Put(g.key, got.Revision, got.Tree, time.Now()); err != nil {
			return fmt.Errorf("storing the artifact: %w", err)
		}
	}
	g.mu.Lock()
	g.failure, g.failures, g.settled, g.made = "", 0, true, includes.key()
	g.done = &requestedPass{generation: repo.Generation, requested: repo.Annotations[requestedAt], at: time.Now()}
	g.mu.Unlock()
	g.sources.changed(g.key)
	return g.succeeded(ctx, repo, got, options.Verify != nil, includes)
}

// look looks at what is included. A source that is still being fetched wakes this one; units have an
// artifact of an earlier process meanwhile, after a while.
func (g *gitSource) look(repo *sourcev1.GitRepository) (included, error) {
	now, err := g.sources.includes(repo)
	if errors.Is(err, errIncludePending) {
		time.AfterFunc(fetchPatience, g.settle)
	}
	g.mu.Lock()
	g.seen = lookOf(now, err)
	g.mu.Unlock()
	return now, err
}

// fetchPatience is how long units wait for the first fetch of this process before they go on with
// what an earlier one fetched.
const fetchPatience = 5 * time.Second

// settle lets units have what there is.
func (g *gitSource) settle() {
	g.mu.Lock()
	known := g.settled
	g.settled = true
	g.mu.Unlock()
	if !known {
		g.sources.changed(g.key)
	}
}

// state tells whether it is known what there is, and what went wrong last.
func (g *gitSource) state() (settled bool, failure string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.settled, g.failure
}

// sameSelection tells that what is stored was selected by the same rules as are declared now.
func (g *gitSource) sameSelection(repo *sourcev1.GitRepository, now included) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.done == nil {
		return reflect.DeepEqual(repo.Status.ObservedIgnore, repo.Spec.Ignore) &&
			slices.Equal(repo.Status.ObservedSparseCheckout, repo.Spec.SparseCheckout) &&
			repo.Status.ObservedRecurseSubmodules == repo.Spec.RecurseSubmodules && sameIncludes(repo, now)
	}
	return g.done.generation == repo.Generation && g.made == now.key()
}

// wasVerified tells that the artifact was verified as it is declared now.
func wasVerified(repo *sourcev1.GitRepository) bool {
	mode := repo.Status.SourceVerificationMode
	return mode != nil && *mode == repo.Spec.Verification.GetMode() &&
		apimeta.IsStatusConditionTrue(repo.Status.Conditions, sourcev1.SourceVerifiedCondition)
}

// restore reads the artifact of an earlier process back, so that units go on when the Git server
// cannot be reached.
func (g *gitSource) restore(repo *sourcev1.GitRepository) {
	a := repo.Status.Artifact
	if a == nil {
		return
	}
	if _, known := g.sources.store.Get(g.key); known {
		return
	}
	// What cannot be read back is fetched.
	_, _ = g.sources.store.Load(g.key, a.Revision, a.Digest)
}

func (g *gitSource) client(repo *sourcev1.GitRepository) dynamic.ResourceInterface {
	return g.sources.client.Resource(gitRepositories).Namespace(repo.Namespace)
}

// finalize deletes what is stored of a source that is deleted, and lets its object go.
func (g *gitSource) finalize(ctx context.Context, repo *sourcev1.GitRepository) {
	err := g.sources.store.Delete(g.key)
	if err == nil {
		err = setFinalizer(ctx, g.client(repo), repo, false)
	}
	if err != nil && ctx.Err() == nil {
		logr.FromContextOrDiscard(ctx).Info("a deleted source could not be let go",
			"source", repo.Namespace+"/"+repo.Name, "error", err.Error())
	}
}
