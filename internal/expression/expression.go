// Package expression evaluates CEL expressions that tenants write, in bounded time and memory.
//
// The library counts steps, and knows nothing of what a function of an extension does in one: sets that are compared, texts that are
// replaced and joined. Here their arguments are measured before they are called. It refuses to know what an expression is about.
package expression

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"

	"github.com/headgate-dev/headgate/internal/guard"
)

// Environment has the extensions that Flux offers, bounded, and some variables.
func Environment(vars ...cel.EnvOption) (*cel.Env, error) {
	options, err := bounded()
	if err != nil {
		return nil, fmt.Errorf("creating the CEL environment: %w", err)
	}
	env, err := cel.NewEnv(append(options, vars...)...)
	if err != nil {
		return nil, fmt.Errorf("creating the CEL environment: %w", err)
	}
	return env, nil
}

// Program is an expression that can be evaluated. It is safe for concurrent use.
type Program struct {
	program cel.Program
	// runaway is set when an evaluation could not be interrupted.
	runaway atomic.Bool
}

// New prepares what an Environment has parsed or checked.
func New(env *cel.Env, ast *cel.Ast) (*Program, error) {
	p, err := env.Program(ast, cel.CostLimit(costLimit), cel.CostTracking(costs{}), cel.InterruptCheckFrequency(interruptEvery), cel.CustomDecorator(boundMatches))
	if err != nil {
		return nil, err
	}
	return &Program{program: p}, nil
}

// Eval evaluates an expression in bounded time. What cannot be interrupted is left behind, once.
func (e *Program) Eval(vars map[string]any) (ref.Val, error) {
	if e.runaway.Load() {
		return nil, errRunaway
	}
	type result struct {
		out ref.Val
		err error
	}
	over, done := make(chan struct{}), make(chan result, 1)
	go func() {
		var r result
		r.err = guard.Catch(func() (err error) {
			r.out, _, err = e.program.ContextEval(until(over), vars)
			return err
		})
		done <- r
	}()
	limit := time.NewTimer(timeLimit)
	defer limit.Stop()
	select {
	case r := <-done:
		return r.out, r.err
	case <-limit.C:
	}
	close(over)
	limit.Reset(timeLimit)
	select {
	case <-done:
	case <-limit.C:
		e.runaway.Store(true)
	}
	return nil, fmt.Errorf("it takes longer than %s", timeLimit)
}

// errRunaway is why an expression is not evaluated any more.
var errRunaway = errors.New("it did not end in time before, and is not evaluated again until it changes")

// until is a context that ends with a channel: evaluations are interrupted by nothing else.
type until <-chan struct{}

// Deadline is none that is known.
func (until) Deadline() (deadline time.Time, ok bool) { return deadline, false }

// Done is closed when time is up.
func (u until) Done() <-chan struct{} { return u }

// Err says that time is up.
func (u until) Err() error {
	select {
	case <-u:
		return errors.New("time is up")
	default:
		return nil
	}
}

// Value is none.
func (until) Value(any) any { return nil }
