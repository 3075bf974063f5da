// Package substitute replaces ${variables} in the text of manifests, by the rules of Flux: bash's
// functions, nested defaults, "$${" for a literal "${", and errors for what is not defined.
//
// It works on one object at a time, so that an error can name it, and never shows a value.
package substitute

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fluxcd/pkg/envsubst"
	"github.com/fluxcd/pkg/envsubst/parse"
)

// Options say what is replaced.
type Options struct {
	// Variables are the values by name. Newlines are taken out of them.
	Variables map[string]string
	// Strict makes a variable without value and without default an error; otherwise it is empty.
	Strict bool
	// Always replaces even where there are no variables, for their defaults.
	Always bool
}

// Active reports whether there is anything to replace.
func (o *Options) Active() bool {
	return o != nil && (o.Always || len(o.Variables) > 0)
}

// validName is what Flux takes for the name of a variable.
var validName = regexp.MustCompile(`^[_[:alpha:]][_[:alpha:][:digit:]]*$`)

// Check returns an error that names the variables whose names cannot be used.
func (o *Options) Check() error {
	var bad []string
	for name := range o.Variables {
		if !validName.MatchString(name) {
			bad = append(bad, fmt.Sprintf("%q", name))
		}
	}
	if len(bad) == 0 {
		return nil
	}
	slices.Sort(bad)
	return fmt.Errorf("names of variables must be letters, digits and underscores, and not start with a digit: %s",
		strings.Join(bad, ", "))
}

// UndefinedError names the variables that have neither a value nor a default.
type UndefinedError struct{ Names []string }

// Error lists the names, in the words of Flux, which names the first one alone.
func (e *UndefinedError) Error() string {
	quoted := make([]string, len(e.Names))
	for i, name := range e.Names {
		quoted[i] = strconv.Quote(name)
	}
	return "variable not set (strict mode): " + strings.Join(quoted, ", ")
}

// Text returns text with its variables replaced.
func (o *Options) Text(text string) (string, error) {
	if !strings.Contains(text, "$") {
		return text, nil
	}
	if err := o.affordable(text); err != nil {
		return "", fmt.Errorf("replacing variables: %w", err)
	}
	undefined := map[string]bool{}
	out, err := envsubst.Eval(text, func(name string) (string, bool) {
		value, ok := o.Variables[name]
		if !ok && !o.Strict {
			return "", true
		}
		if !ok {
			undefined[name] = true
		}
		return strings.ReplaceAll(value, "\n", ""), ok
	})
	if err == nil {
		return out, nil
	}
	if names := o.missing(text, undefined); len(names) > 0 {
		return "", &UndefinedError{Names: names}
	}
	return "", fmt.Errorf("replacing variables: %w", err)
}

// missing names every variable of the text that has neither a value nor a default. The library
// stops at the first one.
func (o *Options) missing(text string, asked map[string]bool) []string {
	if !o.Strict {
		return nil
	}
	names := map[string]bool{}
	if tree, err := parse.Parse(text); err == nil {
		o.collect(tree.Root, names)
	}
	if len(names) == 0 {
		names = asked
	}
	list := make([]string, 0, len(names))
	for name := range names {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

func (o *Options) collect(n parse.Node, into map[string]bool) {
	switch node := n.(type) {
	case *parse.ListNode:
		for _, child := range node.Nodes {
			o.collect(child, into)
		}
	case *parse.FuncNode:
		if strings.ContainsAny(node.Name, "=-+?") {
			// A default of its own makes the variable optional, but the default may hold others.
			for _, arg := range node.Args {
				o.collect(arg, into)
			}
			return
		}
		if _, defined := o.Variables[node.Param]; defined {
			return
		}
		into[node.Param] = true
	}
}
