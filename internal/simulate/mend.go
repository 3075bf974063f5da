package simulate

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// podSpecs are where the kinds of workloads have their pods, above spec.
var podSpecs = map[string][]string{
	"Deployment": {"spec", "template"}, "StatefulSet": {"spec", "template"}, "DaemonSet": {"spec", "template"},
	"ReplicaSet": {"spec", "template"}, "Job": {"spec", "template"}, "CronJob": {"spec", "jobTemplate", "spec", "template"}, "Pod": {},
}

// Mend returns an object of a stand-in with what the API server asks of it, after patches have been laid on it that were
// written for the real one: images of containers that the stand-in does not have, volumes that are mounted, labels
// that are selected. Other objects come back as they are.
func Mend(o *unstructured.Unstructured) *unstructured.Unstructured {
	path, isWorkload := podSpecs[o.GetKind()]
	if group := o.GroupVersionKind().Group; !isWorkload || o.GetLabels()[Label] == "" || group != "" && group != "apps" && group != "batch" {
		return o
	}
	o = o.DeepCopy()
	template := nested(o.Object, path...)
	pod, isMap := template["spec"].(map[string]any)
	if !isMap {
		return o
	}
	mounted := map[string]bool{}
	for _, field := range []string{"containers", "initContainers"} {
		for _, container := range items(pod, field) {
			if container["image"] == nil {
				container["image"] = image
			}
			for _, mount := range items(container, "volumeMounts") {
				if name, _ := mount["name"].(string); name != "" {
					mounted[name] = true
				}
			}
		}
	}
	mendVolumes(pod, mounted)
	if selected := nested(o.Object, "spec", "selector", "matchLabels"); len(selected) > 0 && len(path) > 0 {
		labels := maps.Clone(nested(template, "metadata", "labels"))
		maps.Copy(labels, selected)
		_ = unstructured.SetNestedMap(template, labels, "metadata", "labels")
	}
	return o
}

// named are the fields by which sources of volumes say what they mount.
var named = map[string]string{"configMap": "name", "secret": "secretName", "persistentVolumeClaim": "claimName", "hostPath": "path"}

// mendVolumes has a pod have the volumes that are mounted. One that does not say what it mounts is empty.
func mendVolumes(pod map[string]any, mounted map[string]bool) {
	list, _ := pod["volumes"].([]any)
	for _, volume := range items(pod, "volumes") {
		name, _ := volume["name"].(string)
		delete(mounted, name)
		for kind, field := range named {
			from, there := volume[kind].(map[string]any)
			if there && from[field] == nil {
				delete(volume, kind)
				volume["emptyDir"] = map[string]any{}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(mounted)) {
		list = append(list, map[string]any{"name": name, "emptyDir": map[string]any{}})
	}
	if len(list) > 0 {
		pod["volumes"] = list
	}
}
