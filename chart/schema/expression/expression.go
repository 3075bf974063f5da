// Package expression evaluates the rules of CustomResourceDefinitions (x-kubernetes-validations), for a schema.Check:
//
//	rules, err := expression.New()
//	check := schema.Check{Expressions: rules}
//
// It links an interpreter of the Common Expression Language, which is larger than all else that the SDK links; so it is a package of
// its own. It has the language, its extension for strings, sets and optional values, and of the functions that Kubernetes adds those
// for lists, regular expressions, URLs and addresses. A rule that uses others is reported as not evaluated, and so is one that ends
// with an error. Rules that compare with the previous object do not count: nothing is updated here.
package expression

import (
	"fmt"
	"regexp"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/ext"

	"github.com/headgate-dev/headgate/chart/schema"
)

// costLimit bounds one evaluation, as the API server does.
const costLimit = 1_000_000

// transition reports whether a rule reads the previous object.
var transition = regexp.MustCompile(`\boldSelf\b`)

// Evaluator evaluates rules; it may be used by several checks at once.
type Evaluator struct {
	env *cel.Env

	mutex    sync.Mutex
	programs map[string]compiled
}

// compiled is an expression, or why it is none.
type compiled struct {
	program cel.Program
	err     error
}

// New is an Evaluator.
func New() (*Evaluator, error) {
	env, err := cel.NewEnv(
		cel.Variable("self", cel.DynType),
		cel.Variable("oldSelf", cel.OptionalType(cel.DynType)),
		cel.OptionalTypes(),
		cel.CrossTypeNumericComparisons(true),
		cel.DefaultUTCTimeZone(true),
		cel.ExtendedValidations(),
		ext.Strings(ext.StringsVersion(2)),
		ext.Sets(),
		ext.TwoVarComprehensions(),
		cel.Lib(functions{}),
	)
	if err != nil {
		return nil, fmt.Errorf("preparing expressions: %w", err)
	}
	return &Evaluator{env: env, programs: map[string]compiled{}}, nil
}

// Evaluate is why a value breaks a rule, or "".
func (e *Evaluator) Evaluate(rule schema.Rule, self any) (string, error) {
	if transition.MatchString(rule.Rule) && !rule.OptionalOldSelf {
		return "", nil
	}
	holds, err := e.run(rule.Rule, self)
	if err != nil {
		return "", err
	}
	switch holds {
	case true:
		return "", nil
	case false:
		return e.message(rule, self), nil
	}
	return "", fmt.Errorf("the rule %q does not give true or false", rule.Rule)
}

// message is what a rule says when it is broken.
func (e *Evaluator) message(rule schema.Rule, self any) string {
	if rule.MessageExpression != "" {
		if text, err := e.run(rule.MessageExpression, self); err == nil {
			if message, ok := text.(string); ok && message != "" {
				return message
			}
		}
	}
	if rule.Message != "" {
		return rule.Message
	}
	return "failed rule: " + rule.Rule
}

func (e *Evaluator) run(expression string, self any) (any, error) {
	c := e.compile(expression)
	if c.err != nil {
		return nil, c.err
	}
	out, _, err := c.program.Eval(map[string]any{"self": self, "oldSelf": types.OptionalNone})
	if err != nil {
		return nil, fmt.Errorf("evaluating %q: %w", expression, err)
	}
	return out.Value(), nil
}

func (e *Evaluator) compile(expression string) compiled {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if known, ok := e.programs[expression]; ok {
		return known
	}
	c := compiled{}
	ast, issues := e.env.Compile(expression)
	if c.err = issues.Err(); c.err == nil {
		c.program, c.err = e.env.Program(ast, cel.CostLimit(costLimit))
	}
	if c.err != nil {
		c.err = fmt.Errorf("compiling %q: %w", expression, c.err)
	}
	e.programs[expression] = c
	return c
}
