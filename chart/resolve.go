package chart

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// resolve replaces values of an object by the answers of resolvers, from the outside in.
func resolve(resolvers []Resolver, o *Object, object map[string]any) (map[string]any, error) {
	if len(resolvers) == 0 {
		return object, nil
	}
	answer, err := resolveValue(resolvers, o, nil, object)
	if err != nil {
		return nil, err
	}
	resolved, ok := answer.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("a resolver replaced the object by a %T", answer)
	}
	return resolved, nil
}

// resolveValue asks the resolvers for a value. One that answered is not given its own answer again, or a resolver of prefixes
// would never end; it is given what is in it.
func resolveValue(resolvers []Resolver, o *Object, path []string, value any) (any, error) {
	if len(path) > maxDepth {
		return nil, fmt.Errorf("%s: values nest too deep; does a resolver answer with what it was given?", strings.Join(path[:4], "."))
	}
	for remaining := slices.Clone(resolvers); ; {
		answered := -1
		for i, one := range remaining {
			answer, ok, err := one.Resolve(o, slices.Clone(path), value)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", strings.Join(path, "."), err)
			}
			if !ok {
				continue
			}
			if value, err = plain(answer); err != nil {
				return nil, in(strings.Join(path, "."), err)
			}
			answered = i
			break
		}
		if answered < 0 {
			return resolveBelow(resolvers, o, path, value)
		}
		remaining = slices.Delete(remaining, answered, answered+1)
	}
}

func resolveBelow(resolvers []Resolver, o *Object, path []string, value any) (any, error) {
	var err error
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if v[key], err = resolveValue(resolvers, o, append(path, key), v[key]); err != nil {
				return nil, err
			}
		}
	case []any:
		for i := range v {
			if v[i], err = resolveValue(resolvers, o, append(path, strconv.Itoa(i)), v[i]); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}
