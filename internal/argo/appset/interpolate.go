package appset

import (
	"maps"
	"slices"
)

// interpolate renders what a generator says with the parameters of the generator before it.
func (g *generation) interpolate(raw map[string]any, with map[string]any) (map[string]any, error) {
	made := make(map[string]any, len(raw))
	for _, kind := range slices.Sorted(maps.Keys(raw)) {
		body, ok := raw[kind].(map[string]any)
		if !ok {
			made[kind] = raw[kind]
			continue
		}
		rendered, err := g.interpolateBody(body, with)
		if err != nil {
			return nil, within("."+kind, err)
		}
		made[kind] = rendered
	}
	return made, nil
}

func (g *generation) interpolateBody(body map[string]any, with map[string]any) (map[string]any, error) {
	made := make(map[string]any, len(body))
	for _, key := range slices.Sorted(maps.Keys(body)) {
		var err error
		switch key {
		case "template":
			made[key] = body[key]
		case "values":
			made[key], err = g.early(body[key], with)
		case "generators":
			made[key], err = g.interpolateAll(body[key], with)
		default:
			made[key], err = deep(g.engine, body[key], with)
		}
		if err != nil {
			return nil, within("."+key, err)
		}
	}
	return made, nil
}

func (g *generation) interpolateAll(value any, with map[string]any) (any, error) {
	listed, ok := value.([]any)
	if !ok {
		return value, nil
	}
	made := make([]any, len(listed))
	for i, item := range listed {
		made[i] = item
		if child, ok := item.(map[string]any); ok {
			rendered, err := g.interpolate(child, with)
			if err != nil {
				return nil, err
			}
			made[i] = rendered
		}
	}
	return made, nil
}

// early renders further parameters that need none of the generator's own; the others wait for those.
func (g *generation) early(value any, with map[string]any) (any, error) {
	values, ok := value.(map[string]any)
	if !ok {
		return value, nil
	}
	e := g.engine
	if loose, ok := e.(*goEngine); ok {
		strict, err := loose.strict()
		if err != nil {
			return nil, err
		}
		e = strict
	}
	made := make(map[string]any, len(values))
	for _, key := range slices.Sorted(maps.Keys(values)) {
		text, ok := values[key].(string)
		if !ok {
			made[key] = values[key]
			continue
		}
		rendered, err := e.render(text, with)
		switch {
		case err == nil:
			made[key] = rendered
		case missing(err):
			made[key] = text
		default:
			return nil, within("."+key, err)
		}
	}
	return made, nil
}
