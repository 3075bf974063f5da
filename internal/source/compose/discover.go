package compose

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/headgate-dev/headgate/internal/patterns"
)

// Pattern finds directories of a source by their path: "@ALIAS/apps/{app}/envs/{env}".
type Pattern struct {
	alias   string
	matcher *regexp.Regexp
}

// Found is a directory that a Pattern found, and what stood for its captures.
type Found struct {
	Dir      string
	Captures map[string]string
}

// captureName is what a capture may be called.
var captureName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// ParsePattern reads a pattern.
func ParsePattern(text string) (*Pattern, error) {
	alias, rest, err := Split(text)
	if err != nil {
		return nil, err
	}
	var expression strings.Builder
	seen := map[string]bool{}
	err = pieces(path.Clean(rest), func(literal, capture string) error {
		expression.WriteString(regexp.QuoteMeta(literal))
		if capture == "" {
			return nil
		}
		if seen[capture] {
			return fmt.Errorf("{%s} occurs twice", capture)
		}
		seen[capture] = true
		expression.WriteString("(?P<" + capture + ">[^/]+)")
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	matcher, err := patterns.Regexp("^(?:" + expression.String() + ")$")
	if err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	return &Pattern{alias: alias, matcher: matcher}, nil
}

// Alias is that of the source in which a pattern looks.
func (p *Pattern) Alias() string { return p.alias }

// Find returns the directories that a pattern finds, sorted.
func (c *Composer) Find(p *Pattern) ([]Found, error) {
	in, known := c.sources[p.alias]
	if !known {
		return nil, fmt.Errorf("no source has the alias %q", p.alias)
	}
	var found []Found
	for _, dir := range in.listed {
		match := p.matcher.FindStringSubmatch(dir)
		if match == nil {
			continue
		}
		captures := map[string]string{}
		for i, name := range p.matcher.SubexpNames()[1:] {
			captures[name] = match[i+1]
		}
		found = append(found, Found{Dir: dir, Captures: captures})
	}
	return found, nil
}

// Fill puts captures where "{NAME}" stands in a text.
func Fill(text string, captures map[string]string) (string, error) {
	var filled strings.Builder
	err := pieces(text, func(literal, capture string) error {
		filled.WriteString(literal)
		value, known := captures[capture]
		if capture != "" && !known {
			return fmt.Errorf("{%s} is not a capture of spec.pathPattern", capture)
		}
		filled.WriteString(value)
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("%q: %w", text, err)
	}
	return filled.String(), nil
}

// pieces takes a text apart: what stands before each capture, and the capture. The last piece has none.
func pieces(text string, visit func(literal, capture string) error) error {
	for {
		literal, rest, more := strings.Cut(text, "{")
		if strings.Contains(literal, "}") {
			return errors.New("unmatched }")
		}
		if !more {
			return visit(literal, "")
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed || !captureName.MatchString(name) {
			return fmt.Errorf("{%s is not a capture; want {NAME} of letters, digits and _", name)
		}
		if err := visit(literal, name); err != nil {
			return err
		}
		text = after
	}
}
