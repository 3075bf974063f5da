package flux

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/source"
)

// composes bounds the generators that work at a time.
const composes = 8

// Retries of a fetch that failed begin after fetchRetryMin and are at most fetchRetryMax apart.
const (
	fetchRetryMin = 750 * time.Millisecond
	fetchRetryMax = 15 * time.Minute
)

var fetchBackoff = rounds.Backoff{Min: fetchRetryMin, Max: fetchRetryMax}

// origin is the object that declares a source, of whatever kind.
type origin interface {
	metav1.Object
	// object is the object itself, and copy one that may be changed.
	object() runtime.Object
	copy() origin
	// from reads a later version of it.
	from(u *unstructured.Unstructured) (origin, error)
	kind() *sourceKind
	interval() time.Duration
	suspended() bool
	// version changes when what the object says of its content does, for kinds where others say it.
	version() string
	// address is the URL that it is fetched from, empty when it has none of its own.
	address() string
	status() sourceStatus
	// fetch gets what there is now. It is called by one goroutine for each source.
	fetch(ctx context.Context, f *feed) (*fetched, error)
}

// sourceStatus are the parts that the status of every source has.
type sourceStatus struct {
	conditions *[]metav1.Condition
	artifact   **meta.Artifact
	generation *int64
	handled    *string
}

// fetched is what a fetch gave.
type fetched struct {
	// store puts it into the store; nil when that has it already.
	store func(*source.Store, source.Key) error
	// ready words the Ready condition of an artifact, event the event for a new one.
	ready func(*source.Artifact) (reason, message string)
	event func(*source.Artifact) string
	// began is when it was known to be what there is, when that is not when the fetch began.
	began time.Time
	// told is the reason of that event, when it is not "NewArtifact".
	told string
	// observe writes down what only this kind of source has.
	observe func(after origin, c *conditions)
}

// feed keeps one source fetched.
type feed struct {
	sources *sources
	key     source.Key

	// busy is held by a pass. What follows belongs to it: what was found last in a bucket, and what was selected last of a
	// repository of charts.
	busy     sync.Mutex
	bucket   *source.BucketResult
	selected selectedChart

	mu  sync.Mutex
	now origin
	// settled is set once it is known what there is: until then units wait rather than go back to
	// what an earlier process fetched.
	settled  bool
	failure  string
	failures int
	// index is that of a repository of charts.
	index  *source.Index
	nudged bool
	// again is set from when a fetch is requested until there was one: what went wrong before may be over.
	again bool
	// done is the last pass that went well, failedFor the last one if that failed, which is repeated at retry.
	done, failedFor *requestedPass
	retry           time.Time
	hearing
	// seen is what the last check of what the source is made from returned; made is that of which the
	// artifact is made.
	seen, made string
	// has is what the source gives, known since when; began is when the last fetch began that went well.
	has          string
	known, began time.Time
}

// requestedPass is what the last successful pass had read.
type requestedPass struct {
	generation int64
	requested  string
	version    string
	at         time.Time
}

func (s *sources) requestOf(o origin, at time.Time) *requestedPass {
	return &requestedPass{generation: o.GetGeneration(), requested: o.GetAnnotations()[requestedAt], version: s.version(o), at: at}
}

func (f *feed) put(o origin) {
	f.mu.Lock()
	f.take(o)
	f.mu.Unlock()
	f.poke()
}

// take takes a version of the object, unless it is an older one. The caller holds the lock.
func (f *feed) take(o origin) {
	if f.now != nil && !declared.Newer(o, f.now) {
		return
	}
	var at time.Time
	if f.now == nil || *f.sources.requestOf(o, at) != *f.sources.requestOf(f.now, at) {
		f.wished = time.Now()
	}
	f.now = o
}

// nudge has the source fetched at once, whatever its interval.
func (f *feed) nudge() {
	f.mu.Lock()
	f.nudged, f.again, f.wished = true, true, time.Now()
	f.mu.Unlock()
	f.poke()
}

func (f *feed) poke() { f.sources.passes.Wake(f.key) }

func (f *feed) current() origin {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// end lets go of what is kept of a source that is gone.
func (f *feed) end() {
	f.busy.Lock()
	defer f.busy.Unlock()
	f.sources.remotes.Leave(f)
}

// minInterval is the least time between two fetches, whatever is declared.
const minInterval = time.Second

// forever is the wait of what only a change can wake.
const forever = 365 * 24 * time.Hour

// errPending says that something that a source is made from is about to know what it has.
var errPending = errors.New("its sources are being fetched")

// pass does what is due.
func (f *feed) pass(ctx context.Context) rounds.Next {
	f.busy.Lock()
	defer f.busy.Unlock()
	f.listen(false)
	defer f.listen(true)
	o := f.current()
	switch {
	case o == nil, ctx.Err() != nil:
		return rounds.Rest()
	case o.GetDeletionTimestamp() != nil:
		f.finalize(ctx, o)
		return rounds.After(fetchRetryMax)
	case o.suspended() && !f.sources.elsewhere:
		f.restore(o)
		f.settle()
		return rounds.Rest()
	}
	if wait := f.due(o); wait > 0 {
		return rounds.After(wait)
	}
	turn, ok := f.sources.slot(ctx, o)
	if !ok {
		return rounds.Rest()
	}
	defer turn.End()
	began := time.Now()
	err := f.fetch(ctx, o)
	if ctx.Err() != nil {
		return rounds.Rest()
	}
	if errors.Is(err, errPending) {
		time.AfterFunc(fetchPatience, f.settle)
		return f.rest(o)
	}
	if f.sources.passed != nil {
		f.sources.passed(f.key.Kind, f.key.Namespace, f.key.Name, time.Since(began), err == nil)
	}
	if err != nil {
		return f.failed(ctx, o, err)
	}
	return f.rest(o)
}

func (f *feed) rest(o origin) rounds.Next {
	return rounds.After(rounds.About(max(f.sources.interval(o), minInterval)))
}

// due returns how long the source may rest: zero when it has to be fetched now.
func (f *feed) due(o origin) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	nudged := f.nudged
	f.nudged = false
	switch {
	case nudged:
		return 0
	case f.failedFor.same(f.sources, o):
		return max(0, time.Until(f.retry))
	case f.done.same(f.sources, o):
		return max(0, time.Until(f.done.at.Add(f.sources.interval(o))))
	}
	return 0
}

// same tells whether there was a pass, for what is declared now.
func (p *requestedPass) same(s *sources, o origin) bool {
	return p != nil && *p == *s.requestOf(o, p.at)
}

// fetch gets what is there and publishes it when it is new.
func (f *feed) fetch(ctx context.Context, o origin) error {
	began := time.Now()
	f.restore(o)
	defer time.AfterFunc(fetchPatience, f.settle).Stop()
	got, err := f.sources.fetch(ctx, f, o)
	if err != nil && !errors.Is(err, errPending) {
		if stub, made := f.sources.standIn(o, engine.SourceID(f.key), err); made {
			got, err = stub, nil
		}
	}
	if err != nil {
		return err
	}
	if got.store != nil {
		if err := got.store(f.sources.store, f.key); err != nil {
			return fmt.Errorf("storing the artifact: %w", err)
		}
	}
	if !got.began.IsZero() {
		began = got.began
	}
	f.mu.Lock()
	f.failure, f.failures, f.failedFor, f.settled, f.made = "", 0, nil, true, f.seen
	f.done = f.sources.requestOf(o, time.Now())
	f.noteRevision(began)
	f.mu.Unlock()
	f.sources.changed(f.key)
	if f.sources.foreign(o) {
		return nil
	}
	return f.succeeded(ctx, o, got)
}

// fetchPatience is how long units wait for the first fetch of this process before they continue with
// what an earlier one fetched.
const fetchPatience = 5 * time.Second

// settle lets units have what there is.
func (f *feed) settle() {
	f.mu.Lock()
	known := f.settled
	f.settled = true
	f.mu.Unlock()
	if !known {
		f.sources.changed(f.key)
	}
}

// state tells whether it is known what there is, and what went wrong last.
func (f *feed) state() (settled bool, failure string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.settled, f.failure
}

// asked reports whether a requested fetch has not ended.
func (f *feed) asked() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.again
}

// fetchedFor tells whether the artifact is what the object declares now.
func (f *feed) fetchedFor(o origin) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.done != nil && f.done.generation == o.GetGeneration() || *o.status().generation == o.GetGeneration()
}

// look notes what the source is made from now, and tells whether the artifact of this process is made
// from that and from the present declaration; known is false when this process made none yet.
func (f *feed) look(seen string, o origin) (same, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = seen
	if f.done == nil {
		return false, false
	}
	return f.done.generation == o.GetGeneration() && f.made == seen, true
}

func (f *feed) lastLook() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen
}

// restore reads the artifact of an earlier process back, so that units go on when its server cannot be
// reached.
func (f *feed) restore(o origin) {
	a := *o.status().artifact
	if a == nil {
		return
	}
	if _, known := f.sources.store.Get(f.key); known {
		return
	}
	// What cannot be read back is fetched.
	_, _ = f.sources.store.LoadWith(f.key, a.Revision, a.Digest, a.Metadata)
}
