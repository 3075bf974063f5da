package health

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/ext"
)

// costLimit bounds the evaluation of one expression.
const costLimit = 1_000_000

// Expr is a compiled CEL expression that yields a bool. A nil Expr yields false.
type Expr struct {
	program cel.Program
}

func environment(vars ...cel.EnvOption) (*cel.Env, error) {
	options := []cel.EnvOption{
		cel.CrossTypeNumericComparisons(true), cel.OptionalTypes(),
		ext.Strings(), ext.Sets(), ext.Encoders(),
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
	p, err := env.Program(ast, cel.CostLimit(costLimit))
	if err != nil {
		return nil, fmt.Errorf("preparing CEL expression %q: %w", text, err)
	}
	return &Expr{program: p}, nil
}

func (e *Expr) bool(vars map[string]any) (bool, error) {
	if e == nil {
		return false, nil
	}
	out, _, err := e.program.Eval(vars)
	if err != nil {
		return false, fmt.Errorf("evaluating: %w", err)
	}
	value, ok := out.Value().(bool)
	if !ok {
		return false, fmt.Errorf("evaluating: it yields %s, want bool", out.Type().TypeName())
	}
	return value, nil
}

// Ready evaluates an expression made by CompileReady.
func (e *Expr) Ready(dep, self map[string]any) (bool, error) {
	return e.bool(map[string]any{"dep": dep, "self": self})
}

// Holds evaluates an expression made by CompileHealth over the fields of an object, or one made by Compile over
// the values of its variables.
func (e *Expr) Holds(fields map[string]any) (bool, error) { return e.bool(fields) }
