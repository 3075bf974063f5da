package sources

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
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/source"
)

// composes bounds the generators that work at a time.
const composes = 8

// Retries of a fetch that failed begin after fetchRetryMin and are at most fetchRetryMax apart.
const (
	fetchRetryMin = 750 * time.Millisecond
	FetchRetryMax = 15 * time.Minute
)

// FetchBackoff is how long a source waits after failed fetches.
var FetchBackoff = rounds.Backoff{Min: fetchRetryMin, Max: FetchRetryMax}

// Origin is the object that declares a source, of whatever kind.
type Origin interface {
	metav1.Object
	// Object is the object itself, and copy one that may be changed.
	Object() runtime.Object
	copy() Origin
	// from reads a later version of it.
	from(u *unstructured.Unstructured) (Origin, error)
	SourceKind() *SourceKind
	interval() time.Duration
	Suspended() bool
	// version changes when what the object says of its content does, for kinds where others say it.
	version() string
	// Address is the URL that it is fetched from, empty when it has none of its own.
	Address() string
	State() Status
	// fetch gets what there is now. It is called by one goroutine for each source.
	fetch(ctx context.Context, f *Feed) (*Fetched, error)
}

// Status are the parts that the status of every source has.
type Status struct {
	Conditions *[]metav1.Condition
	Artifact   **meta.Artifact
	generation *int64
	handled    *string
}

// Fetched is what a fetch gave.
type Fetched struct {
	// Store puts it into the store; nil when that has it already.
	Store func(*source.Store, source.Key) error
	// Ready words the Ready condition of an artifact, event the event for a new one.
	Ready func(*source.Artifact) (reason, message string)
	Event func(*source.Artifact) string
	// began is when it was known to be what there is, when that is not when the fetch began.
	began time.Time
	// signed stands for the keys by which it was verified.
	signed string
	// Told is the reason of that event, when it is not "NewArtifact".
	Told string
	// Observe writes down what only this kind of source has.
	Observe func(after Origin, c *toolkit.Conditions)
}

// Feed keeps one source fetched.
type Feed struct {
	sources *Keeper
	Key     source.Key

	// busy is held by a pass. What follows belongs to it: what was found last in a bucket, and what was selected last of a
	// repository of charts.
	busy     sync.Mutex
	bucket   *source.BucketResult
	selected selectedChart
	// signed stands for the keys by which what is published was verified, empty when nothing was, or by an earlier process.
	signed string

	mu  sync.Mutex
	now Origin
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

func (s *Keeper) requestOf(o Origin, at time.Time) *requestedPass {
	return &requestedPass{generation: o.GetGeneration(), requested: o.GetAnnotations()[toolkit.RequestedAt], version: s.version(o), at: at}
}

// Put takes a later version of the object.
func (f *Feed) Put(o Origin) {
	f.mu.Lock()
	f.take(o)
	f.mu.Unlock()
	f.poke()
}

// take takes a version of the object, unless it is an older one. The caller holds the lock.
func (f *Feed) take(o Origin) {
	if f.now != nil && !declared.Newer(o, f.now) {
		return
	}
	var at time.Time
	if f.now == nil || *f.sources.requestOf(o, at) != *f.sources.requestOf(f.now, at) {
		f.wished = time.Now()
	}
	f.now = o
}

// Nudge has the source fetched at once, whatever its interval.
func (f *Feed) Nudge() {
	f.mu.Lock()
	f.nudged, f.again, f.wished = true, true, time.Now()
	f.mu.Unlock()
	f.poke()
}

func (f *Feed) poke() { f.sources.passes.Wake(f.Key) }

// Current is the object as it was read last; nil before the first one.
func (f *Feed) Current() Origin {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// end releases what is kept of a source that is gone.
func (f *Feed) end() {
	f.busy.Lock()
	defer f.busy.Unlock()
	f.sources.remotes.Leave(f)
}

// MinInterval is the least time between two fetches, whatever is declared.
const MinInterval = time.Second

// Forever is the wait of what only a change can wake.
const Forever = 365 * 24 * time.Hour

// ErrPending says that something that a source is made from is about to know what it has.
var ErrPending = errors.New("its sources are being fetched")

// pass does what is due.
func (f *Feed) pass(ctx context.Context) rounds.Next {
	f.busy.Lock()
	defer f.busy.Unlock()
	f.listen(false)
	defer f.listen(true)
	o := f.Current()
	switch {
	case o == nil, ctx.Err() != nil:
		return rounds.Rest()
	case o.GetDeletionTimestamp() != nil:
		f.finalize(ctx, o)
		return rounds.After(FetchRetryMax)
	case o.Suspended() && !f.sources.Elsewhere:
		f.restore(o)
		f.Settle()
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
	err := f.sources.Guard.Call(f.Key.Kind+" "+f.Key.Namespace+"/"+f.Key.Name, func() error { return f.fetch(ctx, o) })
	if ctx.Err() != nil {
		return rounds.Rest()
	}
	if errors.Is(err, ErrPending) {
		time.AfterFunc(fetchPatience, f.Settle)
		return f.rest(o)
	}
	if f.sources.Passed != nil {
		f.sources.Passed(f.Key.Kind, f.Key.Namespace, f.Key.Name, time.Since(began), err == nil)
	}
	if err != nil {
		return f.failed(ctx, o, err)
	}
	return f.rest(o)
}

func (f *Feed) rest(o Origin) rounds.Next {
	return rounds.After(rounds.About(max(f.sources.interval(o), MinInterval)))
}

// due returns how long the source may rest: zero when it has to be fetched now.
func (f *Feed) due(o Origin) time.Duration {
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

// same reports whether there was a pass, for what is declared now.
func (p *requestedPass) same(s *Keeper, o Origin) bool {
	return p != nil && *p == *s.requestOf(o, p.at)
}

// fetch gets what is there and publishes it when it is new.
func (f *Feed) fetch(ctx context.Context, o Origin) error {
	began := time.Now()
	f.restore(o)
	defer time.AfterFunc(fetchPatience, f.Settle).Stop()
	got, err := f.sources.fetch(ctx, f, o)
	if err != nil && !errors.Is(err, ErrPending) {
		if stub, made := f.sources.StandIn(o, engine.SourceID(f.Key), err); made {
			got, err = stub, nil
		}
	}
	if err != nil {
		return err
	}
	if got.Store != nil {
		if err := got.Store(f.sources.Store, f.Key); err != nil {
			return fmt.Errorf("storing the artifact: %w", err)
		}
	}
	f.signed = got.signed
	if !got.began.IsZero() {
		began = got.began
	}
	f.mu.Lock()
	f.failure, f.failures, f.failedFor, f.settled, f.made = "", 0, nil, true, f.seen
	f.done = f.sources.requestOf(o, time.Now())
	f.noteRevision(began)
	f.mu.Unlock()
	f.sources.changed(f.Key)
	if f.sources.Foreign(o) {
		return nil
	}
	return f.succeeded(ctx, o, got)
}

// fetchPatience is how long units wait for the first fetch of this process before they continue with
// what an earlier one fetched.
const fetchPatience = 5 * time.Second

// Settle lets units have what there is.
func (f *Feed) Settle() {
	f.mu.Lock()
	known := f.settled
	f.settled = true
	f.mu.Unlock()
	if !known {
		f.sources.changed(f.Key)
	}
}

// state reports whether it is known what there is, and what went wrong last.
func (f *Feed) state() (settled bool, failure string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.settled, f.failure
}

// asked reports whether a requested fetch has not ended.
func (f *Feed) asked() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.again
}

// fetchedFor reports whether the artifact is what the object declares now.
func (f *Feed) fetchedFor(o Origin) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.done != nil && f.done.generation == o.GetGeneration() || *o.State().generation == o.GetGeneration()
}

// look notes what the source is made from now, and reports whether the artifact of this process is made
// from that and from the present declaration; known is false when this process made none yet.
func (f *Feed) look(seen string, o Origin) (same, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = seen
	if f.done == nil {
		return false, false
	}
	return f.done.generation == o.GetGeneration() && f.made == seen, true
}

func (f *Feed) lastLook() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen
}

// restore reads the artifact of an earlier process back, so that units go on when its server cannot be
// reached.
func (f *Feed) restore(o Origin) {
	a := *o.State().Artifact
	if a == nil {
		return
	}
	if _, known := f.sources.Store.Get(f.Key); known {
		return
	}
	// What cannot be read back is fetched.
	_, _ = f.sources.Store.LoadWith(f.Key, a.Revision, a.Digest, a.Metadata)
}
