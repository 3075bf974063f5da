package resourceset

import (
	"fmt"
	"hash/adler32"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Provider is an object that gives sets of inputs.
type Provider struct {
	APIVersion, Kind, Namespace, Name, UID string
	// Sets are the sets, each with its own id, if it has one.
	Sets []map[string]any
}

// String names the provider.
func (p Provider) String() string { return p.Kind + "/" + p.Namespace + "/" + p.Name }

// maxPermutations bounds how many sets of inputs a ResourceSet may have.
const maxPermutations = 10_000

// The fields that every set has.
const (
	idField       = "id"
	providerField = "provider"
)

// StaticID is the id of the one set that a static provider exports.
func StaticID(uid string) string {
	return strconv.FormatUint(uint64(adler32.Checksum([]byte(uid))), 10)
}

// Flatten puts the sets of all providers one after the other.
func Flatten(providers []Provider) ([]Input, error) {
	var all []Input
	for _, p := range providers {
		for i := range p.Sets {
			values := p.set(i)
			all = append(all, Input{Values: values, From: fmt.Sprintf("input %v of %s", values[idField], p)})
		}
	}
	if len(all) > maxPermutations {
		return nil, fmt.Errorf("%d sets of inputs exceed the limit of %d", len(all), maxPermutations)
	}
	return all, nil
}

// set is one set of a provider, with the fields that every set has.
func (p Provider) set(i int) map[string]any {
	values := maps.Clone(p.Sets[i])
	if values == nil {
		values = map[string]any{}
	}
	if id, ok := values[idField]; !ok || id == nil || id == "" {
		values[idField] = shortID(p.UID, strconv.Itoa(i))
	}
	values[providerField] = map[string]any{
		"apiVersion": p.APIVersion, "kind": p.Kind, "name": p.Name, "namespace": p.Namespace,
	}
	return values
}

// shortID makes an id out of what tells a set from others.
func shortID(parts ...string) string {
	h := fnv.New32a()
	for _, part := range parts {
		_, _ = h.Write([]byte(part + "\x00"))
	}
	return strconv.FormatUint(uint64(h.Sum32()), 10)
}

// Permute takes one set of each provider in every way there is, each below the name of its provider.
func Permute(providers []Provider) ([]Input, error) {
	names, total, err := plan(providers)
	if err != nil || total == 0 {
		return nil, err
	}
	all := make([]Input, 0, total)
	taken := map[string]bool{}
	at := make([]int, len(providers))
	for range total {
		values, parts := map[string]any{}, make([]string, 0, len(providers))
		for i, p := range providers {
			set := p.set(at[i])
			values[names[i]] = set
			parts = append(parts, fmt.Sprintf("%s=%v", names[i], set[idField]))
		}
		id := shortID(parts...)
		for n := 1; taken[id]; n++ {
			id = shortID(append(parts, strconv.Itoa(n))...)
		}
		taken[id] = true
		values[idField] = id
		all = append(all, Input{Values: values, From: "inputs " + strings.Join(parts, ", ")})
		advance(at, providers)
	}
	return all, nil
}

// plan returns the name under which the sets of each provider stand, and how many ways there are to take
// one of each.
func plan(providers []Provider) (names []string, total int, err error) {
	if len(providers) == 0 {
		return nil, 0, nil
	}
	total = 1
	named := map[string]Provider{}
	for _, p := range providers {
		name := Normalise(p.Name)
		if other, taken := named[name]; taken {
			return nil, 0, fmt.Errorf("the inputs of %s and of %s would both be named %q; rename one of them", other, p, name)
		}
		if name == "" || name == idField {
			return nil, 0, fmt.Errorf("the inputs of %s would be named %q, which templates cannot use; rename it", p, name)
		}
		named[name] = p
		names = append(names, name)
		if total *= len(p.Sets); total > maxPermutations {
			return nil, 0, fmt.Errorf("more than %d combinations of the inputs of all providers", maxPermutations)
		}
	}
	return names, total, nil
}

// advance goes to the next way, the last provider first.
func advance(at []int, providers []Provider) {
	for i := len(at) - 1; i >= 0; i-- {
		if at[i]++; at[i] < len(providers[i].Sets) {
			return
		}
		at[i] = 0
	}
}

// Normalise makes a name that templates can use out of the name of an object.
func Normalise(name string) string {
	words := strings.FieldsFunc(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r < 0x80:
			return '_'
		default:
			return -1
		}
	}, strings.ToLower(name)), func(r rune) bool { return r == '_' })
	return strings.Join(words, "_")
}

func keys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
