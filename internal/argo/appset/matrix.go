package appset

import (
	"fmt"
)

// matrix puts each set of one generator beside each of another, which may be written with the parameters of the
// first. Where both have a parameter, the first one's counts.
func (g *generation) matrix(body map[string]any, depth int) ([]parameters, error) {
	if err := onlyKnown(body, "generators", "template"); err != nil {
		return nil, err
	}
	two, err := children(body)
	if err != nil {
		return nil, err
	}
	if len(two) != 2 {
		return nil, within(".generators", fmt.Errorf("a matrix requires exactly two, got %d", len(two)))
	}
	first, err := g.nested(two[0], nil, depth+1)
	if err != nil {
		return nil, within(".generators[0]", err)
	}
	var sets []parameters
	for _, a := range first {
		second, err := g.nested(two[1], a.values, depth+1)
		if err != nil {
			return nil, within(".generators[1]", fmt.Errorf("with %s: %w", a.origin, err))
		}
		for _, b := range second {
			values, err := g.combine(a.values, b.values)
			if err != nil {
				return nil, fmt.Errorf("%s with %s: %w", a.origin, b.origin, err)
			}
			sets = append(sets, parameters{values, a.origin + " with " + b.origin})
		}
	}
	return sets, nil
}

// combine makes one set of two.
func (g *generation) combine(a, b map[string]any) (map[string]any, error) {
	if g.set.Spec.GoTemplate {
		return overlay(b, a)
	}
	made := map[string]any{}
	for key, value := range a {
		made[key] = text(value)
	}
	for key, value := range b {
		if other, both := made[key]; both && other != text(value) {
			return nil, fmt.Errorf("both set the parameter %q, to %q and to %q: rename one of them, or set spec.goTemplate: true",
				key, other, text(value))
		}
		made[key] = text(value)
	}
	return made, nil
}

func text(value any) string {
	if s, ok := value.(string); ok {
		return s
	}
	return fmt.Sprint(value)
}

// onlyKnown refuses unknown fields.
func onlyKnown(body map[string]any, known ...string) error {
	rest := map[string]any{}
	for key := range body {
		rest[key] = nil
	}
	for _, key := range known {
		delete(rest, key)
	}
	return strictly(rest, &struct{}{})
}
