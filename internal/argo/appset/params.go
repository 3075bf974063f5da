package appset

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"dario.cat/mergo"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// parameters are one set of those that a generator gives.
type parameters struct {
	values map[string]any
	// origin says where they come from, for people.
	origin string
}

// addValues renders the further parameters of a generator with its own, of which they see none of each other.
func addValues(e engine, values map[string]string, params map[string]any) error {
	if len(values) == 0 {
		return nil
	}
	made := make(map[string]string, len(values))
	for _, key := range slices.Sorted(maps.Keys(values)) {
		text, err := e.render(values[key], params)
		if err != nil {
			return within(".values."+key, err)
		}
		made[key] = text
	}
	if _, plain := e.(plainEngine); !plain {
		params["values"] = made
		return nil
	}
	for key, value := range made {
		params["values."+key] = value
	}
	return nil
}

// overlay lays parameters over others, deep in maps, by the library that upstream has for it, with its rules: false, 0, an empty string, an empty
// list and null lie over what is there, an empty map over nothing, and lists are taken as a whole.
func overlay(under, over map[string]any) (map[string]any, error) {
	made := own(under)
	if err := mergo.Merge(&made, own(over), mergo.WithOverride); err != nil {
		return nil, fmt.Errorf("merging parameters: %w", err)
	}
	return made, nil
}

// copyValue is a private copy of a value: templates can change maps.
func copyValue(value any) any {
	switch value := value.(type) {
	case map[string]any:
		made := make(map[string]any, len(value))
		for key, item := range value {
			made[key] = copyValue(item)
		}
		return made
	case []any:
		made := make([]any, len(value))
		for i, item := range value {
			made[i] = copyValue(item)
		}
		return made
	case map[string]string:
		return maps.Clone(value)
	case []string:
		return slices.Clone(value)
	}
	return value
}

// own is a set of parameters of which templates may change what they like.
func own(params map[string]any) map[string]any {
	made, _ := copyValue(params).(map[string]any)
	return made
}

// flatten makes one map of nested ones: "a.b", and "a.0" for items of lists.
func flatten(params map[string]any) map[string]string {
	flat := map[string]string{}
	for key, value := range params {
		flattenInto(flat, key, value)
	}
	return flat
}

func flattenInto(flat map[string]string, name string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, item := range value {
			flattenInto(flat, name+"."+key, item)
		}
	case map[string]string:
		for key, item := range value {
			flat[name+"."+key] = item
		}
	case []any:
		for i, item := range value {
			flattenInto(flat, name+"."+strconv.Itoa(i), item)
		}
	case []string:
		for i, item := range value {
			flat[name+"."+strconv.Itoa(i)] = item
		}
	default:
		flat[name] = fmt.Sprint(value)
	}
}

// choose leaves the sets that a selector matches. Its keys are names of parameters, and its values may be any text.
func choose(selector *metav1.LabelSelector, sets []parameters) ([]parameters, error) {
	if selector == nil {
		return sets, nil
	}
	for i, e := range selector.MatchExpressions {
		if err := legible(e); err != nil {
			return nil, within(fmt.Sprintf(".selector.matchExpressions[%d]", i), err)
		}
	}
	var chosen []parameters
	for _, set := range sets {
		if matches(selector, flatten(set.values)) {
			chosen = append(chosen, set)
		}
	}
	return chosen, nil
}

// legible reports an expression that says nothing.
func legible(e metav1.LabelSelectorRequirement) error {
	switch e.Operator {
	case metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn:
		if len(e.Values) == 0 {
			return fmt.Errorf("%s requires values", e.Operator)
		}
	case metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist:
		if len(e.Values) != 0 {
			return fmt.Errorf("%s takes no values", e.Operator)
		}
	default:
		return fmt.Errorf("unknown operator %q; use In, NotIn, Exists or DoesNotExist", e.Operator)
	}
	return nil
}

func matches(selector *metav1.LabelSelector, flat map[string]string) bool {
	for key, value := range selector.MatchLabels {
		if has, ok := flat[key]; !ok || has != value {
			return false
		}
	}
	for _, e := range selector.MatchExpressions {
		value, there := flat[e.Key]
		listed := slices.Contains(e.Values, value)
		switch {
		case e.Operator == metav1.LabelSelectorOpIn && (!there || !listed),
			e.Operator == metav1.LabelSelectorOpNotIn && there && listed,
			e.Operator == metav1.LabelSelectorOpExists && !there,
			e.Operator == metav1.LabelSelectorOpDoesNotExist && there:
			return false
		}
	}
	return true
}
