// Package patterns compiles what others write to match texts with: regular expressions, globs, patterns of paths and ranges of versions.
//
// Each has a bound, so that neither its compilation nor a match takes more time or memory than a few readings of the text. It refuses what
// exceeds that with an error that says what to do, and knows nothing of what is matched.
package patterns

import (
	"fmt"
	"regexp"
	"regexp/syntax"

	"github.com/Masterminds/semver/v3"
)

const (
	// maxText bounds a pattern, in bytes.
	maxText = 4096
	// maxSteps bounds the instructions of a regular expression, each of which a match may take for each byte of a text. Without counted
	// repetitions, one of maxText bytes has no more.
	maxSteps = 5000
)

func short(text string) error {
	if len(text) > maxText {
		return fmt.Errorf("it has %d bytes; at most %d are permitted", len(text), maxText)
	}
	return nil
}

// Regexp compiles a regular expression. Repetitions that are counted are written out by the library: one of a few bytes may have a
// million instructions, and take minutes for a text.
func Regexp(text string) (*regexp.Regexp, error) {
	steps, err := Steps(text)
	if err != nil {
		return nil, err
	}
	if steps > maxSteps {
		return nil, fmt.Errorf("its counted repetitions take more than %d steps for each character; use * or + instead", maxSteps)
	}
	return regexp.Compile(text)
}

// Steps is about how many instructions a regular expression has, without compiling it.
func Steps(text string) (int, error) {
	if err := short(text); err != nil {
		return 0, err
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return 0, err
	}
	return steps(parsed), nil
}

// mostSteps is where counting ends.
const mostSteps = 1 << 30

func steps(r *syntax.Regexp) int {
	n := 1 + len(r.Rune)
	if r.Op == syntax.OpCharClass {
		n = 1
	}
	for _, sub := range r.Sub {
		n += steps(sub)
	}
	if r.Op == syntax.OpRepeat {
		n *= 1 + max(r.Min, r.Max)
	}
	return min(n, mostSteps)
}

// Constraint reads a range of versions.
func Constraint(text string) (*semver.Constraints, error) {
	if err := short(text); err != nil {
		return nil, err
	}
	return semver.NewConstraint(text)
}
