package notify

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/ext"
)

// costLimit bounds the evaluation of one expression.
const costLimit = 1_000_000

// Expression is a compiled expression that yields a text, over event, alert and provider.
type Expression struct{ program cel.Program }

// Compile compiles a commitStatusExpr.
func Compile(text string) (*Expression, error) {
	env, err := cel.NewEnv(
		cel.Variable("event", cel.DynType), cel.Variable("alert", cel.DynType), cel.Variable("provider", cel.DynType),
		cel.CrossTypeNumericComparisons(true), cel.OptionalTypes(), ext.Strings(), ext.Sets(), ext.Encoders(),
	)
	if err != nil {
		return nil, fmt.Errorf("creating the CEL environment: %w", err)
	}
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, fmt.Errorf("compiling CEL expression %q: %w", text, issues.Err())
	}
	if out := ast.OutputType(); !out.IsExactType(types.StringType) && !out.IsExactType(types.DynType) {
		return nil, fmt.Errorf("compiling CEL expression %q: it yields %s, want string", text, out)
	}
	program, err := env.Program(ast, cel.CostLimit(costLimit))
	if err != nil {
		return nil, fmt.Errorf("preparing CEL expression %q: %w", text, err)
	}
	return &Expression{program}, nil
}

// Evaluate returns the context of a status: what the expression yields.
func (x *Expression) Evaluate(e Event, alert, provider map[string]any) (string, error) {
	fields, err := e.fields()
	if err != nil {
		return "", err
	}
	out, _, err := x.program.Eval(map[string]any{"event": fields, "alert": alert, "provider": provider})
	if err != nil {
		return "", fmt.Errorf("evaluating: %w", err)
	}
	text, ok := out.Value().(string)
	if !ok || text == "" {
		return "", fmt.Errorf("evaluating: it does not yield a string")
	}
	return text, nil
}

// DefaultContext is what a status is filed under when no expression says so: it differs from cluster to
// cluster by the identity of the Provider.
func DefaultContext(e Event, providerUID string) string {
	id, _, _ := strings.Cut(providerUID, "-")
	return strings.ToLower(e.InvolvedObject.Kind + "/" + e.InvolvedObject.Name + "/" + id)
}
