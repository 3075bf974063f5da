package patterns

import (
	"errors"
	"fmt"

	"github.com/bmatcuk/doublestar/v4"
)

const (
	// maxAlternatives bounds what the braces of a pattern of paths stand for together, and maxBytes how long that is.
	maxAlternatives = 1000
	maxBytes        = 256 << 10
)

// Path matches paths. It is safe for concurrent use.
type Path struct{ alternatives []string }

// NewPath reads a pattern of doublestar. Its braces are written out: the library tries all alternatives of one pair for each of another.
func NewPath(text string) (*Path, error) {
	if err := short(text); err != nil {
		return nil, err
	}
	if !doublestar.ValidatePattern(text) {
		return nil, errors.New("it is malformed")
	}
	all, err := expand(text)
	if err != nil {
		return nil, err
	}
	return &Path{all}, nil
}

// Match reports whether a path with slashes matches.
func (p *Path) Match(name string) bool {
	for _, one := range p.alternatives {
		if doublestar.MatchUnvalidated(one, name) {
			return true
		}
	}
	return false
}

// expand writes the braces of a pattern out, the first ones first.
func expand(text string) ([]string, error) {
	done, open, size := []string{}, []string{text}, len(text)
	for len(open) > 0 {
		one := open[len(open)-1]
		open = open[:len(open)-1]
		before, inner, after, found := braces(one)
		if !found {
			done = append(done, one)
			continue
		}
		for _, alternative := range inner {
			made := before + alternative + after
			size += len(made)
			open = append(open, made)
		}
		if len(open)+len(done) > maxAlternatives || size > maxBytes {
			return nil, fmt.Errorf("its braces stand for more than %d patterns, or for more than %d bytes; write several patterns", maxAlternatives, maxBytes)
		}
	}
	return done, nil
}

// braces finds the first braces of a pattern, and the alternatives in them.
func braces(text string) (before string, inner []string, after string, found bool) {
	depth, begin, last, class := 0, 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '{':
			if depth++; depth == 1 {
				begin, last = i, i+1
			}
		case c == ',' && depth == 1:
			inner, last = append(inner, text[last:i]), i+1
		case c == '}' && depth > 0:
			if depth--; depth == 0 {
				return text[:begin], append(inner, text[last:i]), text[i+1:], true
			}
		}
	}
	return text, nil, "", false
}
