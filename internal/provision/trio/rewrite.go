package trio

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/build/v1alpha1"
)

// AnnotationOutputs names, on an Object that wraps a Workflow, the Secrets that its runs write, separated by commas, where no reader of the unit says so.
const AnnotationOutputs = "build.headgate.dev/outputs-of-run"

// Outputs are the Secrets that the runs of an Object write: those that the readers of its unit read in the namespace of the Workflow.
func Outputs(trigger *unstructured.Unstructured, all []*unstructured.Unstructured) []Name {
	namespace := workflowNamespace(trigger)
	var outputs []Name
	add := func(n Name) {
		if n.Namespace == namespace && !slices.Contains(outputs, n) {
			outputs = append(outputs, n)
		}
	}
	for _, name := range split(trigger.GetAnnotations()[AnnotationOutputs]) {
		add(Name{namespace, name})
	}
	if len(outputs) == 0 {
		connections := map[Name]bool{}
		unit := InUnit(trigger, all)
		for _, u := range unit {
			connections[connection(u)] = true
		}
		for _, u := range unit {
			// What a managed resource leaves is no output of a run.
			if r, is := ReaderOf(u); is && !connections[r.Reads] {
				add(r.Reads)
			}
		}
	}
	slices.SortFunc(outputs, func(a, b Name) int { return cmp.Compare(a.Name, b.Name) })
	return outputs
}

func workflowNamespace(trigger *unstructured.Unstructured) string {
	m := &unstructured.Unstructured{Object: Manifest(trigger)}
	return cmp.Or(m.GetNamespace(), trigger.GetNamespace(), "default")
}

// Rewrite is what an Object that wraps a Workflow with generateName declares instead: a Build with the name of the Object. The runs belong to the
// Build, which goes with the Object. The second result is false for any other Object, whose manifest is its own.
//
// Without a Secret that a reader of the unit reads there is one run per content.
func Rewrite(trigger *unstructured.Unstructured, all []*unstructured.Unstructured) (manifest map[string]any, is bool) {
	if !IsRunTemplate(trigger) {
		return nil, false
	}
	m := &unstructured.Unstructured{Object: Manifest(trigger)}
	run, _, _ := unstructured.NestedMap(m.Object, "spec")
	if run == nil {
		run = map[string]any{}
	}
	spec := map[string]any{"workflow": run}
	if account := text(run["serviceAccountName"]); account != "" {
		spec["serviceAccountName"] = account
	}
	var outputs []any
	for _, o := range Outputs(trigger, all) {
		outputs = append(outputs, map[string]any{"secret": map[string]any{"name": o.Name}})
	}
	if len(outputs) > 0 {
		spec["outputs"] = outputs
	}
	build := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": v1alpha1.BuildKind, "spec": spec,
	}}
	build.SetName(buildName(trigger.GetName()))
	build.SetNamespace(workflowNamespace(trigger))
	if labels := m.GetLabels(); len(labels) > 0 {
		build.SetLabels(labels)
	}
	return build.Object, true
}

// longestName is the longest name of a Build, which is the value of labels.
const longestName = 63

// buildName is the name of an Object, shortened with a digest where it is too long.
func buildName(name string) string {
	if len(name) <= longestName {
		return name
	}
	digest := sha256.Sum256([]byte(name))
	return name[:longestName-9] + "-" + hex.EncodeToString(digest[:])[:8]
}
