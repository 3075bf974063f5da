package simulate

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// labelSecret is the value of Label on a Secret that nothing creates.
const labelSecret = "secret"

// Need is a Secret that something reads, with the values that it has to have.
type Need struct {
	Namespace, Name string
	Values          map[string]string
}

// Secret makes the Secret of a need.
func (n Need) Secret() *unstructured.Unstructured {
	secret := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "data": n.Data()}}
	secret.SetNamespace(n.Namespace)
	secret.SetName(n.Name)
	secret.SetLabels(map[string]string{Label: labelSecret})
	return secret
}

// Data are the values of a need as a Secret has them.
func (n Need) Data() map[string]any {
	data := map[string]any{}
	for key, value := range n.Values {
		data[key] = base64.StdEncoding.EncodeToString([]byte(value))
	}
	return data
}

// Lacks is what a stand-in Secret lacks of a need; nothing for a real one.
func (n Need) Lacks(secret *unstructured.Unstructured) map[string]any {
	if secret.GetLabels()[Label] != labelSecret {
		return nil
	}
	held, lacks := nested(secret.Object, "data"), n.Data()
	maps.DeleteFunc(lacks, func(key string, _ any) bool { return held[key] != nil })
	return lacks
}

// PodOf is a pod as the controller of a workload makes it; nil when the workload asks for none.
func PodOf(workload *unstructured.Unstructured) *unstructured.Unstructured {
	spec := nested(workload.Object, "spec")
	if fmt.Sprint(spec["replicas"]) == "0" || spec["suspend"] == true {
		return nil
	}
	pod := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "spec": nested(spec, "template", "spec")}}
	pod.SetNamespace(workload.GetNamespace())
	return pod
}

// PodNeeds are the Secrets that pods do not start without, each one once, in the order of their names.
func PodNeeds(pods []unstructured.Unstructured) []Need {
	found := map[[2]string]Need{}
	for i := range pods {
		pod := &corev1.Pod{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(pods[i].Object, pod); err != nil {
			continue
		}
		for _, need := range needsOf(pod) {
			at := [2]string{need.Namespace, need.Name}
			if known, there := found[at]; there {
				maps.Copy(need.Values, known.Values)
			}
			found[at] = need
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b Need) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}

// reading gathers the Secrets that one pod reads.
type reading struct {
	namespace string
	needs     []Need
}

// add notes a Secret, unless the pod starts without it.
func (r *reading) add(name string, optional *bool, keys ...string) {
	if name == "" || optional != nil && *optional {
		return
	}
	need := Need{Namespace: r.namespace, Name: name, Values: map[string]string{}}
	for _, key := range keys {
		need.Values[key] = Mark(key)
	}
	r.needs = append(r.needs, need)
}

func needsOf(pod *corev1.Pod) []Need {
	r := reading{namespace: pod.Namespace}
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		for _, e := range c.Env {
			if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
				r.add(e.ValueFrom.SecretKeyRef.Name, e.ValueFrom.SecretKeyRef.Optional, e.ValueFrom.SecretKeyRef.Key)
			}
		}
		for _, from := range c.EnvFrom {
			if from.SecretRef != nil {
				r.add(from.SecretRef.Name, from.SecretRef.Optional)
			}
		}
	}
	for _, v := range pod.Spec.Volumes {
		if v.Secret != nil {
			r.add(v.Secret.SecretName, v.Secret.Optional, keysOf(v.Secret.Items)...)
		}
		if v.Projected == nil {
			continue
		}
		for _, from := range v.Projected.Sources {
			if from.Secret != nil {
				r.add(from.Secret.Name, from.Secret.Optional, keysOf(from.Secret.Items)...)
			}
		}
	}
	return r.needs
}

func keysOf(entries []corev1.KeyToPath) []string {
	keys := make([]string, len(entries))
	for i, e := range entries {
		keys[i] = e.Key
	}
	return keys
}
