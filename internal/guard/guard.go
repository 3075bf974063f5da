// Package guard has a panic end what it happened in, and nothing else.
//
// Content of tenants goes through much code that is not ours: decoders, template engines, expressions. Where one of them
// panics, the unit, source or object that was being processed fails, by name, and its neighbours continue. Every goroutine
// begins in this package, or is on a list of those that process no such content, which a law test holds. The package refuses
// to know what a unit is, and to show what a panic says: that may be a value of a Secret.
package guard

import (
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/go-logr/logr"
)

// Panic is a panic as an error.
type Panic struct {
	what   string
	stack  string
	logged atomic.Bool
}

// Error says what is safe to show.
func (p *Panic) Error() string {
	return "internal error: " + p.what + " (a bug of Headgate: the log of the engine has the stack; please report it)"
}

// Counter counts panics.
type Counter interface{ Inc() }

// Guard logs and counts panics. The zero value does neither, and turns them into errors nevertheless.
type Guard struct {
	log     logr.Logger
	counter Counter
}

// New returns a Guard.
func New(log logr.Logger, counter Counter) Guard { return Guard{log, counter} }

// Call does something for a unit or another object. A panic in it, also one that Catch made an error, is logged with its
// stack, counted, and returned.
func (g Guard) Call(of string, do func() error) error {
	err := Catch(do)
	var p *Panic
	if errors.As(err, &p) && !p.logged.Swap(true) {
		g.log.Error(nil, "a panic was recovered", "of", of, "panic", p.what, "stack", p.stack)
		if g.counter != nil {
			g.counter.Inc()
		}
	}
	return err
}

// Run is Call for what returns nothing.
func (g Guard) Run(of string, do func()) {
	_ = g.Call(of, func() error {
		do()
		return nil
	})
}

// Go is Run in a goroutine.
func (g Guard) Go(of string, do func()) { go g.Run(of, do) }

// Handler answers a request whose handler panics with 500; it is nil where there is no handler.
func (g Guard) Handler(of string, next http.Handler) http.Handler {
	if next == nil {
		return nil
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := g.Call(of, func() error {
			next.ServeHTTP(w, r)
			return nil
		})
		if err != nil {
			http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		}
	})
}

// Catch returns a panic as an error, neither logged nor counted: a Call further up does that. The panic by which a handler
// cuts a connection remains one.
func Catch(do func() error) (err error) {
	defer func() {
		switch value := recover(); value {
		case nil:
		case http.ErrAbortHandler:
			panic(value)
		default:
			err = panicOf(value)
		}
	}()
	return do()
}

// panicOf describes a panic without what it may show: only errors of the runtime have texts of their own.
func panicOf(value any) *Panic {
	if p, again := value.(*Panic); again {
		return p
	}
	what := fmt.Sprintf("a panic with a value of type %T", value)
	var known runtime.Error
	if err, is := value.(error); is && errors.As(err, &known) {
		what = "a panic: " + known.Error()
	}
	return &Panic{what: what, stack: string(debug.Stack())}
}

// Each does something for several items at a time, atOnce at most, or all at once if that is zero. The first panic is one
// of the caller once all have ended, with its own stack.
func Each[T any](items []T, atOnce int, do func(i int, item T)) {
	if atOnce <= 0 {
		atOnce = len(items)
	}
	var (
		wg     sync.WaitGroup
		failed atomic.Pointer[Panic]
	)
	slots := make(chan struct{}, atOnce)
	for i, item := range items {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			err := Catch(func() error {
				do(i, item)
				return nil
			})
			var p *Panic
			if errors.As(err, &p) {
				failed.CompareAndSwap(nil, p)
			}
		})
	}
	wg.Wait()
	if p := failed.Load(); p != nil {
		panic(p)
	}
}
