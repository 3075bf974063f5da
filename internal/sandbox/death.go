package sandbox

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Cause is why a job was ended.
type Cause string

// The causes.
const (
	Memory Cause = "memory"
	Stack  Cause = "stack"
	Time   Cause = "time"
	Output Cause = "output"
	// Killed is the end of a child by another process, such as a kernel that is out of memory; Crashed is any other end.
	Killed  Cause = "killed"
	Crashed Cause = "crashed"
)

// Death is the end of a job that exceeded a limit, or whose process ended.
type Death struct {
	Cause  Cause
	Limits Limits
	// Said is what the Go runtime said of a crash.
	Said string
}

// Error says which limit it was.
func (d *Death) Error() string {
	switch d.Cause {
	case Memory:
		return fmt.Sprintf("it used more than %s of memory (--render-memory)", size(d.Limits.Memory))
	case Stack:
		return "stack overflow: something includes or calls itself without an end"
	case Time:
		return fmt.Sprintf("it took longer than %s (--render-timeout)", d.Limits.Time)
	case Output:
		return fmt.Sprintf("it gave more than %s", size(d.Limits.Output))
	case Killed:
		return "its process was killed from outside, perhaps because the machine or the container had no memory left"
	case Crashed:
		return strings.TrimSuffix("its process ended unexpectedly: "+d.Said, ": ")
	}
	return string(d.Cause)
}

func size(bytes int64) string {
	const mebi = 1 << 20
	if bytes < mebi {
		return fmt.Sprintf("%d bytes", bytes)
	}
	return fmt.Sprintf("%d MiB", bytes/mebi)
}

// causeOf tells from what a dying child printed why it died. What templates print goes nowhere, so that it is the runtime that
// printed it.
func causeOf(printed []byte) Cause {
	switch {
	case bytes.Contains(printed, []byte("fatal error: stack overflow")):
		return Stack
	case bytes.Contains(printed, []byte("out of memory")), bytes.Contains(printed, []byte("cannot allocate memory")),
		bytes.Contains(printed, []byte("fatal error: runtime: cannot")):
		return Memory
	}
	return Crashed
}

// saidOf is the line by which the runtime says why it ends. It has no values in it.
func saidOf(printed []byte) string {
	for _, start := range []string{"fatal error: ", "runtime: ", "SIG"} {
		for line := range bytes.Lines(printed) {
			if bytes.HasPrefix(line, []byte(start)) {
				return strings.TrimSpace(string(line))
			}
		}
	}
	return ""
}

// head keeps the beginning of what is written. It is safe for concurrent use.
type head struct {
	mu   sync.Mutex
	text []byte
}

// headSize bounds what is kept.
const headSize = 16 << 10

// Write keeps what there is room for.
func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text = append(h.text, p[:min(len(p), headSize-len(h.text))]...)
	return len(p), nil
}

func (h *head) bytes() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return bytes.Clone(h.text)
}

// Quarantined reports whether a unit ended an earlier process and has to wait.
type Quarantined struct {
	// Died is when the process ended at the latest, Deaths how often it did for this unit.
	Died   time.Time
	Deaths int
	// Until is when the unit is served again.
	Until time.Time
}

// Error says until when.
func (q *Quarantined) Error() string {
	return fmt.Sprintf("in quarantine until %s: the process of the engine ended while it was rendered (%d times, last before %s), and no child process can be started here",
		q.Until.UTC().Format(time.RFC3339), q.Deaths, q.Died.UTC().Format(time.RFC3339))
}
