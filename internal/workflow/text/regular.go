package text

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/casbin/govaluate"

	"github.com/headgate-dev/headgate/internal/patterns"
)

const (
	// maxMatching bounds a condition that matches regular expressions, and maxComposed one that may put such an expression together, in bytes.
	// The library compiles what is written out when it reads the condition, and the rest when it evaluates it.
	maxMatching = 16 << 10
	maxComposed = 1000
	// maxConditionSteps bounds the instructions of all expressions of a condition.
	maxConditionSteps = 5000
)

// affordable refuses conditions whose regular expressions may take long.
func affordable(condition string, tokens []govaluate.ExpressionToken) error {
	matches := func(t govaluate.ExpressionToken) bool {
		return t.Kind == govaluate.COMPARATOR && (t.Value == "=~" || t.Value == "!~")
	}
	if !slices.ContainsFunc(tokens, matches) {
		return nil
	}
	left := maxConditionSteps
	for i, t := range tokens {
		if written, is := t.Value.(*regexp.Regexp); is {
			steps, err := patterns.Steps(written.String())
			if left -= steps; err != nil || left < 0 {
				return errors.Join(errors.New("its regular expressions are too large"), err)
			}
			continue
		}
		composed := i > 0 && matches(tokens[i-1])
		if composed && len(condition) > maxComposed {
			return fmt.Errorf("write the regular expression out, or shorten the condition to %d bytes", maxComposed)
		}
	}
	return nil
}
