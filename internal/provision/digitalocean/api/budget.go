package api

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/headgate-dev/headgate/internal/rounds"
)

// budget lets requests be sent at the rate of a token, in fair shares of kinds: the polls of a thousand Droplets do not keep
// an image from being created.
type budget struct {
	// turns is one slot, which the next request to be sent holds until it is.
	turns  *rounds.Slots
	mu     sync.Mutex
	ledger ledger
}

func newBudget(perMinute int) *budget {
	if perMinute <= 0 {
		perMinute = usualPerMinute
	}
	return &budget{turns: rounds.NewSlots(1), ledger: ledger{perMinute: perMinute}}
}

// spend waits until a request of a kind may be sent, and counts it. It does not wait for what comes after the deadline of ctx.
func (b *budget) spend(ctx context.Context, kind string) error {
	turn, ok := b.turns.Take(ctx, kind)
	if !ok {
		return fmt.Errorf("waiting for the rate limit: %w", ctx.Err())
	}
	defer turn.End()
	for {
		now := time.Now()
		at := b.next(now)
		if !at.After(now) {
			return nil
		}
		if deadline, has := ctx.Deadline(); has && at.After(deadline) {
			return &ThrottledError{Until: at}
		}
		if err := sleep(ctx, at.Sub(now)); err != nil {
			return fmt.Errorf("waiting for the rate limit: %w", err)
		}
	}
}

// next is when the next request may be sent; if that is now, it is counted.
func (b *budget) next(now time.Time) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := b.ledger.next(now)
	if !at.After(now) {
		b.ledger.send(now)
	}
	return at
}

// answered records the answer to a request; nil is none.
func (b *budget) answered(answer *http.Response) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if answer == nil {
		b.ledger.fail()
		return
	}
	b.ledger.answered(time.Now(), answer.StatusCode, answer.Header)
}

// paused is until when the API admits nothing.
func (b *budget) paused() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ledger.pause
}

// sleep waits for a time, or for the end of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
