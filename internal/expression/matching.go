package expression

import (
	"fmt"

	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"github.com/headgate-dev/headgate/internal/patterns"
)

// matchLimit is how many steps one match of a regular expression may take: its instructions for each byte of the text.
const matchLimit = 1 << 24

// matching is a call of matches. The library charges the length of the expression, of which a few bytes may have thousands of instructions.
type matching struct{ interpreter.InterpretableCall }

// boundMatches has calls of matches be affordable.
func boundMatches(i interpreter.Interpretable) (interpreter.Interpretable, error) {
	if call, is := i.(interpreter.InterpretableCall); is && call.Function() == overloads.Matches {
		return matching{call}, nil
	}
	return i, nil
}

// Eval compares a text with an expression.
func (m matching) Eval(vars interpreter.Activation) ref.Val {
	const both = 2
	if len(m.Args()) != both {
		return types.NewErr("matches: it takes a text and an expression")
	}
	var texts [both]types.String
	for i, arg := range m.Args() {
		value := arg.Eval(vars)
		text, is := value.(types.String)
		if !is {
			return types.MaybeNoSuchOverloadErr(value)
		}
		texts[i] = text
	}
	compiled, err := patterns.Regexp(string(texts[1]))
	if err != nil {
		return types.NewErr("matches: %v", err)
	}
	if err := m.affordable(texts); err != nil {
		return types.WrapErr(err)
	}
	return types.Bool(compiled.MatchString(string(texts[0])))
}

func (matching) affordable(texts [2]types.String) error {
	steps, err := patterns.Steps(string(texts[1]))
	if err == nil && steps > matchLimit/(len(texts[0])+1) {
		err = fmt.Errorf("matches: its arguments are too large")
	}
	return err
}
