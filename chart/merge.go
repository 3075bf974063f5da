package chart

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/chart/internal/document"
)

// Merge is a patch that looks like a part of the object: its keys are set, those with nil are removed, mappings are merged. Lists are
// replaced (RFC 7386), but in kinds of Kubernetes, where lists such as containers are merged by the names of their elements as kubectl
// does, with its directives $patch, $retainKeys and $deleteFromPrimitiveList:
//
//	object.Patch(chart.Merge{With: map[string]any{"spec": map[string]any{"paused": true}}})
type Merge struct {
	// With is a map[string]any, or a pointer to a Go type of which what is not zero counts.
	With any
}

// mergeKeys are the fields of Kubernetes whose lists are merged by a field of their elements.
var mergeKeys = map[string]string{
	"conditions": "type", "containers": "name", "drivers": "name", "env": "name", "ephemeralContainers": "name", "hostAliases": "ip",
	"imagePullSecrets": "name", "initContainers": "name", "matchConditions": "name", "ownerReferences": "uid", "resourceClaims": "name",
	"schedulingGates": "name", "secrets": "name", "topologySpreadConstraints": "topologyKey", "variables": "name", "volumeDevices": "devicePath",
	"volumeMounts": "mountPath", "volumes": "name", "webhooks": "name",
}

// apply merges the patch into the object; new keys come after those that are there.
func (p Merge) apply(m *Manifest) error {
	converted, err := plain(p.With)
	if err != nil {
		return fmt.Errorf("reading a merge patch: %w", err)
	}
	change, ok := converted.(map[string]any)
	if !ok {
		return fmt.Errorf("a merge patch is a %T; give a map[string]any or a pointer to a Go type", p.With)
	}
	apiVersion, _ := m.ordered.Get("apiVersion")
	kind, _ := m.ordered.Get("kind")
	if said := text(change, "kind"); said != "" && said != kind {
		return fmt.Errorf("a merge patch of a %s does not apply to a %v", said, kind)
	}
	g := merger{}
	if version, _ := apiVersion.(string); builtIn(groupOf(version)) {
		g.strategic, g.service = true, kind == "Service"
	}
	if err := g.merge(m.ordered, change); err != nil {
		return fmt.Errorf("applying a merge patch: %w", err)
	}
	return nil
}

// builtIn reports whether the kinds of a group are those of Kubernetes.
func builtIn(group string) bool {
	for path, one := range groups {
		if one == group && strings.HasPrefix(path, "k8s.io/api/") {
			return true
		}
	}
	return false
}

// merger merges a patch; strategic as kubectl does for kinds of Kubernetes, service in a Service.
type merger struct{ strategic, service bool }

// keyOf is the field by which elements of a list are merged, if they are.
func (g merger) keyOf(field string) string {
	switch {
	case !g.strategic:
		return ""
	case field == "ports" && g.service:
		return "port"
	case field == "ports":
		return "containerPort"
	}
	return mergeKeys[field]
}

const (
	directive       = "$patch"
	retained        = "$retainKeys"
	fromPrimitives  = "$deleteFromPrimitiveList/"
	elementsInOrder = "$setElementOrder/"
)

func (g merger) merge(into *document.Map, change map[string]any) error {
	if g.strategic {
		if done, err := g.direct(into, change); done || err != nil {
			return err
		}
	}
	for _, key := range document.Keys(change) {
		value := change[key]
		switch {
		case value == nil:
			into.Delete(key)
		case g.strategic && strings.HasPrefix(key, "$"):
			if err := removePrimitives(into, key, value); err != nil {
				return err
			}
		default:
			merged, err := g.field(into, key, value)
			if err != nil {
				return in(key, err)
			}
			into.Set(key, merged)
		}
	}
	return nil
}

// direct does what $patch and $retainKeys say; done says that nothing is left to merge.
func (g merger) direct(into *document.Map, change map[string]any) (done bool, err error) {
	if keep, ok := change[retained].([]any); ok {
		for _, key := range slices.Clone(into.Keys()) {
			if !slices.Contains(keep, any(key)) {
				into.Delete(key)
			}
		}
	}
	switch said, ok := change[directive]; {
	case !ok || said == "merge":
		return false, nil
	case said == "replace":
		clearMap(into)
		return false, nil
	case said == "delete":
		clearMap(into)
		return true, nil
	default:
		return false, fmt.Errorf("$patch is %v; use replace, merge or delete", said)
	}
}

func clearMap(m *document.Map) {
	for _, key := range slices.Clone(m.Keys()) {
		m.Delete(key)
	}
}

func removePrimitives(into *document.Map, key string, value any) error {
	field, ok := strings.CutPrefix(key, fromPrimitives)
	switch {
	case key == directive, key == retained:
		return nil
	case strings.HasPrefix(key, elementsInOrder):
		return fmt.Errorf("%s is unsupported; list the elements in their order with $patch: replace", key)
	case !ok:
		return fmt.Errorf("the directive %s is unknown", key)
	}
	remove, _ := value.([]any)
	current, _ := into.Get(field)
	if list, ok := current.([]any); ok {
		into.Set(field, slices.DeleteFunc(list, func(one any) bool {
			return slices.ContainsFunc(remove, func(other any) bool { return equal(one, other) })
		}))
	}
	return nil
}

// field is the value of a key after the merge.
func (g merger) field(into *document.Map, key string, value any) (any, error) {
	current, _ := into.Get(key)
	switch v := value.(type) {
	case map[string]any:
		below, ok := current.(*document.Map)
		if !ok {
			below, _ = document.New(map[string]any{}).(*document.Map)
		}
		return below, g.merge(below, v)
	case []any:
		if by := g.keyOf(key); by != "" && len(v) > 0 {
			list, _ := current.([]any)
			return g.list(list, v, by)
		}
		if list, ok := current.([]any); ok && g.strategic && key == "finalizers" {
			return union(list, v), nil
		}
	}
	return document.New(value), nil
}

func union(list, more []any) []any {
	for _, one := range more {
		if !slices.ContainsFunc(list, func(other any) bool { return equal(one, other) }) {
			list = append(list, one)
		}
	}
	return list
}

// list merges elements into a list by a field of them; new ones come after those that are there.
func (g merger) list(list, changes []any, by string) ([]any, error) {
	for _, one := range changes {
		if change, ok := one.(map[string]any); ok && len(change) == 1 && change[directive] == "replace" {
			list = nil
		}
	}
	for i, one := range changes {
		change, ok := one.(map[string]any)
		if !ok {
			return nil, in(fmt.Sprintf("[%d]", i), errors.New("it is not a mapping"))
		}
		if len(change) == 1 && change[directive] == "replace" {
			continue
		}
		key, ok := change[by]
		if !ok {
			return nil, in(fmt.Sprintf("[%d]", i), fmt.Errorf("the field %q is missing, by which elements are merged", by))
		}
		at := slices.IndexFunc(list, func(element any) bool {
			m, ok := element.(*document.Map)
			if !ok {
				return false
			}
			current, _ := m.Get(by)
			return equal(current, key)
		})
		if change[directive] == "delete" {
			if at >= 0 {
				list = slices.Delete(list, at, at+1)
			}
			continue
		}
		if at < 0 {
			added, _ := document.New(map[string]any{}).(*document.Map)
			list, at = append(list, added), len(list)
		}
		element, _ := list[at].(*document.Map)
		if err := g.merge(element, change); err != nil {
			return nil, in(fmt.Sprintf("[%d]", i), err)
		}
	}
	return list, nil
}
