package managed

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// resolve stores the values of the fields that are taken from other managed resources.
func (p *pass) resolve(ctx context.Context) error {
	patch := map[string]any{}
	for _, ref := range p.served.References {
		if err := p.resolveOne(ctx, ref, patch); err != nil {
			return fmt.Errorf("cannot resolve references: spec.forProvider.%s: %w", ref.To, err)
		}
	}
	if len(patch) == 0 {
		return nil
	}
	u, err := p.writer().Patch(ctx, p.object, map[string]any{
		"metadata": map[string]any{"resourceVersion": p.object.GetResourceVersion()}, "spec": map[string]any{"forProvider": patch},
	})
	p.took(u)
	return err
}

// resolveOne enters the value of a field, and the names that a selector selected, into a patch.
func (p *pass) resolveOne(ctx context.Context, ref Reference, patch map[string]any) error {
	fields, _, _ := unstructured.NestedMap(p.object.Object, "spec", "forProvider")
	names, policies := named(fields[ref.Ref])
	selector, selects := fields[ref.Selector].(map[string]any)
	if selects {
		policies = append(policies, policyOf(selector))
	}
	if len(names) == 0 && !selects {
		return nil
	}
	always := slices.ContainsFunc(policies, func(one map[string]string) bool { return one["resolve"] == "Always" })
	optional := len(policies) > 0 && !slices.ContainsFunc(policies, func(one map[string]string) bool { return one["resolution"] != "Optional" })
	if set := fields[ref.To]; !empty(set) && !always {
		return nil
	}
	if selects && (len(names) == 0 || policyOf(selector)["resolve"] == "Always") {
		selected, err := p.selected(ctx, ref, selector)
		if err != nil {
			return err
		}
		names = selected
	}
	values, err := p.values(ctx, ref, names)
	switch {
	case err != nil && optional:
		return nil
	case err != nil:
		return err
	case len(values) == 0 && optional:
		return nil
	case len(values) == 0:
		return Invalid("no resources matched selector")
	}
	enter(patch, fields, ref, names, values, selects)
	return nil
}

// enter enters what was resolved, where it differs.
func enter(patch, fields map[string]any, ref Reference, names []types.NamespacedName, values []string, selected bool) {
	list := make([]any, len(values))
	for i, one := range values {
		list[i] = one
		if n, err := strconv.ParseInt(one, 10, 64); ref.Number && err == nil {
			list[i] = n
		}
	}
	value := list[0]
	if ref.Many {
		value = list
	}
	if fmt.Sprint(fields[ref.To]) != fmt.Sprint(value) {
		patch[ref.To] = value
	}
	if !selected {
		return
	}
	refs := make([]any, len(names))
	for i, one := range names {
		refs[i] = map[string]any{"name": one.Name}
	}
	var chosen any = refs
	if !ref.Many {
		chosen = refs[0]
	}
	if fmt.Sprint(fields[ref.Ref]) != fmt.Sprint(chosen) {
		patch[ref.Ref] = chosen
	}
}

// values are those of other resources.
func (p *pass) values(ctx context.Context, ref Reference, names []types.NamespacedName) ([]string, error) {
	var values []string
	for _, name := range names {
		if p.served.Namespaced {
			if name.Namespace == "" {
				name.Namespace = p.object.GetNamespace()
			} else if name.Namespace != p.object.GetNamespace() {
				return nil, Invalid("a resource in namespace %s cannot refer to namespace %s", p.object.GetNamespace(), name.Namespace)
			}
		}
		o, polled, err := p.edges.Get(ctx, p.key, ref.Kind.WithVersion(ref.Kind.Version), name)
		if err != nil {
			return nil, err
		}
		p.memory.polled = p.memory.polled || polled
		if o == nil {
			return nil, Invalid("%s %q not found", ref.Kind.Kind, name.Name)
		}
		value := o.GetAnnotations()[AnnotationExternalName]
		if ref.From != "" {
			found, _, _ := unstructured.NestedFieldNoCopy(o.Object, strings.Split(ref.From, ".")...)
			if value = ""; found != nil {
				value = fmt.Sprint(found)
			}
		}
		if value == "" {
			return nil, Invalid("%s %q: referenced field was empty (referenced resource may not yet be ready)", ref.Kind.Kind, name.Name)
		}
		values = append(values, value)
	}
	return values, nil
}

// selected are the names that a selector selects, in their order; the first of them when one is wanted.
func (p *pass) selected(ctx context.Context, ref Reference, selector map[string]any) ([]types.NamespacedName, error) {
	match, _, _ := unstructured.NestedStringMap(selector, "matchLabels")
	namespace := ""
	if p.served.Namespaced {
		namespace = p.object.GetNamespace()
	}
	found, err := p.edges.List(ctx, p.key, ref.Kind.WithVersion(ref.Kind.Version), namespace, labels.SelectorFromSet(maps.Clone(match)).String())
	if err != nil {
		return nil, err
	}
	siblings, _ := selector["matchControllerRef"].(bool)
	owner := metav1.GetControllerOf(p.object)
	var names []types.NamespacedName
	for i := range found {
		theirs := metav1.GetControllerOf(&found[i])
		if siblings && (owner == nil || theirs == nil || owner.UID != theirs.UID) {
			continue
		}
		names = append(names, types.NamespacedName{Namespace: found[i].GetNamespace(), Name: found[i].GetName()})
	}
	if !ref.Many && len(names) > 1 {
		names = names[:1]
	}
	return names, nil
}

// named are the names that a reference, or a list of them, has, and their policies.
func named(field any) (names []types.NamespacedName, policies []map[string]string) {
	list, many := field.([]any)
	if !many && field != nil {
		list = []any{field}
	}
	for _, item := range list {
		one, _ := item.(map[string]any)
		name, _ := one["name"].(string)
		namespace, _ := one["namespace"].(string)
		if name != "" {
			names, policies = append(names, types.NamespacedName{Namespace: namespace, Name: name}), append(policies, policyOf(one))
		}
	}
	return names, policies
}

func policyOf(fields map[string]any) map[string]string {
	policy, _, _ := unstructured.NestedStringMap(fields, "policy")
	return policy
}

// empty reports whether a field has no value.
func empty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case string:
		return value == ""
	case []any:
		return len(value) == 0
	}
	return false
}
