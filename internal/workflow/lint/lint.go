// Package lint finds what is wrong with workflows, templates of workflows and schedules before anything is executed, by name: the object, the
// template, the field.
//
// It takes objects as they were written and returns findings, in the order of the fields. A field that is unknown, or that this engine does not act on
// yet, is a finding: none is ignored. It guesses nothing about objects that it was not given.
package lint

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

// Finding is one thing that is wrong.
type Finding struct {
	// Object is the kind and the name of the object.
	Object string
	// Template is the name of the template, if it is in one.
	Template string
	// Field is the path in the object, such as spec.templates[0].container.image.
	Field string
	// Text says what is wrong, and what to do.
	Text string
	// Unsupported is set for what the upstream takes and this engine does not.
	Unsupported bool
}

func (f Finding) String() string {
	where := f.Object
	if f.Template != "" {
		where += fmt.Sprintf(", template %q", f.Template)
	}
	return fmt.Sprintf("%s: %s: %s", where, f.Field, f.Text)
}

// Library is what is known besides the object.
type Library struct {
	// Specs are those of other objects; nil for one that is known not to exist.
	Specs map[plan.Source]*v1alpha1.WorkflowSpec
	// Defaults are merged below every run.
	Defaults *v1alpha1.WorkflowSpec
}

// Check finds what is wrong with an object, given its JSON.
func Check(document []byte, library Library) []Finding {
	decoded, findings := decode(document)
	if decoded == nil {
		return findings
	}
	c := &checker{object: decoded.title, library: library, findings: findings}
	switch {
	case decoded.workflow != nil:
		c.spec("spec", &decoded.workflow.Spec, true)
	case decoded.template != nil:
		c.spec("spec", decoded.template, false)
	case decoded.cron != nil:
		c.cron(decoded.cron)
	}
	slices.SortStableFunc(c.findings, func(a, b Finding) int { return cmp.Compare(order(a.Field), order(b.Field)) })
	return slices.CompactFunc(c.findings, func(a, b Finding) bool { return a == b })
}

// order makes the numbers in a path comparable as text.
func order(field string) string {
	return number.ReplaceAllStringFunc(field, func(digits string) string { return fmt.Sprintf("%08s", digits) })
}

var number = regexp.MustCompile(`\d+`)

// checker collects the findings of one object.
type checker struct {
	object, template string
	library          Library
	findings         []Finding
	// own are the templates of the object by name, all of them the object's.
	own map[string]*v1alpha1.Template
	// defaults are merged below all templates.
	defaults *v1alpha1.Template
	// arguments are the names of the parameters of the workflow; nil if they are not all known.
	arguments map[string]bool
}

func (c *checker) add(field, format string, args ...any) {
	c.findings = append(c.findings, Finding{Object: c.object, Template: c.template, Field: field, Text: fmt.Sprintf(format, args...)})
}

// err adds an error, if it is one.
func (c *checker) err(field string, err error) {
	if err != nil {
		c.add(field, "%s", err.Error())
	}
}

func (c *checker) unsupported(field, text string) {
	c.findings = append(c.findings, Finding{Object: c.object, Template: c.template, Field: field, Text: text, Unsupported: true})
}

// oneOf reports whether a value is not one of several; without a value, nothing is wrong.
func (c *checker) oneOf(field, value string, allowed ...string) {
	if value != "" && !slices.Contains(allowed, value) && !strings.Contains(value, "{{") {
		c.add(field, "%q is not one of %s", value, strings.Join(allowed, ", "))
	}
}
