package notify

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"

	"github.com/headgate-dev/headgate/internal/expression"
)

// Expression is a compiled expression that yields a text, over event, alert and provider.
type Expression struct{ program *expression.Program }

// Compile compiles a commitStatusExpr.
func Compile(text string) (*Expression, error) {
	env, err := expression.Environment(
		cel.Variable("event", cel.DynType), cel.Variable("alert", cel.DynType), cel.Variable("provider", cel.DynType),
	)
	if err != nil {
		return nil, err
	}
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, fmt.Errorf("failed to parse the CEL expression '%s': %w", text, issues.Err())
	}
	if out := ast.OutputType(); !out.IsExactType(types.StringType) && !out.IsExactType(types.DynType) {
		return nil, fmt.Errorf("failed to parse the CEL expression '%s': it yields %s, want string", text, out)
	}
	program, err := expression.New(env, ast)
	if err != nil {
		return nil, fmt.Errorf("failed to parse the CEL expression '%s': %w", text, err)
	}
	return &Expression{program}, nil
}

// Evaluate returns the context of a status: what the expression yields.
func (x *Expression) Evaluate(e Event, alert, provider map[string]any) (string, error) {
	fields, err := e.fields()
	if err != nil {
		return "", err
	}
	out, err := x.program.Eval(map[string]any{"event": fields, "alert": alert, "provider": provider})
	if err != nil {
		return "", fmt.Errorf("failed to evaluate the CEL expression: %w", err)
	}
	text, ok := out.Value().(string)
	if !ok || text == "" {
		return "", errors.New("failed to evaluate the CEL expression: it does not yield a string")
	}
	return text, nil
}

// DefaultContext is what a status is filed under when no expression says so: it differs from cluster to
// cluster by the identity of the Provider.
func DefaultContext(e Event, providerUID string) string {
	id, _, _ := strings.Cut(providerUID, "-")
	return strings.ToLower(e.InvolvedObject.Kind + "/" + e.InvolvedObject.Name + "/" + id)
}
