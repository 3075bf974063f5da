package simulate

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// The kinds of objects that are read for their values.
const (
	SecretKind    = "Secret"
	ConfigMapKind = "ConfigMap"
)

// Need is a Secret or a ConfigMap that something reads, with the values that it has to have.
type Need struct {
	Kind, Namespace, Name string
	Values                map[string]string
}

// label is the value of Label on what nothing creates.
func (n Need) label() string { return strings.ToLower(n.Kind) }

// Object makes the object of a need.
func (n Need) Object() *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": n.Kind, "data": n.Data()}}
	o.SetNamespace(n.Namespace)
	o.SetName(n.Name)
	o.SetLabels(map[string]string{Label: n.label()})
	return o
}

// Data are the values of a need as its kind has them.
func (n Need) Data() map[string]any {
	data := map[string]any{}
	for key, value := range n.Values {
		if n.Kind == SecretKind {
			value = base64.StdEncoding.EncodeToString([]byte(value))
		}
		data[key] = value
	}
	return data
}

// Lacks is what a stand-in lacks of a need; nothing for a real object.
func (n Need) Lacks(o *unstructured.Unstructured) map[string]any {
	if o.GetLabels()[Label] != n.label() {
		return nil
	}
	held, lacks := nested(o.Object, "data"), n.Data()
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

// PodNeeds are the Secrets and ConfigMaps that pods do not start without, each one once, in the order of their names.
func PodNeeds(pods []unstructured.Unstructured) []Need {
	found := map[[3]string]Need{}
	for i := range pods {
		pod := &corev1.Pod{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(pods[i].Object, pod); err != nil {
			continue
		}
		for _, need := range needsOf(pod) {
			at := [3]string{need.Kind, need.Namespace, need.Name}
			if known, there := found[at]; there {
				maps.Copy(need.Values, known.Values)
			}
			found[at] = need
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b Need) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
	})
}

// reading gathers what one pod reads.
type reading struct {
	namespace string
	needs     []Need
}

// add notes an object, unless the pod starts without it.
func (r *reading) add(kind, name string, optional *bool, keys ...string) {
	if name == "" || optional != nil && *optional {
		return
	}
	need := Need{Kind: kind, Namespace: r.namespace, Name: name, Values: map[string]string{}}
	for _, key := range keys {
		need.Values[key] = Mark(key)
	}
	r.needs = append(r.needs, need)
}

func needsOf(pod *corev1.Pod) []Need {
	r := reading{namespace: pod.Namespace}
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		r.environment(c.Env, c.EnvFrom)
	}
	for _, v := range pod.Spec.Volumes {
		if v.Secret != nil {
			r.add(SecretKind, v.Secret.SecretName, v.Secret.Optional, keysOf(v.Secret.Items)...)
		}
		if v.ConfigMap != nil {
			r.add(ConfigMapKind, v.ConfigMap.Name, v.ConfigMap.Optional, keysOf(v.ConfigMap.Items)...)
		}
		if v.Projected == nil {
			continue
		}
		for _, from := range v.Projected.Sources {
			if from.Secret != nil {
				r.add(SecretKind, from.Secret.Name, from.Secret.Optional, keysOf(from.Secret.Items)...)
			}
			if from.ConfigMap != nil {
				r.add(ConfigMapKind, from.ConfigMap.Name, from.ConfigMap.Optional, keysOf(from.ConfigMap.Items)...)
			}
		}
	}
	return r.needs
}

// environment notes what the variables of a container are read from.
func (r *reading) environment(variables []corev1.EnvVar, sources []corev1.EnvFromSource) {
	for _, e := range variables {
		if e.ValueFrom == nil {
			continue
		}
		if from := e.ValueFrom.SecretKeyRef; from != nil {
			r.add(SecretKind, from.Name, from.Optional, from.Key)
		}
		if from := e.ValueFrom.ConfigMapKeyRef; from != nil {
			r.add(ConfigMapKind, from.Name, from.Optional, from.Key)
		}
	}
	for _, from := range sources {
		if from.SecretRef != nil {
			r.add(SecretKind, from.SecretRef.Name, from.SecretRef.Optional)
		}
		if from.ConfigMapRef != nil {
			r.add(ConfigMapKind, from.ConfigMapRef.Name, from.ConfigMapRef.Optional)
		}
	}
}

func keysOf(entries []corev1.KeyToPath) []string {
	keys := make([]string, len(entries))
	for i, e := range entries {
		keys[i] = e.Key
	}
	return keys
}
