// Package object reads what resource templates want to know of an object: whether it is as they wait for, and the values of their
// outputs.
//
// It takes an object as it was read and returns values. It reads and writes nothing itself, and what it evaluates is bounded in time.
package object

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// Conditions are what a resource template waits for.
type Conditions struct {
	success, failure labels.Requirements
}

// ParseConditions reads both conditions, in the syntax of label selectors over paths in the object.
func ParseConditions(success, failure string) (Conditions, error) {
	c := Conditions{}
	var err error
	if c.success, err = requirements("successCondition", success); err != nil {
		return c, err
	}
	c.failure, err = requirements("failureCondition", failure)
	return c, err
}

func requirements(field, text string) (labels.Requirements, error) {
	if text == "" {
		return nil, nil
	}
	selector, err := labels.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s '%s' failed to parse: %w", field, text, err)
	}
	all, _ := selector.Requirements()
	return all, nil
}

// Waits reports whether there is anything to wait for.
func (c Conditions) Waits() bool { return len(c.success)+len(c.failure) > 0 }

// Judge reports how an object stands, given its JSON: Failed if one requirement for a failure is met, Succeeded if all for a success are, else
// Running. The message says which requirement decided, or what is waited for.
func (c Conditions) Judge(object []byte) (v1alpha1.NodePhase, string) {
	fields := fieldsOf{object}
	for _, requirement := range c.failure {
		if requirement.Matches(fields) {
			return v1alpha1.NodeFailed, fmt.Sprintf("failure condition '%s' evaluated true", requirement.String())
		}
	}
	var open []string
	for _, requirement := range c.success {
		if !requirement.Matches(fields) {
			open = append(open, requirement.String())
		}
	}
	if len(open) > 0 || len(c.success) == 0 && len(c.failure) > 0 {
		return v1alpha1.NodeRunning, "waiting for " + strings.Join(open, ", ")
	}
	return v1alpha1.NodeSucceeded, ""
}

// fieldsOf are the fields of an object by their paths, as requirements see labels.
type fieldsOf struct{ object []byte }

// Has reports whether there is something at a path.
func (f fieldsOf) Has(path string) bool { return gjson.GetBytes(f.object, path).Exists() }

// Get is what is at a path, as text.
func (f fieldsOf) Get(path string) string { return gjson.GetBytes(f.object, path).String() }

// Lookup is both.
func (f fieldsOf) Lookup(path string) (string, bool) {
	result := gjson.GetBytes(f.object, path)
	return result.String(), result.Exists()
}
