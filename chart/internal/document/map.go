// Package document holds Kubernetes objects as they are written: mappings with an order of their keys, and YAML that readers of YAML 1.1
// and of YAML 1.2 understand alike. The order and the style are those of cdk8s 2.
//
// It refuses to know what an object is for, and to read YAML.
package document

import (
	"cmp"
	"slices"
	"strconv"
)

// Map is a mapping whose keys have an order: sorted ones, and after them those that were added later.
type Map struct {
	keys   []string
	values map[string]any
}

// New is value with a Map for each map[string]any in it, their keys sorted. What it returns shares nothing with value.
func New(value any) any {
	switch v := value.(type) {
	case map[string]any:
		m := &Map{keys: Keys(v), values: make(map[string]any, len(v))}
		for key, one := range v {
			m.values[key] = New(one)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, one := range v {
			list[i] = New(one)
		}
		return list
	}
	return value
}

// Plain is the reverse of New; the order is lost.
func Plain(value any) any {
	switch v := value.(type) {
	case *Map:
		m := make(map[string]any, len(v.values))
		for key, one := range v.values {
			m[key] = Plain(one)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, one := range v {
			list[i] = Plain(one)
		}
		return list
	}
	return value
}

// Keys are the keys of the mapping in their order.
func (m *Map) Keys() []string { return m.keys }

// Get is the value of a key.
func (m *Map) Get(key string) (any, bool) {
	value, ok := m.values[key]
	return value, ok
}

// Set changes the value of a key, or adds the key after all others.
func (m *Map) Set(key string, value any) {
	if _, ok := m.values[key]; !ok {
		m.keys = append(m.keys, key)
	}
	m.values[key] = value
}

// Delete removes a key.
func (m *Map) Delete(key string) {
	if _, ok := m.values[key]; ok {
		delete(m.values, key)
		m.keys = slices.DeleteFunc(m.keys, func(one string) bool { return one == key })
	}
}

// Keys are the keys of a plain mapping in the order in which they are written.
func Keys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, compareKeys)
	return keys
}

// compareKeys sorts whole numbers before all other keys and by their value, as JavaScript orders the keys of an object.
func compareKeys(a, b string) int {
	first, isFirst := index(a)
	second, isSecond := index(b)
	switch {
	case isFirst && isSecond:
		return cmp.Compare(first, second)
	case isFirst:
		return -1
	case isSecond:
		return 1
	}
	return cmp.Compare(a, b)
}

// index is the number that a key is, if it is one below 2^32-1 without leading zeros.
func index(key string) (uint64, bool) {
	if key == "" || key[0] < '0' || key[0] > '9' || (key[0] == '0' && len(key) > 1) {
		return 0, false
	}
	number, err := strconv.ParseUint(key, 10, 32)
	return number, err == nil && number < 1<<32-1
}
