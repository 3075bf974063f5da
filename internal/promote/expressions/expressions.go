// Package expressions evaluates the expressions of promotions: text between ${{ and }}, or ${% and %}, in the strings of a step's configuration, in
// variables and in conditions. It takes what a step may see as values, and reads objects of the Project only by functions that it is given.
//
// It refuses expressions that take more time or memory than those of workflows may, and results that grow beyond a bound.
package expressions

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/text"
)

const (
	// maxResult bounds what the expressions of one string give, in bytes.
	maxResult = 1 << 20
	// maxExpressions bounds how many expressions one configuration, or one set of variables, may have.
	maxExpressions = 500
)

// Scope is what expressions see.
type Scope struct {
	// Project, Stage and Promotion are the names of these.
	Project, Stage, Promotion string
	// Now is the current time.
	Now time.Time
	// Actor is who created the Promotion.
	Actor string
	// Rollback is true if the Promotion goes back to an earlier Freight.
	Rollback bool
	// Target is the Freight that is promoted, TargetAlias its alias, and Freight all that the Stage will have.
	Target      v1alpha1.FreightReference
	TargetAlias string
	Freight     []v1alpha1.FreightReference
	// Requests are what the Stage takes.
	Requests []v1alpha1.FreightRequest
	// Vars are variables with their values.
	Vars map[string]any
	// Outputs are those of the steps before, by their aliases.
	Outputs map[string]any
	// Steps are what became of the steps before.
	Steps []v1alpha1.StepExecutionMetadata
	// Alias is that of the step.
	Alias string
	// Read gives the data of an object that a function names, or ErrNone; a nil one refuses them all.
	Read func(kind Kind, name string) (map[string]any, error)
}

// ErrNone is that an object does not exist: a ConfigMap or a Secret without data, as upstream, and an error for metadata.
var ErrNone = errors.New("there is none")

// Kind is the kind of an object that a function reads.
type Kind string

// The kinds of objects that functions read.
const (
	ConfigMap       Kind = "ConfigMap"
	Secret          Kind = "Secret"
	SharedConfigMap Kind = "shared ConfigMap"
	SharedSecret    Kind = "shared Secret"
	FreightMetadata Kind = "metadata of Freight"
	StageMetadata   Kind = "metadata of Stage"
)

// delimiters are what begins and ends an expression.
var delimiters = [...][2]string{{"${{", "}}"}, {"${%", "%}"}}

// Config evaluates the expressions in the values of a configuration; those in keys stay as they are.
func Config(config v1alpha1.Config, scope *Scope) (map[string]any, error) {
	e := scope.evaluator()
	evaluated := make(map[string]any, len(config))
	for key, value := range config {
		result, err := e.walk(value)
		if err != nil {
			return nil, fmt.Errorf("config.%s: %w", key, err)
		}
		evaluated[key] = result
	}
	return evaluated, nil
}

// Vars evaluates variables in their order: each may use those before it, and replaces one of the same name.
func Vars(variables []v1alpha1.ExpressionVariable, scope *Scope) (map[string]any, error) {
	inner := *scope
	inner.Vars = make(map[string]any, len(variables)+len(scope.Vars))
	for name, value := range scope.Vars {
		inner.Vars[name] = value
	}
	e := inner.evaluator()
	for _, variable := range variables {
		value, err := e.template(variable.Value)
		if err != nil {
			return nil, fmt.Errorf("vars: %s: %w", variable.Name, err)
		}
		inner.Vars[variable.Name] = value
	}
	return inner.Vars, nil
}

// Runs reports whether a step runs: what its condition says, or without one whether no step before failed.
func Runs(step v1alpha1.PromotionStep, scope *Scope) (bool, error) {
	if step.If == "" {
		return scope.success(), nil
	}
	value, err := scope.evaluator().template(step.If)
	if err != nil {
		return false, fmt.Errorf("if: %w", err)
	}
	is, isBool := value.(bool)
	if !isBool {
		return false, fmt.Errorf("if: the expression %q gives a %T, and has to give true or false", step.If, value)
	}
	return is, nil
}

// evaluator evaluates within one scope, and counts.
type evaluator struct {
	env  map[string]any
	now  time.Time
	left int
}

func (s *Scope) evaluator() *evaluator {
	return &evaluator{env: s.environment(), now: s.Now, left: maxExpressions}
}

func (e *evaluator) walk(value any) (any, error) {
	switch v := value.(type) {
	case string:
		return e.template(v)
	case map[string]any:
		evaluated := make(map[string]any, len(v))
		for key, item := range v {
			result, err := e.walk(item)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", key, err)
			}
			evaluated[key] = result
		}
		return evaluated, nil
	case []any:
		evaluated := make([]any, len(v))
		for i, item := range v {
			result, err := e.walk(item)
			if err != nil {
				return nil, fmt.Errorf("[%d]: %w", i, err)
			}
			evaluated[i] = result
		}
		return evaluated, nil
	default:
		return value, nil
	}
}

// template evaluates a string. One without expressions stays as it is, also if it looks like a number.
func (e *evaluator) template(template string) (any, error) {
	var out strings.Builder
	found := false
	for rest := template; ; {
		before, expression, after, err := next(rest)
		if err != nil {
			return nil, err
		}
		out.WriteString(before)
		if expression == "" && after == "" && before == rest {
			break
		}
		found = true
		if e.left--; e.left < 0 {
			return nil, fmt.Errorf("there are more than %d expressions", maxExpressions)
		}
		value, err := e.evaluate(expression)
		if err != nil {
			return nil, err
		}
		out.WriteString(value)
		if out.Len() > maxResult {
			return nil, fmt.Errorf("the expressions of %.40q give more than %d bytes", template, maxResult)
		}
		rest = after
	}
	if !found {
		return template, nil
	}
	return coerce(out.String()), nil
}

// next finds the first expression in a text.
func next(rest string) (before, expression, after string, err error) {
	start, which := -1, 0
	for i, d := range delimiters {
		if at := strings.Index(rest, d[0]); at >= 0 && (start < 0 || at < start) {
			start, which = at, i
		}
	}
	if start < 0 {
		return rest, "", "", nil
	}
	begin, end := delimiters[which][0], delimiters[which][1]
	expression, after, closed := strings.Cut(rest[start+len(begin):], end)
	switch {
	case !closed:
		return "", "", "", fmt.Errorf("the expression that begins with %.40q has no %s at its end", rest[start:], end)
	case strings.TrimSpace(expression) == "":
		return "", "", "", fmt.Errorf("an expression is empty: %s%s%s", begin, expression, end)
	}
	return rest[:start], expression, after, nil
}

// evaluate is the value of an expression as text: a string as it is, anything else as JSON.
func (e *evaluator) evaluate(expression string) (string, error) {
	value, err := text.Evaluate(strings.TrimSpace(expression), text.NewScope(e.now), e.env)
	if err != nil {
		return "", err
	}
	if s, isText := value.(string); isText {
		return s, nil
	}
	data, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("the expression %q gives a %T, which is not a value of JSON", expression, value)
	}
	return string(data), nil
}

// coerce gives the result of expressions its type: text in quotes is a string without them; else what is a number, true or false, or JSON is that.
func coerce(result string) any {
	trimmed, newline := strings.CutSuffix(result, "\n")
	ending := ""
	if newline {
		ending = "\n"
	}
	if len(trimmed) > 1 && strings.HasPrefix(trimmed, `"`) && strings.HasSuffix(trimmed, `"`) {
		return trimmed[1:len(trimmed)-1] + ending
	}
	// Words for infinity are numbers to the parser, but not to JSON.
	if number, err := strconv.ParseFloat(trimmed, 64); err == nil && !math.IsInf(number, 0) && !math.IsNaN(number) {
		return number
	}
	if is, err := strconv.ParseBool(trimmed); err == nil {
		return is
	}
	var value any
	if err := json.Unmarshal([]byte(trimmed), &value); err == nil {
		return value
	}
	return trimmed + ending
}

func (s *Scope) success() bool {
	return !slices.ContainsFunc(s.Steps, func(m v1alpha1.StepExecutionMetadata) bool {
		return !m.ContinueOnError && m.FinishedAt != nil && slices.Contains([]string{"Failed", "Errored"}, m.Status)
	})
}

// Template evaluates the expressions of a text that sees some names, and nothing of a Promotion.
func Template(template string, names map[string]any, now time.Time) (any, error) {
	return (&evaluator{env: names, now: now, left: maxExpressions}).template(template)
}

// Bare evaluates a text that is an expression as a whole.
func Bare(expression string, names map[string]any, now time.Time) (any, error) {
	return text.Evaluate(strings.TrimSpace(expression), text.NewScope(now), names)
}
