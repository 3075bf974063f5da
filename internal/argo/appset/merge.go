package appset

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
)

// merge lays the sets of further generators over those of the first, where the keys agree. Sets that have no
// counterpart in the first are dropped.
func (g *generation) merge(body map[string]any, depth int) ([]parameters, error) {
	if err := onlyKnown(body, "generators", "mergeKeys", "template"); err != nil {
		return nil, err
	}
	several, err := children(body)
	if err != nil {
		return nil, err
	}
	var said struct {
		MergeKeys []string `json:"mergeKeys"`
	}
	if err := convert(body, &said); err != nil {
		return nil, err
	}
	switch {
	case len(several) < 2:
		return nil, within(".generators", fmt.Errorf("a merge requires two or more, got %d", len(several)))
	case len(said.MergeKeys) == 0:
		return nil, within(".mergeKeys", errors.New("none set"))
	}
	var base []parameters
	first := map[string]int{}
	for i, child := range several {
		sets, err := g.nested(child, nil, depth+1)
		if err != nil {
			return nil, within(fmt.Sprintf(".generators[%d]", i), err)
		}
		byKey, err := keyed(sets, said.MergeKeys)
		if err != nil {
			return nil, within(fmt.Sprintf(".generators[%d]", i), err)
		}
		if i == 0 {
			base, first = sets, byKey
			continue
		}
		for key, n := range byKey {
			to, found := first[key]
			if !found {
				continue
			}
			if base[to].values, err = g.lay(base[to].values, sets[n].values); err != nil {
				return nil, within(fmt.Sprintf(".generators[%d]", i), fmt.Errorf("%s: %w", sets[n].origin, err))
			}
		}
	}
	return base, nil
}

func (g *generation) lay(under, over map[string]any) (map[string]any, error) {
	if g.set.Spec.GoTemplate {
		return overlay(under, over)
	}
	made := map[string]any{}
	maps.Copy(made, under)
	maps.Copy(made, over)
	return made, nil
}

// keyed finds sets by what they have for some parameters, which no two may have in common.
func keyed(sets []parameters, names []string) (map[string]int, error) {
	found := make(map[string]int, len(sets))
	for i, set := range sets {
		key := map[string]any{}
		for _, name := range names {
			key[name] = set.values[name]
		}
		data, err := json.Marshal(key)
		if err != nil {
			return nil, err
		}
		if other, twice := found[string(data)]; twice {
			return nil, fmt.Errorf("%s and %s both have %s, but mergeKeys must be unique", sets[other].origin, set.origin, data)
		}
		found[string(data)] = i
	}
	return found, nil
}
