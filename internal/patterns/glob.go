package patterns

import (
	"errors"
	"regexp"
	"strings"

	"github.com/gobwas/glob/syntax"
	"github.com/gobwas/glob/syntax/ast"
)

// Glob matches whole texts. It is safe for concurrent use.
type Glob interface{ Match(text string) bool }

// NewGlob reads a glob of gobwas/glob, whose single stars stop at separators. Only its parser is used: what it compiles takes time that
// doubles with each pair of braces, and has "a*a" match "a".
func NewGlob(text string, separators ...rune) (Glob, error) {
	if err := short(text); err != nil {
		return nil, err
	}
	tree, err := syntax.Parse(text)
	if err != nil {
		return nil, err
	}
	if !strings.ContainsAny(text, `*?[{\`) {
		return equal(text), nil
	}
	var out strings.Builder
	out.WriteString(`\A(?s:`)
	if err := translate(&out, tree, separators); err != nil {
		return nil, err
	}
	out.WriteString(`)\z`)
	compiled, err := regexp.Compile(out.String())
	if err != nil {
		return nil, errors.New("it is nested too deeply")
	}
	return expression{compiled}, nil
}

// equal is a glob without wildcards.
type equal string

// Match compares the texts.
func (e equal) Match(text string) bool { return string(e) == text }

// expression is a glob as a regular expression, which takes as long as the text is.
type expression struct{ compiled *regexp.Regexp }

// Match reports whether the whole text matches.
func (e expression) Match(text string) bool { return e.compiled.MatchString(text) }

// translate writes a tree of a glob as a regular expression.
func translate(out *strings.Builder, tree *ast.Node, separators []rune) error {
	single := "."
	if len(separators) > 0 {
		single = set(true, string(separators))
	}
	switch tree.Kind {
	case ast.KindNothing:
	case ast.KindPattern:
		for _, child := range tree.Children {
			if err := translate(out, child, separators); err != nil {
				return err
			}
		}
	case ast.KindAnyOf:
		out.WriteString("(?:")
		for i, child := range tree.Children {
			if i > 0 {
				out.WriteString("|")
			}
			if err := translate(out, child, separators); err != nil {
				return err
			}
		}
		out.WriteString(")")
	case ast.KindAny:
		out.WriteString(single + "*")
	case ast.KindSuper:
		out.WriteString(".*")
	case ast.KindSingle:
		out.WriteString(single)
	default:
		return translateValue(out, tree.Value)
	}
	return nil
}

// translateValue writes what stands for itself, or for one of several characters.
func translateValue(out *strings.Builder, value any) error {
	switch v := value.(type) {
	case ast.Text:
		out.WriteString(regexp.QuoteMeta(v.Text))
	case ast.List:
		out.WriteString(set(v.Not, v.Chars))
	case ast.Range:
		out.WriteString("[" + not(v.Not) + quoted(v.Lo) + "-" + quoted(v.Hi) + "]")
	default:
		return errors.New("it has a part of an unknown kind")
	}
	return nil
}

func set(excluded bool, characters string) string {
	var out strings.Builder
	out.WriteString("[" + not(excluded))
	for _, r := range characters {
		out.WriteString(quoted(r))
	}
	return out.String() + "]"
}

func not(is bool) string {
	if is {
		return "^"
	}
	return ""
}

// quoted is a character as it stands in a set.
func quoted(r rune) string {
	if strings.ContainsRune(`\]^-[`, r) {
		return `\` + string(r)
	}
	return string(r)
}
