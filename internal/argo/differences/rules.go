package differences

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/patterns"
	"github.com/headgate-dev/headgate/internal/sandbox"
)

// Rules say which fields of which objects may differ. They are not changed, and may be used by several at once.
type Rules struct {
	// box is where expressions are evaluated that are programs.
	box         *sandbox.Client
	all         []rule
	ineffective []string
}

// Ineffective are the JSON pointers that name no field, each with where it is: nothing is ignored by them, as with the upstream.
func (r *Rules) Ineffective() []string { return r.ineffective }

// rule is an item of spec.ignoreDifferences, or what a customization says of a kind.
type rule struct {
	group, kind     patterns.Glob
	namespace, name string
	fields          ObjectRules
}

// ObjectRules say which fields of one object may differ.
type ObjectRules struct {
	pointers    []engine.Pointer
	expressions []expression
	managers    []string
}

// Compile reads spec.ignoreDifferences of an Application and those of the customizations of the settings.
//
// Expressions that are programs are evaluated in box. The error joins what is bad and names each field of it, but for JSON pointers; the rules hold without that. It is meant for a condition of
// the Application: upstream has the comparison fail as a whole, or nothing said at all.
func Compile(box *sandbox.Client, ignore []v1alpha1.ResourceIgnoreDifferences, customizations map[string]settings.Customization) (*Rules, error) {
	rules := &Rules{box: box}
	var errs []error
	for i, item := range ignore {
		errs = append(errs, rules.add(fmt.Sprintf("spec.ignoreDifferences[%d]", i), item))
	}
	for _, key := range slices.Sorted(maps.Keys(customizations)) {
		said := customizations[key].IgnoreDifferences
		group, kind, grouped := strings.Cut(key, "/")
		if !grouped {
			group, kind = "", key
		}
		errs = append(errs, rules.add(fieldOf(key), v1alpha1.ResourceIgnoreDifferences{
			Group: group, Kind: kind, JSONPointers: said.JSONPointers,
			JQPathExpressions: said.JQPathExpressions, ManagedFieldsManagers: said.ManagedFieldsManagers,
		}))
	}
	return rules, errors.Join(errs...)
}

// fieldOf is the key of a customization as users write it.
func fieldOf(key string) string {
	if key == "*/*" {
		return "resource.customizations.ignoreDifferences.all"
	}
	return "resource.customizations.ignoreDifferences." + strings.ReplaceAll(key, "/", "_")
}

func (r *Rules) add(field string, item v1alpha1.ResourceIgnoreDifferences) error {
	var errs []error
	read := rule{namespace: item.Namespace, name: item.Name}
	var err error
	if read.group, err = patterns.NewGlob(item.Group); err != nil {
		return fmt.Errorf("%s.group: %q is not a pattern: %w", field, item.Group, err)
	}
	if read.kind, err = patterns.NewGlob(item.Kind); err != nil {
		return fmt.Errorf("%s.kind: %q is not a pattern: %w", field, item.Kind, err)
	}
	for i, text := range item.JSONPointers {
		pointer, err := engine.ParsePointer(text)
		if err != nil {
			r.ineffective = append(r.ineffective, fmt.Sprintf("%s.jsonPointers[%d]: %s", field, i, err))
			continue
		}
		read.fields.pointers = append(read.fields.pointers, pointer)
	}
	for i, text := range item.JQPathExpressions {
		compiled, err := newExpression(r.box, fmt.Sprintf("%s.jqPathExpressions[%d]", field, i), text)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		read.fields.expressions = append(read.fields.expressions, compiled)
	}
	read.fields.managers = item.ManagedFieldsManagers
	if !read.fields.Empty() {
		r.all = append(r.all, read)
	}
	return errors.Join(errs...)
}

// For are the rules of one object.
func (r *Rules) For(u *unstructured.Unstructured) ObjectRules {
	var mine ObjectRules
	kind := u.GroupVersionKind()
	for _, rule := range r.all {
		if rule.group.Match(kind.Group) && rule.kind.Match(kind.Kind) &&
			(rule.name == "" || rule.name == u.GetName()) && (rule.namespace == "" || rule.namespace == u.GetNamespace()) {
			mine.pointers = append(mine.pointers, rule.fields.pointers...)
			mine.expressions = append(mine.expressions, rule.fields.expressions...)
			mine.managers = append(mine.managers, rule.fields.managers...)
		}
	}
	return mine
}

// Empty is true where there are no rules.
func (r ObjectRules) Empty() bool {
	return len(r.pointers) == 0 && len(r.expressions) == 0 && len(r.managers) == 0
}

// String stands for the rules: two that say the same have the same one.
func (r ObjectRules) String() string {
	text := fmt.Sprint(r.pointers, r.managers)
	for _, e := range r.expressions {
		text += " " + e.text
	}
	return text
}
