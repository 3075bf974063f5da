package appset

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/jq"
	"github.com/headgate-dev/headgate/internal/sandbox"
)

// ignoreRule names fields of Applications that are left to others.
type ignoreRule struct {
	field    string
	name     string
	pointers [][]any
	queries  []*jq.Query
}

// ignoreRules reads the rules of a set.
func ignoreRules(said []v1alpha1.ApplicationSetIgnoreDifferences) ([]ignoreRule, error) {
	var rules []ignoreRule
	for i, item := range said {
		rule := ignoreRule{field: fmt.Sprintf("spec.ignoreApplicationDifferences[%d]", i), name: item.Name}
		for j, text := range item.JSONPointers {
			pointer, err := readPointer(text)
			if err != nil {
				return nil, within(fmt.Sprintf("%s.jsonPointers[%d]", rule.field, j), err)
			}
			rule.pointers = append(rule.pointers, pointer)
		}
		for j, text := range item.JQPathExpressions {
			query, err := jq.New(text)
			if err != nil {
				return nil, within(fmt.Sprintf("%s.jqPathExpressions[%d]", rule.field, j), fmt.Errorf("%q: %w", text, err))
			}
			rule.queries = append(rule.queries, query)
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

// readPointer reads a pointer of RFC 6901 as a path. Numbers stay text until it is known whether they count items.
func readPointer(text string) ([]any, error) {
	if !strings.HasPrefix(text, "/") {
		return nil, fmt.Errorf(`%q does not begin with "/"`, text)
	}
	var path []any
	for part := range strings.SplitSeq(text[1:], "/") {
		path = append(path, strings.NewReplacer("~1", "/", "~0", "~").Replace(part))
	}
	return path, nil
}

// ignore gives the fields that rules name the values that they have.
func ignore(ctx context.Context, box *sandbox.Client, rules []ignoreRule, live, desired *unstructured.Unstructured) error {
	for _, rule := range rules {
		if rule.name != "" && rule.name != live.GetName() {
			continue
		}
		for _, pointer := range rule.pointers {
			desired.Object = copyPath(desired.Object, pointer, live.Object, pointer)
		}
		for _, query := range rule.queries {
			if err := ignoreQuery(ctx, box, query, live, desired); err != nil {
				return within(rule.field+".jqPathExpressions", err)
			}
		}
	}
	return nil
}

func ignoreQuery(ctx context.Context, box *sandbox.Client, query *jq.Query, live, desired *unstructured.Unstructured) error {
	theirs, err := paths(ctx, box, query, live.Object)
	if err != nil {
		return err
	}
	ours, err := paths(ctx, box, query, desired.Object)
	if err != nil {
		return err
	}
	// Items of lists may have moved; then the first one that matches stands for the first one, and so on.
	if len(ours) != len(theirs) {
		for _, path := range theirs {
			desired.Object = copyPath(desired.Object, path, live.Object, path)
		}
		ours = slices.DeleteFunc(ours, func(path []any) bool {
			return slices.ContainsFunc(theirs, func(other []any) bool { return reflect.DeepEqual(path, other) })
		})
		theirs = ours
	}
	for i := range slices.Backward(ours) {
		desired.Object = copyPath(desired.Object, ours[i], live.Object, theirs[i])
	}
	return nil
}

// paths are those that an expression names in an object. What it cannot follow in this object is not there.
func paths(ctx context.Context, box *sandbox.Client, query *jq.Query, object map[string]any) ([][]any, error) {
	result, err := query.Paths(ctx, box, object)
	switch {
	case err != nil:
		return nil, err
	case result.Problem == jq.Slow:
		return nil, fmt.Errorf("it takes longer than %s", jq.Time)
	case result.Problem == jq.Many:
		return nil, fmt.Errorf("it selects more than %d fields", jq.MaxPaths)
	}
	return result.Paths, nil
}

// copyPath gives a field the value that a field of another object has, or takes it away when there is none there.
func copyPath(into map[string]any, to []any, from map[string]any, at []any) map[string]any {
	value, there := get(from, at)
	made, ok := put(into, to, value, there).(map[string]any)
	if !ok {
		return into
	}
	return made
}

func get(value any, path []any) (any, bool) {
	for _, step := range path {
		switch holder := value.(type) {
		case map[string]any:
			name, ok := step.(string)
			inner, there := holder[name]
			if !ok || !there {
				return nil, false
			}
			value = inner
		case []any:
			i, ok := index(step, len(holder))
			if !ok {
				return nil, false
			}
			value = holder[i]
		default:
			return nil, false
		}
	}
	return value, true
}

// index reads a step of a path as the number of an item.
func index(step any, length int) (int, bool) {
	var i int
	switch step := step.(type) {
	case int:
		i = step
	case float64:
		i = int(step)
	case string:
		number, err := strconv.Atoi(step)
		if err != nil {
			return 0, false
		}
		i = number
	default:
		return 0, false
	}
	return i, i >= 0 && i < length
}

// put returns a value in which one field is another. What is on the way to it is copied, as it may belong to others.
func put(value any, path []any, to any, there bool) any {
	if len(path) == 0 {
		return to
	}
	if items, ok := value.([]any); ok {
		i, ok := index(path[0], len(items))
		if !ok {
			return value
		}
		items = slices.Clone(items)
		if len(path) == 1 && !there {
			return slices.Delete(items, i, i+1)
		}
		items[i] = put(items[i], path[1:], to, there)
		return items
	}
	name, ok := path[0].(string)
	fields, isMap := value.(map[string]any)
	if !ok || value != nil && !isMap {
		return value
	}
	inner, has := fields[name]
	if !there && !has {
		return value
	}
	made := maps.Clone(fields)
	if made == nil {
		made = map[string]any{}
	}
	if len(path) == 1 && !there {
		delete(made, name)
		return made
	}
	made[name] = put(inner, path[1:], to, there)
	return made
}
