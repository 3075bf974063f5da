package planes

import (
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"time"
)

const (
	// calmAfter is when a plane that started has filled its caches.
	calmAfter = 5 * time.Second
	// unwound is when one that stopped has given all of its memory back.
	unwound = 30 * time.Second
)

// meter measures what planes take of the memory of this process, which has no account for each: those that start shortly
// after one another are a group, and each of it takes its share of what the group added. A group during which a plane stopped,
// or shortly before, is not measured: its planes keep the figures that they had before, if any.
type meter struct {
	// inUse is the memory in use by the process, in bytes.
	inUse func() uint64

	mu     sync.Mutex
	before uint64
	group  []string
	taken  map[string]uint64
	// stop is when a plane stopped last, void says that the group began too soon after that.
	stop time.Time
	void bool
}

// begin is called before a plane starts.
func (t *meter) begin(name string) {
	now := t.inUse()
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.group) == 0 {
		t.before, t.void = now, !t.stop.IsZero() && time.Since(t.stop) < unwound
	}
	t.group = append(t.group, name)
}

// stopped is called after a plane has stopped, or did not start.
func (t *meter) stopped() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.group, t.stop = nil, time.Now()
}

// settle is called calmAfter a plane was ready; it reports whether there is a new figure. Only the last one of a group has
// its group measured.
func (t *meter) settle(name string) bool {
	now := t.inUse()
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.group) == 0 || t.group[len(t.group)-1] != name {
		return false
	}
	if t.void {
		t.group = nil
		return false
	}
	if t.taken == nil {
		t.taken = map[string]uint64{}
	}
	share := (now - min(t.before, now)) / uint64(len(t.group))
	for _, member := range slices.Compact(t.group) {
		t.taken[member] = share
	}
	t.group = nil
	return true
}

// of is what a plane takes, in bytes; 0 when it was not measured.
func (t *meter) of(name string) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.taken[name]
}

// inUse is the memory that objects and stacks of this process take after a collection, in bytes.
func inUse() uint64 {
	runtime.GC()
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() + samples[1].Value.Uint64()
}
