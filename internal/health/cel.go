package health

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/headgate-dev/headgate/internal/guard"
)

// Expr is a compiled CEL expression that yields a bool. A nil Expr yields false.
type Expr struct {
	program cel.Program
	// runaway is set when an evaluation could not be interrupted.
	runaway atomic.Bool
}

func environment(vars ...cel.EnvOption) (*cel.Env, error) {
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

// CompileHealth compiles an expression over the top-level fields of an object, such as
// "status.phase == 'Ready'".
func CompileHealth(text string) (*Expr, error) {
	env, err := environment()
	if err != nil {
		return nil, err
	}
	// The names are the fields of an object whose type is unknown, so there is nothing to check
	// them against.
	ast, issues := env.Parse(text)
	if issues.Err() != nil {
		return nil, fmt.Errorf("parsing CEL expression %q: %w", text, issues.Err())
	}
	return program(env, ast, text)
}

// CompileReady compiles an expression over dep and self, two objects of the cluster.
func CompileReady(text string) (*Expr, error) { return Compile(text, "dep", "self") }

// Compile compiles an expression over variables, of which nothing but the names is known.
func Compile(text string, names ...string) (*Expr, error) {
	vars := make([]cel.EnvOption, 0, len(names))
	for _, name := range names {
		vars = append(vars, cel.Variable(name, cel.DynType))
	}
	env, err := environment(vars...)
	if err != nil {
		return nil, err
	}
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, fmt.Errorf("compiling CEL expression %q: %w", text, issues.Err())
	}
	if out := ast.OutputType(); !out.IsExactType(types.BoolType) && !out.IsExactType(types.DynType) {
		return nil, fmt.Errorf("compiling CEL expression %q: it yields %s, want bool", text, out)
	}
	return program(env, ast, text)
}

func program(env *cel.Env, ast *cel.Ast, text string) (*Expr, error) {
	p, err := env.Program(ast, cel.CostLimit(costLimit), cel.CostTracking(costs{}), cel.InterruptCheckFrequency(interruptEvery))
	if err != nil {
		return nil, fmt.Errorf("preparing CEL expression %q: %w", text, err)
	}
	return &Expr{program: p}, nil
}

func (e *Expr) bool(vars map[string]any) (bool, error) {
	if e == nil {
		return false, nil
	}
	out, err := e.eval(vars)
	if err != nil {
		return false, fmt.Errorf("evaluating: %w", err)
	}
	value, ok := out.Value().(bool)
	if !ok {
		return false, fmt.Errorf("evaluating: it yields %s, want bool", out.Type().TypeName())
	}
	return value, nil
}

// eval evaluates an expression in bounded time. What cannot be interrupted is left behind, once.
func (e *Expr) eval(vars map[string]any) (ref.Val, error) {
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

// Ready evaluates an expression made by CompileReady.
func (e *Expr) Ready(dep, self map[string]any) (bool, error) {
	return e.bool(map[string]any{"dep": dep, "self": self})
}

// Holds evaluates an expression made by CompileHealth over the fields of an object, or one made by Compile over
// the values of its variables.
func (e *Expr) Holds(fields map[string]any) (bool, error) { return e.bool(fields) }
