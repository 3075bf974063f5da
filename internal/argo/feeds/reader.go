package feeds

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/headgate-dev/headgate/internal/rounds"
)

// reader is one revision of one repository.
type reader struct {
	feeds *Feeds
	key   Key

	// busy is held by a pass; previous belongs to it.
	busy     sync.Mutex
	previous string

	mu    sync.Mutex
	state State
	// request is the newest one that is waited for.
	request uint64
	hearing
}

// poke has it fetched at once.
func (o *reader) poke() {
	o.mu.Lock()
	o.wished = time.Now()
	o.mu.Unlock()
	o.feeds.passes.Wake(o.key)
}

// Retries of a fetch that failed begin after retryMin and are at most retryMax apart.
const (
	retryMin = 750 * time.Millisecond
	retryMax = 5 * time.Minute
)

// end releases what is kept of a feed that no one wants.
func (o *reader) end() {
	o.busy.Lock()
	defer o.busy.Unlock()
	o.feeds.cfg.Remotes.Leave(o)
}

// pass fetches.
func (o *reader) pass(ctx context.Context) rounds.Next {
	o.busy.Lock()
	defer o.busy.Unlock()
	if ctx.Err() != nil {
		return rounds.Rest()
	}
	o.listen(false)
	defer o.listen(true)
	if wait := o.rests(); wait > 0 {
		return rounds.After(wait)
	}
	began := time.Now()
	asked, since := o.since()
	var got fetched
	err := o.feeds.cfg.Guard.Call(o.key.String(), func() (err error) {
		got, err = o.fetch(ctx, since)
		return err
	})
	if ctx.Err() != nil {
		return rounds.Rest()
	}
	if o.feeds.cfg.Fetched != nil && !got.shared {
		o.feeds.cfg.Fetched(o.key, got.transferred, time.Since(began), err)
	}
	if err != nil {
		o.failed(err, asked)
		return rounds.Retry(err)
	}
	if got.began.IsZero() {
		o.heardOf(began)
	} else {
		began = got.began
	}
	o.succeeded(got, began, asked)
	return o.rest()
}

// fetched is what a fetch gave; unchanged has nothing new. It began when the pass did, unless it says when.
type fetched struct {
	State
	unchanged bool
	began     time.Time
	// shared is what another reader has requested, transferred what the server sent for this one.
	shared, transferred bool
}

// answers records which requests a fetch answers, and reports whether one of them is waited for. The caller holds the lock.
func (o *reader) answers(asked uint64) bool {
	awaited := o.request > o.state.Asked && o.request <= asked
	o.state.Asked = asked
	return awaited
}

func (o *reader) succeeded(got fetched, began time.Time, asked uint64) {
	o.mu.Lock()
	changed := o.answers(asked) || !o.state.Settled || o.state.Err != nil || !got.unchanged && !o.state.same(got.State)
	if got.unchanged {
		o.state.Settled, o.state.Err, o.state.Since = true, nil, time.Time{}
	} else {
		got.Settled, got.Asked, got.Known = true, asked, o.state.Known
		if got.Revision != o.state.Revision {
			got.Known = time.Now()
		}
		o.state = got.State
	}
	o.state.Fetched = began
	o.mu.Unlock()
	if changed {
		o.feeds.cfg.Changed(o.key)
	}
}

// same reports whether two states are of the same content, selected by the same tag.
func (s State) same(other State) bool {
	return s.Digest == other.Digest && s.Revision == other.Revision && s.Signatures.TagID() == other.Signatures.TagID()
}

func (o *reader) failed(err error, asked uint64) {
	o.mu.Lock()
	changed := o.answers(asked) || !o.state.Settled || o.state.Err == nil || o.state.Err.Error() != err.Error()
	if o.state.Err == nil {
		o.state.Since = time.Now()
	}
	o.state.Settled, o.state.Err = true, err
	o.mu.Unlock()
	if changed {
		o.feeds.cfg.Changed(o.key)
	}
}

// rest says when what was fetched is fetched again: what never changes when someone asks for it.
func (o *reader) rest() rounds.Next {
	every := o.feeds.cfg.Settings().Reconciliation
	if every.Every == 0 || o.key.Fixed() {
		return rounds.Rest()
	}
	d := every.Every
	if every.Jitter > 0 {
		d += rand.N(every.Jitter)
	}
	o.mu.Lock()
	o.due = time.Now().Add(d)
	o.mu.Unlock()
	return rounds.After(d)
}

func (o *reader) fetch(ctx context.Context, since time.Time) (fetched, error) {
	switch o.key.Kind {
	case Git:
		return o.fetchGit(ctx, since)
	case Helm:
		return o.fetchHelm(ctx, since)
	case OCI:
		return o.fetchOCI(ctx)
	case BuiltIn:
		return fetched{State: State{Revision: o.key.Revision, Digest: string(BuiltIn)}, shared: true}, nil
	default:
		return fetched{}, fmt.Errorf("%s: unknown kind of repository", o.key.Kind)
	}
}
