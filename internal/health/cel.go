package health

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"

	"github.com/headgate-dev/headgate/internal/expression"
)

// Expr is a compiled CEL expression that yields a bool. A nil Expr yields false.
type Expr struct {
	program *expression.Program
}

// CompileHealth compiles an expression over the top-level fields of an object, such as
// "status.phase == 'Ready'".
func CompileHealth(text string) (*Expr, error) {
	env, err := expression.Environment()
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
	env, err := expression.Environment(vars...)
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
	p, err := expression.New(env, ast)
	if err != nil {
		return nil, fmt.Errorf("preparing CEL expression %q: %w", text, err)
	}
	return &Expr{program: p}, nil
}

func (e *Expr) bool(vars map[string]any) (bool, error) {
	if e == nil {
		return false, nil
	}
	out, err := e.program.Eval(vars)
	if err != nil {
		return false, fmt.Errorf("evaluating: %w", err)
	}
	value, ok := out.Value().(bool)
	if !ok {
		return false, fmt.Errorf("evaluating: it yields %s, want bool", out.Type().TypeName())
	}
	return value, nil
}

// Holds evaluates an expression made by CompileHealth over the fields of an object, or one made by Compile or CompileReady over the
// values of its variables.
func (e *Expr) Holds(fields map[string]any) (bool, error) { return e.bool(fields) }
