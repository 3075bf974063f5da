package appset

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"
)

const (
	// maxOutput bounds what one template writes, in bytes. No object in a cluster may be larger.
	maxOutput = 1 << 20
	// maxTemplate bounds one template, in bytes.
	maxTemplate = 256 << 10
	// maxSteps bounds the work of one template: turns of its loops, calls of functions.
	maxSteps = 1_000_000
)

var (
	errOutput = fmt.Errorf("it renders more than %d KiB", maxOutput>>10)
	errSteps  = fmt.Errorf("it does not end within %d steps", maxSteps)
)

// engine renders text with parameters.
type engine interface {
	render(text string, params map[string]any) (string, error)
}

// newEngine is the engine that a set asks for.
func newEngine(ctx context.Context, set *Set) (engine, error) {
	if !set.Spec.GoTemplate {
		return plainEngine{}, nil
	}
	return newGoEngine(ctx, set.Spec.GoTemplateOptions)
}

// goEngine renders templates of Go. It is for one goroutine.
type goEngine struct {
	base   *template.Template
	step   parse.Node
	parsed map[string]*template.Template
	meter  *meter
	// stern is the same engine, for which a missing parameter is an error, once that is requested.
	stern *goEngine
}

// meter counts the steps of the template that is being rendered.
type meter struct {
	ctx  context.Context
	left int
}

// spend ends a template that has worked for too long.
func (m *meter) spend(steps int) error {
	if m.left -= steps; m.left < 0 {
		return errSteps
	}
	if m.left%1024 == 0 {
		return m.ctx.Err()
	}
	return nil
}

// stepName is the function that is called at each turn of a loop.
const stepName = "headgateStep"

// goOptions are those that the library knows; it ends the process at others.
func goOptions() []string {
	return []string{"missingkey=default", "missingkey=invalid", "missingkey=zero", "missingkey=error"}
}

func newGoEngine(ctx context.Context, options []string) (*goEngine, error) {
	for i, option := range options {
		if !slices.Contains(goOptions(), option) {
			return nil, fmt.Errorf("spec.goTemplateOptions[%d]: unknown option %q; use one of %s", i, option, strings.Join(goOptions(), ", "))
		}
	}
	meter := &meter{ctx: ctx}
	base := template.New("").Funcs(functions(meter)).Option(options...)
	step, err := template.Must(base.Clone()).Parse("{{" + stepName + "}}")
	if err != nil {
		return nil, err
	}
	return &goEngine{base: base, step: step.Root.Nodes[0], parsed: map[string]*template.Template{}, meter: meter}, nil
}

// strict is the same engine, for which a parameter that is missing is an error.
func (e *goEngine) strict() (*goEngine, error) {
	if e.stern != nil {
		return e.stern, nil
	}
	base, err := e.base.Clone()
	if err != nil {
		return nil, err
	}
	e.stern = &goEngine{base: base.Option("missingkey=error"), step: e.step, parsed: map[string]*template.Template{}, meter: e.meter}
	return e.stern, nil
}

func (e *goEngine) render(text string, params map[string]any) (string, error) {
	if !strings.Contains(text, "{{") {
		return text, nil
	}
	made, err := e.parse(text)
	if err != nil {
		return "", err
	}
	e.meter.left = maxSteps
	out := &bounded{}
	if err := made.Execute(out, params); err != nil {
		return "", plainError(err)
	}
	return out.text.String(), nil
}

func (e *goEngine) parse(text string) (*template.Template, error) {
	if made, known := e.parsed[text]; known {
		return made, nil
	}
	if len(text) > maxTemplate {
		return nil, fmt.Errorf("a template may have at most %d KiB, but this one has %d bytes", maxTemplate>>10, len(text))
	}
	made, err := e.base.Clone()
	if err != nil {
		return nil, err
	}
	if made, err = made.Parse(text); err != nil {
		return nil, plainError(err)
	}
	for _, t := range made.Templates() {
		if t.Tree != nil {
			e.count(t.Root)
		}
	}
	e.parsed[text] = made
	return made, nil
}

// count has every list of nodes that may run more than once begin with a step.
func (e *goEngine) count(list *parse.ListNode) {
	if list == nil {
		return
	}
	for _, node := range list.Nodes {
		switch node := node.(type) {
		case *parse.IfNode:
			e.count(node.List)
			e.count(node.ElseList)
		case *parse.WithNode:
			e.count(node.List)
			e.count(node.ElseList)
		case *parse.RangeNode:
			e.count(node.List)
			e.count(node.ElseList)
		}
	}
	list.Nodes = append([]parse.Node{e.step.Copy()}, list.Nodes...)
}

// bounded takes what a template writes, up to a bound.
type bounded struct{ text strings.Builder }

// Write takes a piece.
func (b *bounded) Write(p []byte) (int, error) {
	if b.text.Len()+len(p) > maxOutput {
		return 0, errOutput
	}
	return b.text.Write(p)
}

// place is the prefix of the library's errors: the name of the template, a line, and the action.
var place = regexp.MustCompile(`(?s)^template: .*?:(\d+)(?::\d+)?: (?:executing ".*?" at )?(.*)$`)

// plainError is an error of the library in our words: the line, and what is wrong there.
func plainError(err error) error {
	for _, known := range []error{errOutput, errSteps, errWeight, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, known) {
			return known
		}
	}
	found := place.FindStringSubmatch(err.Error())
	if found == nil {
		return err
	}
	return fmt.Errorf("line %s: %s", found[1], found[2])
}

// missing reports whether a template failed for want of a parameter.
func missing(err error) bool {
	return strings.Contains(err.Error(), "map has no entry for key") || strings.Contains(err.Error(), "can't evaluate field")
}
