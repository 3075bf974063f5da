package schema

import (
	"fmt"
	"slices"
	"strings"
)

// mapAt is a part of an object, or nil: what has another type was reported already.
func mapAt(fields map[string]any, keys ...string) map[string]any {
	for _, key := range keys {
		fields, _ = fields[key].(map[string]any)
	}
	return fields
}

// listAt is a list in a part of an object, or nil.
func listAt(fields map[string]any, key string) []any {
	list, _ := fields[key].([]any)
	return list
}

// together validates fields of a kind of Kubernetes that have to fit one another.
func (w *walk) together(apiVersion, kindName string, object map[string]any) {
	spec := mapAt(object, "spec")
	switch apiVersion + " " + kindName {
	case "v1 Pod":
		w.pod(spec, nil, "spec")
	case "apps/v1 Deployment", "apps/v1 ReplicaSet", "apps/v1 StatefulSet", "apps/v1 DaemonSet":
		w.selects(spec)
		w.pod(mapAt(spec, "template", "spec"), spec, "spec", "template", "spec")
		w.restarts(mapAt(spec, "template", "spec"), []string{"Always", ""}, "spec", "template", "spec")
	case "batch/v1 Job":
		w.pod(mapAt(spec, "template", "spec"), nil, "spec", "template", "spec")
		w.restarts(mapAt(spec, "template", "spec"), []string{"Never", "OnFailure"}, "spec", "template", "spec")
	case "batch/v1 CronJob":
		path, pod := []any{"spec", "jobTemplate", "spec", "template", "spec"}, mapAt(spec, "jobTemplate", "spec", "template", "spec")
		w.pod(pod, nil, path...)
		w.restarts(pod, []string{"Never", "OnFailure"}, path...)
	case "v1 Service":
		if len(listAt(spec, "ports")) == 0 && spec["type"] != "ExternalName" && spec["clusterIP"] != "None" {
			w.errorAt([]any{"spec", "ports"}, RuleRequired, "is missing: a Service has a port, unless it is headless or of type ExternalName")
		}
	}
}

// selects reports a selector that does not select the pods of the template beside it.
func (w *walk) selects(spec map[string]any) {
	if selector := mapAt(spec, "selector"); selector != nil && len(mapAt(selector, "matchLabels")) == 0 && len(listAt(selector, "matchExpressions")) == 0 {
		w.errorAt([]any{"spec", "selector"}, RuleSelector, "is empty: write a label of spec.template.metadata.labels to matchLabels")
	}
	labels := mapAt(spec, "template", "metadata", "labels")
	for key, want := range mapAt(spec, "selector", "matchLabels") {
		if got, ok := labels[key]; (!ok || got != want) && mapAt(spec, "template") != nil {
			w.errorAt([]any{"spec", "selector", "matchLabels", key}, RuleSelector, "selects other pods than those of spec.template.metadata.labels: write the same label there")
		}
	}
}

// restarts reports a policy that the kind does not have.
func (w *walk) restarts(pod map[string]any, allowed []string, path ...any) {
	policy, _ := pod["restartPolicy"].(string)
	if pod != nil && !slices.Contains(allowed, policy) && !w.unrendered(policy) {
		w.errorAt(append(slices.Clone(path), "restartPolicy"), RuleEnum, "is %q, must be %s in this kind", policy, either(len(allowed) == 2 && allowed[1] != "", "Never or OnFailure", "Always"))
	}
}

// pod reports mounts of volumes that the pod does not have; a claim of a StatefulSet is a volume of its pods.
func (w *walk) pod(pod, set map[string]any, path ...any) {
	var volumes []string
	for _, one := range listAt(pod, "volumes") {
		fields, _ := one.(map[string]any)
		volumes = append(volumes, fmt.Sprint(fields["name"]))
	}
	for _, one := range listAt(set, "volumeClaimTemplates") {
		fields, _ := one.(map[string]any)
		volumes = append(volumes, fmt.Sprint(mapAt(fields, "metadata")["name"]))
	}
	for _, group := range []string{"initContainers", "containers"} {
		for i, one := range listAt(pod, group) {
			container, _ := one.(map[string]any)
			w.mounts(container, volumes, append(slices.Clone(path), group, i)...)
		}
	}
}

func (w *walk) mounts(container map[string]any, volumes []string, path ...any) {
	for i, one := range listAt(container, "volumeMounts") {
		mount, _ := one.(map[string]any)
		name, _ := mount["name"].(string)
		if name != "" && !slices.Contains(volumes, name) && !w.unrendered(name) {
			w.errorAt(append(slices.Clone(path), "volumeMounts", i, "name"), RuleReference, "the pod has no volume %q%s", name, either(len(volumes) > 0, "; it has "+strings.Join(volumes, ", "), ""))
		}
	}
}

// errorAt adds a finding about a field of the object: names and indexes lead to it.
func (w *walk) errorAt(path []any, rule, format string, args ...any) {
	for _, one := range path {
		switch key := one.(type) {
		case string:
			w.into(key)
		case int:
			w.intoItem(key)
		}
	}
	w.errorf(rule, format, args...)
	w.steps = w.steps[:len(w.steps)-len(path)]
}
