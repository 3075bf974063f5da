package helm

import (
	"fmt"
	"slices"

	"helm.sh/helm/v4/pkg/strvals"
)

// Kind is how the text of a Parameter becomes a value.
type Kind string

// The kinds, named for the options of the helm command.
const (
	// Set reads numbers, booleans, null and {lists}; commas and dots that mean themselves have a \ before them.
	Set Kind = "--set"
	// SetString takes the text for a string.
	SetString Kind = "--set-string"
	// SetFile takes the text for the content of a file, which means nothing but itself.
	SetFile Kind = "--set-file"
)

// Parameter is one value at a path such as a.b[0].c.
type Parameter struct {
	Name, Value string
	Kind        Kind
	// Secret keeps the value out of errors.
	Secret bool
}

// With returns the values with parameters set, first those of Set, then those of SetString, then those of SetFile, as
// the helm command does. Errors name the parameter, and quote no value.
func (v Values) With(parameters ...Parameter) (Values, error) {
	data := v.Map()
	if data == nil {
		data = map[string]any{}
	}
	for _, kind := range []Kind{Set, SetString, SetFile} {
		for _, p := range parameters {
			if p.Kind != kind {
				continue
			}
			if err := p.set(data); err != nil {
				return Values{}, fmt.Errorf("setting %q by %s: %w", p.Name, kind, errNotSet)
			}
		}
	}
	out := Values{data: data, secrets: slices.Clone(v.secrets)}
	for _, p := range parameters {
		if p.Secret {
			out.hide(p.Value)
		}
	}
	return out, nil
}

func (p Parameter) set(data map[string]any) error {
	switch p.Kind {
	case SetString:
		return strvals.ParseIntoString(p.Name+"="+p.Value, data)
	case SetFile:
		return strvals.ParseIntoFile(p.Name+"=file", data, func([]rune) (any, error) { return p.Value, nil })
	default:
		return strvals.ParseInto(p.Name+"="+p.Value, data)
	}
}
