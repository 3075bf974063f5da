package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	// firstWait is how long a unit waits after it ended the process for the first time. It doubles with each further time.
	firstWait = time.Minute
	longest   = time.Hour
	// forgotten is how long a unit is remembered that is not served any more.
	forgotten = 24 * time.Hour
)

// record is what is known of a unit that is rendered in this process.
type record struct {
	Of string
	// Running is set while it is rendered: one that is still set at a start says that the process ended meanwhile.
	Running bool
	Deaths  int
	Died    time.Time
}

// until is when the unit is served again.
func (r record) until() time.Time {
	wait := firstWait
	for i := 1; i < r.Deaths && wait < longest; i++ {
		wait *= 2
	}
	return r.Died.Add(min(wait, longest))
}

// ledger keeps records of units on disk, by which a process knows what ended the one before it.
type ledger struct {
	dir string

	mu   sync.Mutex
	died map[string]record
}

// openLedger reads what an earlier process left. Without a directory there is nothing to read, and nothing is kept.
func openLedger(dir string, now time.Time) *ledger {
	l := &ledger{died: map[string]record{}}
	if dir == "" {
		return l
	}
	l.dir = filepath.Join(dir, "rendering")
	names, _ := filepath.Glob(filepath.Join(l.dir, "*.json"))
	for _, name := range names {
		var r record
		data, err := os.ReadFile(name)
		if err != nil || json.Unmarshal(data, &r) != nil || !r.Running && now.Sub(r.Died) > forgotten {
			_ = os.Remove(name)
			continue
		}
		if r.Running {
			r.Running, r.Died, r.Deaths = false, now, r.Deaths+1
			l.write(r)
		}
		l.died[r.Of] = r
	}
	return l
}

// enter records that a unit is about to be rendered, unless it has to wait.
func (l *ledger) enter(of string, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.died[of]
	if until := r.until(); r.Deaths > 0 && now.Before(until) {
		return &Quarantined{Died: r.Died, Deaths: r.Deaths, Until: until}
	}
	r.Of, r.Running = of, true
	l.write(r)
	return nil
}

// leave records that the process outlived the render of a unit.
func (l *ledger) leave(of string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.died, of)
	if l.dir != "" {
		_ = os.Remove(l.file(of))
	}
}

func (l *ledger) file(of string) string {
	sum := sha256.Sum256([]byte(of))
	return filepath.Join(l.dir, hex.EncodeToString(sum[:])+".json")
}

// write writes a record. What cannot be written is not in quarantine after a restart, which is no reason not to render.
func (l *ledger) write(r record) {
	if l.dir == "" {
		return
	}
	const mine, private = 0o700, 0o600
	data, err := json.Marshal(r)
	if err == nil && os.MkdirAll(l.dir, mine) == nil {
		_ = os.WriteFile(l.file(r.Of), data, private)
	}
}

// alone runs a job in this process when no other one runs, so that it is known which one ended the process.
func (p *Pool) alone(ctx context.Context, of string, work call) ([]byte, error) {
	select {
	case p.one <- struct{}{}:
		defer func() { <-p.one }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if err := p.ledger.enter(of, time.Now()); err != nil {
		return nil, err
	}
	running := begin(ctx, work)
	ended := make(chan outcome, 1)
	go func() {
		o := <-running
		p.ledger.leave(of) // Also of one that took too long: until then it may still end the process.
		ended <- o
	}()
	return await(ctx, ended, p.config.Limits.Time)
}
