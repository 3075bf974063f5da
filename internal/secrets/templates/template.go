// Package templates executes the templates of external secrets as version 2 of their engine does: the values that were fetched are
// strings, the functions are those of sprig and those for certificates and keys, and a key that is missing is an error.
//
// It is pure: the functions that read the environment or resolve names are not there, and what a template may make is bounded. It refuses to
// show a value in an error: what a function says of its arguments is left out.
package templates

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"sigs.k8s.io/yaml"
)

// Bounds of one template, in bytes.
const (
	maxText   = 1 << 20
	maxOutput = 1 << 20
	// maxShown is how much of a key is in an error.
	maxShown = 253
)

// Target is where the result of a template goes.
type Target string

// The targets. Data is the one that is meant where there is none.
const (
	Data        Target = "Data"
	Annotations Target = "Annotations"
	Labels      Target = "Labels"
)

// Part is a set of templates with the same meaning.
type Part struct {
	// Of is what errors call it, such as "template.data" or "ConfigMap x".
	Of     string
	Target Target
	// KeysAndValues has each template make a map as YAML. Otherwise each makes the value of its key.
	KeysAndValues bool
	// Templates by their keys, which may be templates as well.
	Templates map[string]string
	// Secret has errors leave the text of the template out: it is in a Secret itself.
	Secret bool
}

// Work is what one Secret is made of: values that were fetched, and templates in the order of their execution, later results over
// earlier ones.
type Work struct {
	Values map[string][]byte
	Parts  []Part
}

// Result is what the templates made.
type Result struct {
	Data                map[string][]byte
	Annotations, Labels map[string]string
}

// Lookup returns a key of a Secret, for the function getSecretKey.
type Lookup func(name, namespace, key string) (string, error)

// Execute makes the result of all parts. Without a lookup, getSecretKey is an error.
func Execute(w Work, lookup Lookup) (Result, error) {
	made := Result{Data: map[string][]byte{}, Annotations: map[string]string{}, Labels: map[string]string{}}
	values := make(map[string]string, len(w.Values))
	for key, value := range w.Values {
		values[key] = string(value)
	}
	all := functions(lookup)
	for _, part := range w.Parts {
		for _, key := range slices.Sorted(maps.Keys(part.Templates)) {
			text, err := execute(part.Templates[key], values, all)
			name := key
			if err == nil && strings.Contains(key, "{{") && !part.KeysAndValues {
				name, err = execute(key, values, all)
			}
			if err == nil {
				err = made.take(part, name, text)
			}
			if err != nil {
				return Result{}, fmt.Errorf("%s, key %q: %w", part.Of, key, part.shown(err))
			}
		}
	}
	return made, nil
}

// Transform makes keys of keys, each of which the template knows as .value. All of them together have a bound.
func Transform(text string, keys []string) ([]string, error) {
	all, left := make([]string, len(keys)), maxOutput
	for i, key := range keys {
		made, err := execute(text, map[string]string{"value": key}, functions(nil))
		if left -= len(made); err == nil && left < 0 {
			err = errTooLong
		}
		if err != nil {
			return nil, fmt.Errorf("key %q: %w", key[:min(len(key), maxShown)], Part{}.shown(err))
		}
		all[i] = made
	}
	return all, nil
}

// Text executes one template over values of any form, as requests of webhooks are made of.
func Text(text string, values map[string]any) (string, error) {
	made, err := execute(text, values, functions(nil))
	if err != nil {
		return "", Part{}.shown(err)
	}
	return made, nil
}

func (r Result) take(part Part, key, text string) error {
	pairs := map[string]string{key: text}
	if part.KeysAndValues {
		pairs = map[string]string{}
		if err := yaml.Unmarshal([]byte(text), &pairs); err != nil {
			return errors.New("it does not make a map of strings as YAML")
		}
	}
	for key, value := range pairs {
		switch part.Target {
		case "", Data:
			r.Data[key] = []byte(value)
		case Annotations:
			r.Annotations[key] = value
		case Labels:
			r.Labels[key] = value
		default:
			return fmt.Errorf("the target %q is not one of Data, Annotations, Labels", part.Target)
		}
	}
	return nil
}

func execute(text string, values any, all template.FuncMap) (made string, err error) {
	if len(text) > maxText {
		return "", fmt.Errorf("the template has %d bytes; at most %d are permitted", len(text), maxText)
	}
	// Some functions of the library panic.
	defer func() {
		if recover() != nil {
			made, err = "", errors.New("a function of the template failed")
		}
	}()
	parsed, err := template.New("template").Option("missingkey=error").Funcs(all).Parse(text)
	if err != nil {
		return "", &parseError{err}
	}
	out := &bounded{}
	if err := parsed.Execute(out, values); err != nil {
		return "", err
	}
	return out.String(), nil
}

// errTooLong is the error of a template that makes too much.
var errTooLong = fmt.Errorf("it makes more than %d bytes", maxOutput)

// bounded takes what a template makes, up to a bound.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxOutput {
		return 0, errTooLong
	}
	return b.Buffer.Write(p)
}

// parseError is that of a text that is no template.
type parseError struct{ error }

var (
	position = regexp.MustCompile(`^template: template:(\d+(?::\d+)?): (?:executing "[^"]*" )?(?:at (<.*?>): )?`)
	missing  = regexp.MustCompile(`map has no entry for key "[^"]*"$`)
	calling  = regexp.MustCompile(`error calling (\w+)`)
)

// shown is an error of a template as it may be shown: where it is and which function failed, but not what that said of its arguments.
func (p Part) shown(err error) error {
	var parse *parseError
	var exec template.ExecError
	isParse, isExec := errors.As(err, &parse), errors.As(err, &exec)
	switch {
	case errors.Is(err, errTooLong):
		return errTooLong
	case isParse && !p.Secret:
		return errors.New(strings.TrimPrefix(err.Error(), "template: template:"))
	case !isParse && !isExec:
		return err
	}
	at := position.FindStringSubmatch(err.Error())
	where := "it is not a valid template"
	if at != nil {
		where = "line " + at[1]
		if at[2] != "" && !p.Secret {
			where += " at " + at[2]
		}
	}
	if isParse {
		return errors.New(where + ": it is not a valid template")
	}
	if key := missing.FindString(err.Error()); key != "" && !p.Secret {
		return fmt.Errorf("%s: %s", where, key)
	}
	if name := calling.FindStringSubmatch(err.Error()); name != nil {
		return fmt.Errorf("%s: the function %s failed for the value that it was given", where, name[1])
	}
	return errors.New(where + ": the value does not fit")
}
