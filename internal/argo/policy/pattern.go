package policy

import (
	"fmt"
	"strings"

	"github.com/headgate-dev/headgate/internal/patterns"
)

// denial stands before a pattern that forbids what it matches.
const denial = "!"

// pattern is a glob, with "!" before it one that matches whatever the rest does not.
type pattern struct {
	denies bool
	// compiled is nil for a pattern that cannot be read: then it permits nothing, and denies everything.
	compiled patterns.Glob
}

// newPattern reads a glob, in which a star stops at the separators. What cannot be read is an error, beside a
// pattern that lets nothing through.
func newPattern(text string, separators ...rune) (pattern, error) {
	rest, denies := strings.CutPrefix(text, denial)
	p := pattern{denies: denies}
	if rest == "*" {
		separators = nil // upstream has a lone star match everything
	}
	compiled, err := patterns.NewGlob(rest, separators...)
	if err != nil {
		return p, fmt.Errorf("%q is not a pattern: %w", text, err)
	}
	p.compiled = compiled
	return p, nil
}

// matches is true where the pattern lets a text through.
func (p pattern) matches(text string) bool {
	return p.compiled != nil && p.compiled.Match(text) != p.denies
}

// namespacePattern is a glob, or between slashes a regular expression.
func namespacePattern(text string) (func(string) bool, error) {
	if len(text) > 1 && strings.HasPrefix(text, "/") && strings.HasSuffix(text, "/") {
		expression, err := patterns.Regexp(text[1 : len(text)-1])
		if err != nil {
			return nil, fmt.Errorf("%q is not a regular expression: %w", text, err)
		}
		return expression.MatchString, nil
	}
	compiled, err := patterns.NewGlob(text)
	if err != nil {
		return nil, fmt.Errorf("%q is not a pattern: %w", text, err)
	}
	return compiled.Match, nil
}

// anyGlob is true when one of the globs matches one of the texts that are not empty. Bad ones match nothing.
func anyGlob(globs []string, texts ...string) bool {
	for _, g := range globs {
		compiled, err := patterns.NewGlob(g)
		if err != nil {
			continue
		}
		for _, text := range texts {
			if text != "" && compiled.Match(text) {
				return true
			}
		}
	}
	return false
}
