package process

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/headgate-dev/headgate/internal/guard"
	"github.com/headgate-dev/headgate/internal/redaction"
)

// hidden is shown instead of a secret value.
const hiddenValue = "***"

// journal keeps what a program prints, without secret values, and no more than its limit.
type journal struct {
	secrets []string
	// values are the same for what becomes a status, where they are found in other forms as well.
	values *redaction.Values
	limit  int

	copying sync.WaitGroup
	ours    []*os.File

	mu   sync.Mutex
	file *os.File
	size int
	// last is the end of what was printed to standard output.
	last    []byte
	keep    int
	cutting bool
}

// openLog begins the journal of a job.
func openLog(j *job) (*journal, error) {
	if err := os.MkdirAll(filepath.Dir(j.Log), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(j.Log, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	l := &journal{secrets: secretsOf(j.Secrets), limit: j.Limits.Log, file: f}
	l.values = redaction.NewValues(l.secrets...)
	if j.Result {
		l.keep = j.Limits.Result
	}
	return l, nil
}

// secretsOf are the values that can be hidden, the longest first. Of several lines, each is one.
func secretsOf(values []string) []string {
	const shortest, longest = 4, 64 << 10
	var all []string
	for _, value := range values {
		all = append(all, value, strings.TrimSpace(value))
		if strings.Contains(strings.TrimSpace(value), "\n") {
			all = append(all, strings.Fields(value)...)
		}
	}
	all = slices.DeleteFunc(all, func(v string) bool { return len(v) < shortest || len(v) > longest })
	slices.SortFunc(all, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return slices.Compact(all)
}

// pipe is what a program prints to.
func (l *journal) pipe(standard bool) (*os.File, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	l.ours = append(l.ours, read)
	l.copying.Add(1)
	go func() {
		defer l.copying.Done()
		_ = guard.Catch(func() error {
			into := &hiding{secrets: l.secrets, to: stream{l, standard}}
			_, err := io.Copy(into, read)
			into.flush()
			return err
		})
	}()
	return write, nil
}

// drained waits until everything is there. Where something that a program left behind may live on, it is not waited for.
func (l *journal) drained(alone bool) {
	const late = 2 * time.Second
	for _, f := range l.ours {
		if !alone {
			_ = f.SetReadDeadline(time.Now().Add(late))
		}
	}
	l.copying.Wait()
	for _, f := range l.ours {
		f.Close()
	}
}

func (l *journal) close() { l.file.Close() }

// stream is one of two that go into one file.
type stream struct {
	*journal
	standard bool
}

// Write keeps what there is room for. It never fails: the program would notice.
func (s stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.standard && s.keep > 0 {
		s.last = append(s.last, p...)
		if len(s.last) > 2*s.keep {
			s.last = slices.Clone(s.last[len(s.last)-s.keep:])
		}
	}
	room := min(len(p), s.limit-s.size)
	if room > 0 {
		_, _ = s.file.Write(p[:room])
		s.size += room
	}
	if room < len(p) && !s.cutting {
		s.cutting = true
		_, _ = fmt.Fprintf(s.file, "\n[the log is cut at %d bytes]\n", s.limit)
	}
	return len(p), nil
}

// result is the end of what was printed to standard output, without its last line break.
func (l *journal) result() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := bytes.TrimSuffix(l.last, []byte("\n"))
	return string(text[max(0, len(text)-l.keep):])
}

// hide hides secrets in what becomes a status.
func (l *journal) hide(o *outcome) {
	for name, value := range o.Parameters {
		o.Parameters[name] = l.hideIn(value)
	}
	o.Problem, o.Setup = l.hideIn(o.Problem), l.hideIn(o.Setup)
}

func (l *journal) hideIn(text string) string {
	for _, secret := range l.secrets {
		text = strings.ReplaceAll(text, secret, hiddenValue)
	}
	return l.values.Text(text)
}

// hiding is a writer that replaces secrets, also those that come in parts.
type hiding struct {
	secrets []string
	to      io.Writer
	pending []byte
}

func (h *hiding) Write(p []byte) (int, error) {
	h.pending = append(h.pending, p...)
	for _, secret := range h.secrets {
		h.pending = bytes.ReplaceAll(h.pending, []byte(secret), []byte(hiddenValue))
	}
	held := 0
	for _, secret := range h.secrets {
		held = max(held, begins(h.pending, secret))
	}
	_, _ = h.to.Write(h.pending[:len(h.pending)-held])
	h.pending = append(h.pending[:0], h.pending[len(h.pending)-held:]...)
	return len(p), nil
}

func (h *hiding) flush() {
	_, _ = h.to.Write(h.pending)
	h.pending = nil
}

// begins is how much of the end of a text is the beginning of a secret.
func begins(text []byte, secret string) int {
	for n := min(len(text), len(secret)-1); n > 0; n-- {
		if string(text[len(text)-n:]) == secret[:n] {
			return n
		}
	}
	return 0
}
