package flux

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
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
	wake    chan struct{}
	stop    context.CancelFunc

	mu       sync.Mutex
	repo     *sourcev1.GitRepository
	failure  string
	failures int
	nudged   bool
	done     *requestedPass
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
		return forever
	}
	if wait := g.due(repo); wait > 0 {
		return wait
	}
	select {
	case g.sources.slots <- struct{}{}:
		defer func() { <-g.sources.slots }()
	case <-ctx.Done():
		return forever
	}
	if err := g.fetch(ctx, repo); err != nil {
		if ctx.Err() != nil {
			return forever
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
	var revision string
	var tree *source.Tree
	before, known := g.sources.store.Get(g.key)
	if known && g.sameSelection(repo) {
		revision, tree = before.Revision, before.Tree
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
	g.failure, g.failures = "", 0
	g.done = &requestedPass{generation: repo.Generation, requested: repo.Annotations[requestedAt], at: time.Now()}
	g.mu.Unlock()
	g.sources.changed(g.key)
	return g.succeeded(ctx, repo, got)
}

// sameSelection tells that what is stored was selected by the same rules as are declared now.
func (g *gitSource) sameSelection(repo *sourcev1.GitRepository) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.done == nil {
		return reflect.DeepEqual(repo.Status.ObservedIgnore, repo.Spec.Ignore)
	}
	return g.done.generation == repo.Generation
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
	if _, err := g.sources.store.Load(g.key, a.Revision, a.Digest); err == nil {
		g.sources.changed(g.key)
	}
}

func (g *gitSource) succeeded(ctx context.Context, repo *sourcev1.GitRepository, got *source.GitResult) error {
	a, ok := g.sources.store.Get(g.key)
	if !ok {
		return errors.New("the artifact is gone")
	}
	after := repo.Status.DeepCopy()
	c := g.conditions(repo, after)
	c.drop(conditionReconciling, conditionStalled, sourcev1.FetchFailedCondition, sourcev1.StorageOperationFailedCondition,
		sourcev1.ArtifactOutdatedCondition)
	message := fmt.Sprintf("stored artifact for revision '%s'", a.Revision)
	c.set(conditionReady, metav1.ConditionTrue, meta.SucceededReason, message)
	c.set(sourcev1.ArtifactInStorageCondition, metav1.ConditionTrue, meta.SucceededReason, message)
	after.Conditions = c.sorted()
	after.ObservedGeneration = repo.Generation
	after.ObservedIgnore = repo.Spec.Ignore
	if after.Artifact == nil || after.Artifact.Revision != a.Revision || after.Artifact.Digest != a.Digest || after.Artifact.URL != a.URL {
		size := a.Size
		after.Artifact = &meta.Artifact{
			Path: a.Path, URL: a.URL, Revision: a.Revision, Digest: a.Digest, Size: &size,
			LastUpdateTime: metav1.NewTime(a.LastUpdate.Truncate(time.Second)),
		}
	}
	if requested := repo.Annotations[requestedAt]; requested != "" {
		after.LastHandledReconcileAt = requested
	}
	if !got.Unchanged {
		g.sources.events.emit(repo, corev1.EventTypeNormal, "NewArtifact",
			fmt.Sprintf("stored artifact for commit '%s'", subject(got.CommitMessage)), map[string]string{
				"source.toolkit.fluxcd.io/revision": a.Revision, "source.toolkit.fluxcd.io/digest": a.Digest,
			})
	}
	return g.patch(ctx, repo, after)
}

func subject(message string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	return first
}

func (g *gitSource) conditions(repo *sourcev1.GitRepository, s *sourcev1.GitRepositoryStatus) *conditions {
	return &conditions{
		list: s.Conditions, generation: repo.Generation, now: metav1.NewTime(time.Now().Truncate(time.Second)),
	}
}

// failed writes down why a fetch failed; the last artifact is kept.
func (g *gitSource) failed(ctx context.Context, repo *sourcev1.GitRepository, err error) time.Duration {
	g.mu.Lock()
	g.failures++
	failures := g.failures
	news := g.failure != err.Error()
	g.failure = err.Error()
	g.mu.Unlock()
	reason, terminal := failureReason(err)
	after := repo.Status.DeepCopy()
	c := g.conditions(repo, after)
	c.set(sourcev1.FetchFailedCondition, metav1.ConditionTrue, reason, err.Error())
	c.set(conditionReady, metav1.ConditionFalse, reason, err.Error())
	if terminal {
		c.drop(conditionReconciling)
		c.set(conditionStalled, metav1.ConditionTrue, reason, err.Error())
		after.ObservedGeneration = repo.Generation
	} else {
		c.set(conditionReconciling, metav1.ConditionTrue, meta.ProgressingWithRetryReason, err.Error())
	}
	after.Conditions = c.sorted()
	if requested := repo.Annotations[requestedAt]; requested != "" {
		after.LastHandledReconcileAt = requested
	}
	if news {
		g.sources.events.emit(repo, corev1.EventTypeWarning, reason, err.Error(), nil)
		g.sources.tell(g.key, err.Error())
	}
	if err := g.patch(ctx, repo, after); err != nil {
		logr.FromContextOrDiscard(ctx).Info("the state of a source could not be written down",
			"source", repo.Namespace+"/"+repo.Name, "error", err.Error())
	}
	g.sources.changed(g.key)
	if terminal {
		return forever
	}
	return min(fetchRetryMin<<min(failures-1, 12), fetchRetryMax)
}

// failureReason is the reason of Flux for an error, and whether only a change can help.
func failureReason(err error) (reason string, terminal bool) {
	var unsupported *unsupportedError
	switch {
	case errors.As(err, &unsupported):
		return "UnsupportedField", true
	case errors.Is(err, source.ErrURL):
		return sourcev1.URLInvalidReason, true
	case errors.Is(err, source.ErrAuth):
		return sourcev1.AuthenticationFailedReason, false
	default:
		return sourcev1.GitOperationFailedReason, false
	}
}

func (g *gitSource) patch(ctx context.Context, repo *sourcev1.GitRepository, after *sourcev1.GitRepositoryStatus) error {
	if reflect.DeepEqual(repo.Status, *after) {
		return nil
	}
	patch, err := statusPatch(repo.Status, after)
	if err != nil {
		return fmt.Errorf("encoding the status: %w", err)
	}
	u, err := g.client(repo).Patch(ctx, repo.Name, types.MergePatchType, patch,
		metav1.PatchOptions{FieldManager: sourceField}, "status")
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	written, err := asGitRepository(u)
	if err != nil {
		return err
	}
	g.mu.Lock()
	if !newer(g.repo.ResourceVersion, written.ResourceVersion) {
		g.repo = written
	}
	g.mu.Unlock()
	return nil
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
