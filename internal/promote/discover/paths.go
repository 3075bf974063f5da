package discover

import (
	"fmt"
	"path"
	"strings"

	"github.com/headgate-dev/headgate/internal/patterns"
)

// pathFilter says which changes count.
type pathFilter struct{ include, exclude []pathPattern }

// pathPattern is one pattern for paths.
type pathPattern func(path string) bool

// parsePaths reads the patterns of includePaths and excludePaths; without any, the filter is nil.
func parsePaths(include, exclude []string) (*pathFilter, error) {
	if len(include)+len(exclude) == 0 {
		return nil, nil
	}
	included, err := parseAll("includePaths", include)
	if err != nil {
		return nil, err
	}
	excluded, err := parseAll("excludePaths", exclude)
	if err != nil {
		return nil, err
	}
	return &pathFilter{included, excluded}, nil
}

func parseAll(field string, texts []string) ([]pathPattern, error) {
	all := make([]pathPattern, len(texts))
	for i, text := range texts {
		var err error
		if all[i], err = parsePath(fmt.Sprintf("%s[%d]", field, i), text); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// parsePath reads "glob:PATTERN", "regex:EXPRESSION", "regexp:EXPRESSION", or a path that is meant with all below it.
func parsePath(field, text string) (pathPattern, error) {
	if len(text) > maxPattern {
		return nil, fmt.Errorf("%s: the pattern has more than %d bytes", field, maxPattern)
	}
	if glob, is := strings.CutPrefix(text, "glob:"); is {
		compiled, err := patterns.NewPath(glob)
		if err != nil {
			return nil, fmt.Errorf("%s: %q is not a valid pattern: %w", field, glob, err)
		}
		return compiled.Match, nil
	}
	for _, prefix := range []string{"regex:", "regexp:"} {
		if expression, is := strings.CutPrefix(text, prefix); is {
			p, err := pattern(field, expression)
			if err != nil {
				return nil, err
			}
			return p.MatchString, nil
		}
	}
	base := path.Clean(text)
	return func(name string) bool { return base == "." || name == base || strings.HasPrefix(name, base+"/") }, nil
}

// counts reports whether the change of a file counts: it is included, and not excluded.
func (f *pathFilter) counts(name string) bool {
	matches := func(patterns []pathPattern) bool {
		for _, p := range patterns {
			if p(name) {
				return true
			}
		}
		return false
	}
	return (len(f.include) == 0 || matches(f.include)) && !matches(f.exclude)
}
