package receivers

import (
	"sync"
	"time"

	"github.com/headgate-dev/headgate/internal/guard"
)

// turns lets pieces of work be done at most once in a while for each key. What is requested meanwhile is done
// once, when the while is over: the last of it is never lost. It is safe for concurrent use.
type turns struct {
	every time.Duration

	mu sync.Mutex
	// taken has an entry for each key whose while lasts: what waits for its end, if anything does.
	taken map[string]*turn
}

// turn is a piece of work, and the callback for a failure while nothing waits for it.
type turn struct {
	work   func() error
	failed func(error)
}

func newTurns(every time.Duration) *turns { return &turns{every: every, taken: map[string]*turn{}} }

// do does the work now, and returns what came of it; or has it done later, and returns nothing.
func (t *turns) do(key string, work func() error, failed func(error)) error {
	t.mu.Lock()
	if _, busy := t.taken[key]; busy {
		t.taken[key] = &turn{work, failed}
		t.mu.Unlock()
		return nil
	}
	t.taken[key] = nil
	t.mu.Unlock()
	defer time.AfterFunc(t.every, func() { t.end(key) })
	return work()
}

// end does what waits; the key is free when nothing does.
func (t *turns) end(key string) {
	t.mu.Lock()
	waiting := t.taken[key]
	if waiting == nil {
		delete(t.taken, key)
		t.mu.Unlock()
		return
	}
	t.taken[key] = nil
	t.mu.Unlock()
	defer time.AfterFunc(t.every, func() { t.end(key) })
	if err := guard.Catch(waiting.work); err != nil {
		waiting.failed(err)
	}
}
