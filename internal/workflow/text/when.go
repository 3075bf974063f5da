package text

import (
	"fmt"
	"strings"

	"github.com/casbin/govaluate"
)

// When evaluates the condition of a step or task, in which every tag was replaced. Words without quotes are strings, so that
// "Succeeded == Succeeded" compares two of them; such a word consists of letters, digits and underscores.
func When(condition string) (truth bool, err error) {
	return evaluate(condition, true)
}

// Condition evaluates the condition of a schedule, where words without quotes have no meaning.
func Condition(condition string) (bool, error) {
	return evaluate(condition, false)
}

func evaluate(condition string, words bool) (truth bool, err error) {
	if condition == "" {
		return true, nil
	}
	if err := readable(condition); err != nil {
		return false, fmt.Errorf("Invalid 'when' expression: %w", err)
	}
	if len(condition) > maxMatching && strings.ContainsAny(condition, "~") {
		return false, fmt.Errorf("Invalid 'when' expression: one with =~ or !~ has at most %d bytes", maxMatching)
	}
	defer func() {
		if problem := recover(); problem != nil {
			truth, err = false, fmt.Errorf("Invalid 'when' expression '%s': %v", condition, problem)
		}
	}()
	parsed, err := govaluate.NewEvaluableExpression(condition)
	if err != nil {
		hint := ""
		if strings.Contains(err.Error(), "Invalid token") {
			hint = ` (hint: try wrapping the affected expression in quotes ("))`
		}
		return false, fmt.Errorf("Invalid 'when' expression '%s': %w%s", condition, err, hint)
	}
	if err := affordable(condition, parsed.Tokens()); err != nil {
		return false, fmt.Errorf("Invalid 'when' expression '%.100s': %w", condition, err)
	}
	if words {
		tokens := parsed.Tokens()
		for i := range tokens {
			if tokens[i].Kind == govaluate.VARIABLE {
				tokens[i].Kind = govaluate.STRING
			}
		}
		if parsed, err = govaluate.NewEvaluableExpressionFromTokens(tokens); err != nil {
			return false, fmt.Errorf("Failed to parse 'when' expression '%s': %w", condition, err)
		}
	}
	result, err := parsed.Evaluate(nil)
	if err != nil {
		return false, fmt.Errorf("Failed to evaluate 'when' expression '%s': %w", condition, err)
	}
	truth, isBool := result.(bool)
	if !isBool {
		return false, fmt.Errorf("Expected boolean evaluation for '%s'. Got %v", condition, result)
	}
	return truth, nil
}
