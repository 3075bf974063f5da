package guard_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-logr/logr/funcr"

	"github.com/headgate-dev/headgate/internal/guard"
)

// counter counts.
type counter struct{ n atomic.Int32 }

func (c *counter) Inc() { c.n.Add(1) }

// recorded is a Guard, with what it logs and counts.
func recorded() (guard.Guard, *strings.Builder, *counter) {
	var log strings.Builder
	var c counter
	return guard.New(funcr.New(func(_, args string) { log.WriteString(args) }, funcr.Options{}), &c), &log, &c
}

// breaks is the function that stacks have to name.
func breaks(value any) error { panic(value) }

func outOfRange(at int) error { return []error{nil}[at] }

// TestCall has panics end as errors, logged once with the stack and without what they say.
func TestCall(t *testing.T) {
	plain := errors.New("plain")
	cases := map[string]struct {
		reason string
		do     func() error
		want   string
		logged string
	}{
		"None":    {"nothing happened", func() error { return nil }, "", ""},
		"Error":   {"an error stays what it is", func() error { return plain }, "plain", ""},
		"Runtime": {"errors of the runtime show no content", func() error { return outOfRange(3) }, "index out of range [3] with length 1", "outOfRange"},
		"Text":    {"the text of another panic may have a secret", func() error { return breaks("password is hunter2") }, "value of type string", "breaks"},
		"Value":   {"so may that of an error", func() error { return breaks(errors.New("hunter2")) }, "value of type *errors.errorString", "breaks"},
		"Caught": {"one that was an error already is logged here", func() error {
			return errors.Join(plain, guard.Catch(func() error { return breaks("hunter2") }))
		}, "plain", "breaks"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g, log, count := recorded()
			err := g.Call("Kustomization apps/web", func() error { return g.Call("inner", c.do) })
			switch {
			case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%s: got %v, want %q", c.reason, err, c.want)
			case strings.Contains(log.String()+errors.Join(err, plain).Error(), "hunter2"):
				t.Errorf("%s: the value of the panic is shown: %v, %s", c.reason, err, log)
			}
			if c.logged == "" {
				if log.Len() > 0 || count.n.Load() > 0 {
					t.Errorf("%s: logged %q, and counted %d", c.reason, log, count.n.Load())
				}
				return
			}
			if !strings.Contains(log.String(), c.logged) || strings.Count(log.String(), "a panic was recovered") != 1 || count.n.Load() != 1 {
				t.Errorf("%s: logged %q, and counted %d; want one with the stack of %s", c.reason, log, count.n.Load(), c.logged)
			}
		})
	}
}

// TestEach has all items done when one panics, and the caller panic after that, with the stack of the item.
func TestEach(t *testing.T) {
	g, log, count := recorded()
	var done, atOnce, most atomic.Int32
	err := g.Call("Kustomization apps/web", func() error {
		guard.Each([]string{"a", "b", "c", "d", "e"}, 2, func(i int, item string) {
			for now := atOnce.Add(1); now > most.Load(); {
				most.Store(now)
			}
			defer atOnce.Add(-1)
			if item == "b" && i == 1 {
				_ = breaks(item)
			}
			done.Add(1)
		})
		t.Error("the caller continued after a panic of an item")
		return nil
	})
	var p *guard.Panic
	if !errors.As(err, &p) || done.Load() != 4 || most.Load() > 2 {
		t.Errorf("got %v with %d items done, at most %d at once; want a panic, the other 4, and 2", err, done.Load(), most.Load())
	}
	if !strings.Contains(log.String(), "breaks") || count.n.Load() != 1 {
		t.Errorf("logged %q, and counted %d", log, count.n.Load())
	}
	guard.Each(nil, 0, func(int, string) { t.Error("there is no item") })
}

// TestHandler has a request whose handler panics answered, and counted.
func TestHandler(t *testing.T) {
	g, log, count := recorded()
	answer := httptest.NewRecorder()
	handler := g.Handler("hooks", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { _ = breaks("hunter2") }))
	handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/hook", http.NoBody))
	if answer.Code != http.StatusInternalServerError || count.n.Load() != 1 || !strings.Contains(log.String(), "breaks") {
		t.Errorf("got %d, counted %d, logged %q", answer.Code, count.n.Load(), log)
	}
}
