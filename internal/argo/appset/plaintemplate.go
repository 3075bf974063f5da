package appset

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// plainEngine renders the older templates: {{ name }} is the text of a parameter, and stays as it is where there is
// no such parameter, or none that is text.
type plainEngine struct{}

// templated reports what is a template at all: both delimiters stand in one line.
var templated = regexp.MustCompile(`{{.*}}`)

func (plainEngine) render(text string, params map[string]any) (string, error) {
	if !templated.MatchString(text) {
		return text, nil
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{{")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		tag, after, closed := strings.Cut(rest, "}}")
		if !closed {
			return "", errors.New(`a "{{" without "}}"`)
		}
		name := strings.TrimSpace(tag)
		if value, ok := params[name].(string); ok && name != "" {
			b.WriteString(value)
		} else {
			b.WriteString("{{" + tag + "}}")
		}
		if b.Len() > maxOutput {
			return "", errOutput
		}
		text = after
	}
}

var (
	tags = regexp.MustCompile(`(?s){{(.*?)}}`)
	// goSyntax is what no name of a parameter looks like: trimming, fields, variables, comments, keywords, pipes,
	// and calls with arguments.
	goSyntax = regexp.MustCompile("(?s)^(?:-\\s|.*\\s-$|\\s*(?:[.$(\"`]|/\\*|(?:if|else|end|range|with|define|block|template|break|continue)(?:\\s|$))|.*\\||\\s*[a-zA-Z]+\\s+[.$(\"])")
)

// notForPlain finds what only templates of Go know, in a text that is read as an older template.
func notForPlain(text string) error {
	for _, tag := range tags.FindAllStringSubmatch(text, -1) {
		if goSyntax.MatchString(tag[1]) {
			return fmt.Errorf("%q is Go template syntax: set spec.goTemplate: true", tag[0])
		}
	}
	return nil
}
