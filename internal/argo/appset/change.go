package appset

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
)

// notifiedAnnotation is what notifications remember themselves by.
const notifiedAnnotation = "notified.notifications.argoproj.io"

// change is what leads from an Application to what was generated, or nil.
func (p *planning) change(ctx context.Context, live, app *unstructured.Unstructured, rules []ignoreRule) (*Change, error) {
	desired := live.DeepCopy()
	desired.Object["spec"] = app.Object["spec"]
	p.metadata(live, app, desired)
	p.own(desired)
	if err := ignore(ctx, p.options.Sandbox, rules, live, desired); err != nil {
		return nil, err
	}
	same, err := equalSpecs(live, desired)
	if err != nil {
		return nil, err
	}
	if same {
		desired.Object["spec"] = live.Object["spec"]
	}
	patch, err := mergePatch(live, desired)
	if err != nil || patch == nil {
		return nil, err
	}
	if !same {
		if same, err = equalSpecs(manual(live), manual(desired)); err != nil {
			return nil, err
		}
	}
	return &Change{Live: live, Desired: desired, Patch: patch, Spec: !same}, nil
}

// manual is an Application without a word on whether automation is switched on.
func manual(app *unstructured.Unstructured) *unstructured.Unstructured {
	spec := copyValue(app.Object["spec"])
	unstructured.RemoveNestedField(map[string]any{"spec": spec}, "spec", "syncPolicy", "automated", "enabled")
	return &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
}

// metadata lays what was generated over what is there.
func (p *planning) metadata(live, app, desired *unstructured.Unstructured) {
	annotations := append([]string{notifiedAnnotation, v1alpha1.RefreshAnnotation, v1alpha1.HydrateAnnotation}, p.options.PreservedAnnotations...)
	labels := slices.Clone(p.options.PreservedLabels)
	if own := p.set.Spec.PreservedFields; own != nil {
		annotations, labels = append(annotations, own.Annotations...), append(labels, own.Labels...)
	}
	desired.SetAnnotations(laid(live.GetAnnotations(), app.GetAnnotations(), annotations, p.written(live, "f:annotations")))
	desired.SetLabels(laid(live.GetLabels(), app.GetLabels(), labels, p.written(live, "f:labels")))
	desired.SetFinalizers(finalizers(live.GetFinalizers(), app.GetFinalizers()))
}

// laid lays labels or annotations over those that are there: what is preserved keeps its value, what the template no
// longer sets goes, and what others set stays.
func laid(live, generated map[string]string, preserved []string, written map[string]bool) map[string]string {
	made := maps.Clone(generated)
	if made == nil {
		made = map[string]string{}
	}
	for key, value := range live {
		_, said := generated[key]
		if slices.Contains(preserved, key) || !said && !written[key] {
			made[key] = value
		}
	}
	if len(made) == 0 {
		return nil
	}
	return made
}

// written are the labels or annotations that only those who write what templates say have set.
func (p *planning) written(live *unstructured.Unstructured, field string) map[string]bool {
	ours, theirs := map[string]bool{}, map[string]bool{}
	for _, entry := range live.GetManagedFields() {
		if entry.FieldsV1 == nil {
			continue
		}
		var fields struct {
			Metadata map[string]map[string]any `json:"f:metadata"`
		}
		if json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) != nil {
			continue
		}
		into := theirs
		if slices.Contains(p.options.Managers, entry.Manager) {
			into = ours
		}
		for key := range fields.Metadata[field] {
			into[strings.TrimPrefix(key, "f:")] = true
		}
	}
	maps.DeleteFunc(ours, func(key string, _ bool) bool { return theirs[key] })
	return ours
}

// finalizers are those that were generated, those of hooks before and after a deletion, and those of strangers.
func finalizers(live, generated []string) []string {
	made := slices.Clone(generated)
	for _, name := range live {
		stranger := !strings.Contains(name, "argocd.argoproj.io")
		hooks := strings.HasPrefix(name, v1alpha1.PreDeleteFinalizer) || strings.HasPrefix(name, v1alpha1.PostDeleteFinalizer)
		if (stranger || hooks) && !slices.Contains(made, name) {
			made = append(made, name)
		}
	}
	if slices.Equal(slices.Sorted(slices.Values(made)), slices.Sorted(slices.Values(live))) {
		return live
	}
	return made
}

// equalSpecs compares what the types of an Application know, but for what is written in more than one way.
func equalSpecs(a, b *unstructured.Unstructured) (bool, error) {
	one, err := normalSpec(a)
	if err != nil {
		return false, err
	}
	other, err := normalSpec(b)
	if err != nil {
		return false, err
	}
	return reflect.DeepEqual(one, other), nil
}

// normalSpec is a spec in which nothing stands that means nothing: no project as the default one, sections of
// options without any option.
func normalSpec(app *unstructured.Unstructured) (map[string]any, error) {
	var typed struct {
		Spec v1alpha1.ApplicationSpec `json:"spec"`
	}
	if err := convert(map[string]any{"spec": app.Object["spec"]}, &typed); err != nil {
		return nil, err
	}
	if typed.Spec.Project == "" {
		typed.Spec.Project = "default"
	}
	spec, err := toMap(typed.Spec)
	if err != nil {
		return nil, err
	}
	dropEmpty(spec, "syncPolicy", "source", "sources")
	if source, ok := spec["source"].(map[string]any); ok {
		dropOptions(source)
	}
	sources, _ := spec["sources"].([]any)
	for _, item := range sources {
		if source, ok := item.(map[string]any); ok {
			dropOptions(source)
		}
	}
	return spec, nil
}

func dropOptions(source map[string]any) {
	if directory, ok := source["directory"].(map[string]any); ok {
		dropEmpty(directory, "jsonnet")
	}
	dropEmpty(source, "directory", "helm", "kustomize")
}

func dropEmpty(fields map[string]any, names ...string) {
	for _, name := range names {
		if empty(fields[name]) {
			delete(fields, name)
		}
	}
}

// mergePatch leads from one form of an Application to another, or is nil when they are the same. It holds no field
// but those that a set may change.
func mergePatch(from, to *unstructured.Unstructured) ([]byte, error) {
	metadata := map[string]any{}
	before, _ := from.Object["metadata"].(map[string]any)
	after, _ := to.Object["metadata"].(map[string]any)
	for _, field := range []string{"labels", "annotations", "finalizers", "ownerReferences"} {
		if value, differs := difference(before[field], after[field]); differs {
			metadata[field] = value
		}
	}
	patch := map[string]any{}
	if len(metadata) > 0 {
		patch["metadata"] = metadata
	}
	if value, differs := difference(from.Object["spec"], to.Object["spec"]); differs {
		patch["spec"] = value
	}
	if len(patch) == 0 {
		return nil, nil
	}
	return json.Marshal(patch)
}

// difference is what a merge patch says of a value: null for one that goes, and lists as a whole.
func difference(from, to any) (any, bool) {
	before, isMap := from.(map[string]any)
	after, stays := to.(map[string]any)
	if !isMap || !stays {
		return to, !reflect.DeepEqual(from, to)
	}
	patch := map[string]any{}
	for key := range before {
		if _, there := after[key]; !there {
			patch[key] = nil
		}
	}
	for key, value := range after {
		if changed, differs := difference(before[key], value); differs {
			patch[key] = changed
		}
	}
	return patch, len(patch) > 0
}
