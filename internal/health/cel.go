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
	text    string
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
		return nil, unparsed(text, issues.Err())
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
		return nil, unparsed(text, issues.Err())
	}
	if out := ast.OutputType(); !out.IsExactType(types.BoolType) && !out.IsExactType(types.DynType) {
		return nil, unparsed(text, fmt.Errorf("it yields %s, want bool", out))
	}
	return program(env, ast, text)
}

func program(env *cel.Env, ast *cel.Ast, text string) (*Expr, error) {
	p, err := expression.New(env, ast)
	if err != nil {
		return nil, unparsed(text, err)
	}
	return &Expr{program: p, text: text}, nil
}

// unparsed is the error of an expression that is none. People search for these words, which are Flux's.
func unparsed(text string, err error) error {
	return fmt.Errorf("failed to parse the CEL expression '%s': %w", text, err)
}

// unevaluated is the error of an expression that gives nothing for the values at hand, in Flux's words as well.
func (e *Expr) unevaluated(err error) error {
	return fmt.Errorf("failed to evaluate the CEL expression '%s': %w", e.text, err)
}

func (e *Expr) bool(vars map[string]any) (bool, error) {
	if e == nil {
		return false, nil
	}
	out, err := e.program.Eval(vars)
	if err != nil {
		return false, e.unevaluated(err)
	}
	value, ok := out.Value().(bool)
	if !ok {
		return false, e.unevaluated(fmt.Errorf("it yields %s, want bool", out.Type().TypeName()))
	}
	return value, nil
}

// Holds evaluates an expression made by CompileHealth over the fields of an object, or one made by Compile or CompileReady over the
// values of its variables.
func (e *Expr) Holds(fields map[string]any) (bool, error) { return e.bool(fields) }
