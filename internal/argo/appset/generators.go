package appset

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The kinds of generators.
const (
	kindList     = "list"
	kindClusters = "clusters"
	kindGit      = "git"
	kindMatrix   = "matrix"
	kindMerge    = "merge"
)

// kindNames are the kinds in the order in which several of one generator count; the second half is not served.
func kindNames() []string {
	return []string{kindList, kindClusters, kindGit, kindMatrix, kindMerge, "scmProvider", "clusterDecisionResource", "pullRequest", "plugin"}
}

// kindsOf are the kinds that a generator names.
func kindsOf(raw map[string]any) ([]string, error) {
	var found []string
	for _, kind := range kindNames() {
		if raw[kind] != nil {
			found = append(found, kind)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		if key != "selector" && !slices.Contains(kindNames(), key) {
			return nil, within("."+key, fmt.Errorf("unknown generator; use one of %s", strings.Join(kindNames(), ", ")))
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no generator is set; use one of %s", strings.Join(kindNames(), ", "))
	}
	return found, nil
}

// sets are those that one kind of a generator gives, chosen by its selector.
func (g *generation) sets(kind string, raw map[string]any, depth int) ([]parameters, error) {
	body, ok := raw[kind].(map[string]any)
	if !ok {
		return nil, within("."+kind, errors.New("not an object"))
	}
	sets, err := g.kind(kind, body, depth)
	if err == nil {
		err = g.enough(len(sets))
	}
	if err != nil {
		return nil, within("."+kind, err)
	}
	selector, err := selectorOf(raw)
	if err != nil {
		return nil, err
	}
	return choose(selector, sets)
}

func selectorOf(raw map[string]any) (*metav1.LabelSelector, error) {
	if raw["selector"] == nil {
		return nil, nil
	}
	selector := &metav1.LabelSelector{}
	if err := strictly(raw["selector"], selector); err != nil {
		return nil, within(".selector", err)
	}
	return selector, nil
}

// kind asks one kind of generator.
func (g *generation) kind(kind string, body map[string]any, depth int) ([]parameters, error) {
	switch kind {
	case kindList:
		return g.list(body)
	case kindClusters:
		return g.clusters(body)
	case kindGit:
		return g.git(body)
	case kindMatrix, kindMerge:
		if depth > 1 {
			return nil, errors.New("generators nest only once: a matrix or merge within another one cannot contain either")
		}
		if kind == kindMatrix {
			return g.matrix(body, depth)
		}
		return g.merge(body, depth)
	}
	return nil, ErrNotServed
}

// nested are the sets of a generator within another one, with the parameters of the one before it, if any.
func (g *generation) nested(raw map[string]any, with map[string]any, depth int) ([]parameters, error) {
	kinds, err := kindsOf(raw)
	if err != nil {
		return nil, err
	}
	if len(kinds) > 1 {
		return nil, fmt.Errorf("it sets %s; a nested generator must be of one kind", strings.Join(kinds, " and "))
	}
	asked := raw
	if len(with) > 0 {
		if asked, err = g.interpolate(raw, own(with)); err != nil {
			return nil, err
		}
		// A selector chooses as it was written.
		asked["selector"] = raw["selector"]
	}
	return g.sets(kinds[0], asked, depth)
}

// decode reads what a generator says, but for its template, which is not read here.
func decode(body map[string]any, into any) error {
	body = maps.Clone(body)
	delete(body, "template")
	return strictly(body, into)
}

// children are the generators within another one, as they were written.
func children(body map[string]any) ([]map[string]any, error) {
	listed, _ := body["generators"].([]any)
	var all []map[string]any
	for i, item := range listed {
		child, ok := item.(map[string]any)
		if !ok {
			return nil, within(fmt.Sprintf(".generators[%d]", i), errors.New("not an object"))
		}
		all = append(all, child)
	}
	return all, nil
}
