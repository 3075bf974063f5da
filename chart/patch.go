package chart

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/headgate-dev/headgate/chart/internal/document"
)

// JSONPatch is operations of RFC 6902, applied one after the other:
//
//	object.Patch(chart.JSONPatch{{Op: "replace", Path: "/spec/replicas", Value: 3}})
type JSONPatch []Operation

// Operation is one step of a JSONPatch.
type Operation struct {
	// Op is add, remove, replace, move, copy or test.
	Op string
	// Path is a JSON pointer (RFC 6901) to what is changed, and From one to what is moved or copied. "~1" in a key is a slash, "~0" a tilde.
	Path, From string
	// Value is added, put instead or compared: anything that may be in an object.
	Value any
}

// apply changes the object in the order of its keys: what an operation adds comes after what is there.
func (p JSONPatch) apply(m *Manifest) error {
	for i, one := range p {
		root, err := one.on(m.ordered)
		if err != nil {
			return fmt.Errorf("applying operation %d of a JSON patch, %s %q: %w", i, one.Op, one.Path, err)
		}
		object, ok := root.(*document.Map)
		if !ok {
			return fmt.Errorf("applying operation %d of a JSON patch, %s %q: the object would be a %T", i, one.Op, one.Path, document.Plain(root))
		}
		m.ordered = object
	}
	return nil
}

func (one Operation) on(root any) (any, error) {
	path, err := pointer(one.Path)
	if err != nil {
		return nil, err
	}
	switch one.Op {
	case "add", "replace", "test":
		value, err := plain(one.Value)
		if err != nil {
			return nil, in("value", err)
		}
		if one.Op != "test" {
			return edit(root, path, one.Op, document.New(value))
		}
		return root, expect(root, path, value)
	case "remove":
		return edit(root, path, one.Op, nil)
	case "move", "copy":
		return one.transfer(root, path)
	}
	return nil, errors.New("the operation is unknown; use add, remove, replace, move, copy or test")
}

func (one Operation) transfer(root any, path []string) (any, error) {
	from, err := pointer(one.From)
	if err != nil {
		return nil, err
	}
	value, err := find(root, from)
	if err != nil {
		return nil, err
	}
	value = document.New(document.Plain(value))
	if one.Op == "move" {
		if len(path) > len(from) && slices.Equal(path[:len(from)], from) {
			return nil, fmt.Errorf("%q cannot be moved into itself", one.From)
		}
		if root, err = edit(root, from, "remove", nil); err != nil {
			return nil, err
		}
	}
	return edit(root, path, "add", value)
}

func expect(root any, path []string, want any) error {
	got, err := find(root, path)
	if err != nil {
		return err
	}
	if !equal(document.Plain(got), want) {
		return errors.New("the value is another one")
	}
	return nil
}

// equal compares values; 1 and 1.0 are equal.
func equal(a, b any) bool {
	switch first := a.(type) {
	case map[string]any:
		second, ok := b.(map[string]any)
		if !ok || len(first) != len(second) {
			return false
		}
		for key, one := range first {
			if other, ok := second[key]; !ok || !equal(one, other) {
				return false
			}
		}
		return true
	case []any:
		second, ok := b.([]any)
		return ok && slices.EqualFunc(first, second, equal)
	case int64:
		if second, ok := b.(float64); ok {
			return float64(first) == second
		}
	case float64:
		if second, ok := b.(int64); ok {
			return first == float64(second)
		}
	}
	return reflect.DeepEqual(a, b)
}

// pointer is the tokens of a JSON pointer.
func pointer(path string) ([]string, error) {
	if path == "" {
		return nil, nil
	}
	if !strings.HasPrefix(path, "/") {
		return nil, fmt.Errorf("%q is not a JSON pointer: it begins with a slash", path)
	}
	tokens := strings.Split(path[1:], "/")
	for i, token := range tokens {
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
	}
	return tokens, nil
}

// find is the value at a place.
func find(node any, path []string) (any, error) {
	for i, token := range path {
		child, err := childOf(node, token)
		if err != nil {
			return nil, fmt.Errorf("/%s: %w", strings.Join(path[:i+1], "/"), err)
		}
		node = child
	}
	return node, nil
}

var errAbsent = errors.New("it does not exist")

func childOf(node any, token string) (any, error) {
	switch v := node.(type) {
	case *document.Map:
		child, ok := v.Get(token)
		if !ok {
			return nil, errAbsent
		}
		return child, nil
	case []any:
		i, err := position(token, len(v)-1)
		if err != nil {
			return nil, err
		}
		return v[i], nil
	}
	return nil, errAbsent
}

// position is the index of an element of a list.
func position(token string, last int) (int, error) {
	i, err := strconv.Atoi(token)
	if err != nil || i < 0 || strconv.Itoa(i) != token {
		return 0, fmt.Errorf("%q is not an index of a list", token)
	}
	if i > last {
		return 0, fmt.Errorf("the list has %d elements", last+1)
	}
	return i, nil
}

// edit adds, replaces or removes what is at a place, and returns the root after that.
func edit(root any, path []string, op string, value any) (any, error) {
	if len(path) == 0 {
		return value, nil
	}
	around, token := path[:len(path)-1], path[len(path)-1]
	node, err := find(root, around)
	if err != nil {
		return nil, err
	}
	switch v := node.(type) {
	case []any:
		list, err := editList(v, token, op, value)
		if err != nil || len(around) == 0 {
			return list, err
		}
		return root, put(root, around, list)
	case *document.Map:
		return root, editMap(v, token, op, value)
	}
	return nil, errors.New("what is around it is neither a mapping nor a list")
}

func editMap(m *document.Map, token, op string, value any) error {
	if _, there := m.Get(token); !there && op != "add" {
		return errAbsent
	}
	if op == "remove" {
		m.Delete(token)
		return nil
	}
	m.Set(token, value)
	return nil
}

// put sets a list at a place that is there.
func put(root any, path []string, list []any) error {
	token := path[len(path)-1]
	node, err := find(root, path[:len(path)-1])
	if err != nil {
		return err
	}
	switch v := node.(type) {
	case *document.Map:
		v.Set(token, list)
	case []any:
		i, err := position(token, len(v)-1)
		if err != nil {
			return err
		}
		v[i] = list
	}
	return nil
}

func editList(list []any, token, op string, value any) ([]any, error) {
	if op == "add" && token == "-" {
		return append(list, value), nil
	}
	last := len(list) - 1
	if op == "add" {
		last++
	}
	i, err := position(token, last)
	if err != nil {
		return nil, err
	}
	switch op {
	case "add":
		return slices.Insert(list, i, value), nil
	case "remove":
		return slices.Delete(list, i, i+1), nil
	}
	list[i] = value
	return list, nil
}
