package rounds

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/guard"
)

// play is work for keys such as "apps/a", whose share is what comes before the slash. It notes which passes were made
// when, and holds one until the test releases it, where a test wants that.
type play struct {
	mu    sync.Mutex
	began time.Time
	made  []string
	next  map[string][]Next
	hold  map[string]chan struct{}
}

func newPlay() *play {
	return &play{began: time.Now(), next: map[string][]Next{}, hold: map[string]chan struct{}{}}
}

func (p *play) Share(key string) string {
	share, _, _ := strings.Cut(key, "/")
	return share
}

func (p *play) Pass(ctx context.Context, key string) Next {
	p.mu.Lock()
	p.made = append(p.made, fmt.Sprintf("%s %s", key, time.Since(p.began)))
	hold := p.hold[key]
	next := Rest()
	if left := p.next[key]; len(left) > 0 {
		next, p.next[key] = left[0], left[1:]
	}
	p.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
		}
	}
	return next
}

func (p *play) passes() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.made)
}

// ended has a loop end, and waits for that.
func ended(t *testing.T, l *Loop[string], stop context.CancelFunc) {
	t.Helper()
	stop()
	l.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, r := range l.rounds {
		if r.running || r.timer != nil {
			t.Errorf("%s goes on after the end: %+v", key, *r)
		}
	}
}

func TestWhenPassesAreMade(t *testing.T) {
	failure := errors.New("it failed")
	cases := map[string]struct {
		reason string
		next   []Next
		do     func(l *Loop[string])
		want   []string
	}{
		"woken": {
			reason: "what is woken has one pass, and rests",
			do:     func(l *Loop[string]) { l.Wake("k") },
			want:   []string{"k 0s"},
		},
		"after": {
			reason: "a pass says when the next one comes",
			next:   []Next{After(time.Minute), After(time.Hour), Done(nil)},
			do:     func(l *Loop[string]) { l.Wake("k") },
			want:   []string{"k 0s", "k 1m0s", "k 1h1m0s"},
		},
		"woken meanwhile": {
			reason: "what is woken does not wait for its time, and that time is gone",
			next:   []Next{After(time.Minute)},
			do: func(l *Loop[string]) {
				l.Wake("k")
				elapse(time.Second)
				l.Wake("k")
			},
			want: []string{"k 0s", "k 1s"},
		},
		"retries": {
			reason: "waits grow up to the longest one, and start from the shortest after a success",
			next:   []Next{Retry(failure), Done(failure), Retry(nil), Retry(failure), After(time.Minute), Retry(failure)},
			do:     func(l *Loop[string]) { l.Wake("k") },
			want:   []string{"k 0s", "k 1s", "k 3s", "k 7s", "k 12s", "k 1m12s", "k 1m13s"},
		},
		"at a time": {
			reason: "a pass is made at the requested time",
			do:     func(l *Loop[string]) { l.WakeAt("k", time.Now().Add(time.Minute)) },
			want:   []string{"k 1m0s"},
		},
		"at the earliest of two times": {
			reason: "the sooner time counts, in whatever order they were requested",
			do: func(l *Loop[string]) {
				l.WakeAt("a", time.Now().Add(time.Hour))
				l.WakeAt("a", time.Now().Add(time.Minute))
				l.WakeAt("b", time.Now().Add(2*time.Minute))
				l.WakeAt("b", time.Now().Add(time.Hour))
			},
			want: []string{"a 1m0s", "b 2m0s"},
		},
		"at a time that is gone": {
			reason: "what was due before is due now",
			do:     func(l *Loop[string]) { l.WakeAt("k", time.Now().Add(-time.Minute)) },
			want:   []string{"k 0s"},
		},
		"forgotten": {
			reason: "nothing wakes what is forgotten, and its failures are forgotten with it",
			next:   []Next{Retry(failure), Retry(failure), Retry(failure)},
			do: func(l *Loop[string]) {
				l.Wake("k")
				elapse(1500 * time.Millisecond)
				l.Forget("k")
				elapse(time.Hour)
				l.Wake("k")
			},
			want: []string{"k 0s", "k 1s", "k 1h0m1.5s", "k 1h0m2.5s"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPlay()
				p.next["k"] = c.next
				ctx, stop := context.WithCancel(t.Context())
				l := New(p, Options{Backoff: Backoff{Min: time.Second, Max: 5 * time.Second}})
				l.Start(ctx)
				c.do(l)
				elapse(24 * time.Hour)
				synctest.Wait()
				if diff := cmp.Diff(c.want, p.passes()); diff != "" {
					t.Errorf("%s: -want +got:\n%s", c.reason, diff)
				}
				l.mu.Lock()
				if len(l.rounds) > 0 {
					t.Errorf("%s: keys that rest are still known: %v", c.reason, l.rounds)
				}
				l.mu.Unlock()
				ended(t, l, stop)
			})
		})
	}
}

// TestBeforeTheStart has passes wait for the start of the loop; those that have not begun are one.
func TestBeforeTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlay()
		ctx, stop := context.WithCancel(t.Context())
		l := New(p, Options{})
		l.Wake("a")
		l.Wake("a")
		l.Wake("b")
		l.Forget("b")
		l.WakeAt("c", time.Now().Add(time.Minute))
		elapse(time.Hour)
		if made := p.passes(); len(made) > 0 {
			t.Errorf("passes before the start: %v", made)
		}
		l.Start(ctx)
		synctest.Wait()
		made := p.passes()
		slices.Sort(made)
		if diff := cmp.Diff([]string{"a 1h0m0s", "c 1h0m0s"}, made); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		ended(t, l, stop)
	})
}

// TestWokenDuringAPass has whatever comes during a pass be followed by exactly one more.
func TestWokenDuringAPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlay()
		p.hold["k"] = make(chan struct{})
		p.next["k"] = []Next{After(time.Hour)}
		ctx, stop := context.WithCancel(t.Context())
		l := New(p, Options{})
		l.Start(ctx)
		l.Wake("k")
		elapse(time.Second)
		for range 10 {
			l.Wake("k")
		}
		elapse(time.Second)
		close(p.hold["k"])
		elapse(24 * time.Hour)
		if diff := cmp.Diff([]string{"k 0s", "k 2s"}, p.passes()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		ended(t, l, stop)
	})
}

// TestForgottenDuringAPass ends the pass; a key that comes back has its next one when that has ended, and not before.
func TestForgottenDuringAPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &stubborn{let: make(chan struct{})}
		ctx, stop := context.WithCancel(t.Context())
		l := New(w, Options{Backoff: Backoff{Min: time.Second, Max: time.Second}})
		l.Start(ctx)
		l.Wake("k")
		synctest.Wait()
		l.Wake("k")
		l.Forget("k")
		synctest.Wait()
		if w.ended.Load() != 1 {
			t.Error("the context of a pass outlives its key")
		}
		l.Wake("k")
		synctest.Wait()
		if w.begun.Load() != 1 {
			t.Error("two passes of a key were in progress at once")
		}
		close(w.let)
		elapse(time.Hour)
		if begun := w.begun.Load(); begun != 2 {
			t.Errorf("%d passes were made, and two were requested", begun)
		}
		ended(t, l, stop)
	})
}

// stubborn is work whose passes outlive their context until they are released; the first one says that it failed.
type stubborn struct {
	let          chan struct{}
	begun, ended atomic.Int64
}

func (s *stubborn) Share(string) string { return "" }

func (s *stubborn) Pass(ctx context.Context, _ string) Next {
	first := s.begun.Add(1) == 1
	defer context.AfterFunc(ctx, func() { s.ended.Add(1) })()
	<-s.let
	if first {
		return Retry(errors.New("it failed"))
	}
	return Rest()
}

// TestWaitWaitsForPasses ends a loop while one pass is in progress and another waits for its slot.
func TestWaitWaitsForPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &stubborn{let: make(chan struct{})}
		ctx, stop := context.WithCancel(t.Context())
		l := New(w, Options{Slots: NewSlots(1)})
		l.Start(ctx)
		l.Wake("a")
		synctest.Wait()
		l.Wake("b")
		l.WakeAt("c", time.Now().Add(time.Minute))
		var over atomic.Bool
		go func() {
			l.Wait()
			over.Store(true)
		}()
		stop()
		synctest.Wait()
		if over.Load() {
			t.Error("Wait did not wait for a pass in progress")
		}
		close(w.let)
		synctest.Wait()
		l.Wake("d")
		elapse(time.Hour)
		if !over.Load() || w.begun.Load() != 1 {
			t.Errorf("over %t after %d passes; one was to be made", over.Load(), w.begun.Load())
		}
	})
}

// TestOneAtATime has many keys woken from many sides: no key has two passes at once, no more are made at a time than there
// are slots, and after the last wake-up of each key there is one more pass of it.
func TestOneAtATime(t *testing.T) {
	const keys, slots, wakers, times = 40, 4, 8, 500
	w := &counting{t: t, most: slots, busy: make([]atomic.Int64, keys), wanted: make([]atomic.Int64, keys), seen: make([]atomic.Int64, keys)}
	ctx, stop := context.WithCancel(t.Context())
	l := New(w, Options{Slots: NewSlots(slots)})
	l.Start(ctx)
	var all sync.WaitGroup
	for i := range wakers {
		all.Go(func() {
			for n := range times {
				key := (i*times*7 + n*13) % keys
				w.wanted[key].Add(1)
				l.Wake(key)
			}
		})
	}
	all.Wait()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		l.mu.Lock()
		left := len(l.rounds)
		l.mu.Unlock()
		if left == 0 {
			break
		}
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("the loop does not come to rest")
		}
	}
	for key := range keys {
		if wanted, seen := w.wanted[key].Load(), w.seen[key].Load(); wanted != seen || wanted == 0 {
			t.Errorf("key %d: its last pass saw %d of %d wake-ups", key, seen, wanted)
		}
	}
	stop()
	l.Wait()
}

// counting is work that notes how many wake-ups of a key had come when its last pass began.
type counting struct {
	t            *testing.T
	most         int64
	running      atomic.Int64
	busy         []atomic.Int64
	wanted, seen []atomic.Int64
}

func (c *counting) Share(key int) string { return fmt.Sprint(key % 3) }

func (c *counting) Pass(_ context.Context, key int) Next {
	if n := c.running.Add(1); n > c.most {
		c.t.Errorf("%d passes at a time, and there are %d slots", n, c.most)
	}
	if c.busy[key].Add(1) > 1 {
		c.t.Errorf("key %d has two passes at once", key)
	}
	c.seen[key].Store(c.wanted[key].Load())
	c.busy[key].Add(-1)
	c.running.Add(-1)
	return Rest()
}

// broken panics in the first passes of one key.
type broken struct {
	play
	times int
}

func (b *broken) Pass(ctx context.Context, key string) Next {
	next := b.play.Pass(ctx, key)
	b.mu.Lock()
	defer b.mu.Unlock()
	if key == "a/bad" && b.times > 0 {
		b.times--
		panic("broken")
	}
	return next
}

// TestPanic has a pass that panics made again ever later, though failures are retried at once here, and gives its slot back.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &broken{play: *newPlay(), times: 3}
		var logged strings.Builder
		g := guard.New(funcr.New(func(_, args string) { logged.WriteString(args) }, funcr.Options{}), nil)
		ctx, stop := context.WithCancel(t.Context())
		l := New(w, Options{Slots: NewSlots(1), Guard: g})
		l.Start(ctx)
		l.Wake("a/bad")
		l.Wake("b/good")
		elapse(time.Hour)
		if diff := cmp.Diff([]string{"a/bad 0s", "a/bad 1s", "a/bad 3s", "a/bad 7s", "b/good 0s"}, slices.Sorted(slices.Values(w.passes()))); diff != "" {
			t.Errorf("passes (-want +got):\n%s", diff)
		}
		if strings.Count(logged.String(), "a/bad") != 3 || !strings.Contains(logged.String(), "rounds_test.go") {
			t.Errorf("logged %s", logged.String())
		}
		ended(t, l, stop)
	})
}
