package conformance

import (
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/externalsecrets"
	"github.com/headgate-dev/headgate/chart/waves"
)

// wave is the annotation of a sync wave.
func wave(n string) map[string]string { return map[string]string{waves.Annotation: n} }

// resources are requests and limits of a container.
func resources(requestCPU, requestMemory, limitCPU, limitMemory string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(requestCPU), corev1.ResourceMemory: resource.MustParse(requestMemory)},
		Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(limitCPU), corev1.ResourceMemory: resource.MustParse(limitMemory)},
	}
}

// claim is a claim for a volume that one node writes.
func claim(name, storage string) corev1.PersistentVolumeClaim {
	return corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(storage)}},
		},
	}
}

// replace writes a value as it stands: what the Go type would leave out (a zero) or write in another way (1000m as 1).
func replace(o *chart.Object, path string, value any) {
	o.Patch(chart.JSONPatch{{Op: "replace", Path: path, Value: value}})
}

// loose is a value as an object without types.
func loose(value any) map[string]any {
	data, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	var object map[string]any
	if json.Unmarshal(data, &object) != nil {
		return nil
	}
	return object
}

func to[T any](value T) *T { return &value }

// secret puts an ExternalSecret of the usual store below scope. Its wave and its labels are patched, as the original does it: they come
// after its name, and in the order in which they were written.
func secret(scope chart.Scope, id string, props externalsecrets.Props, wave string, labels ...string) *chart.Object {
	if props.Store.Name == "" {
		props.Store = externalsecrets.ClusterStore("azure-keyvault-store")
	}
	if props.Refresh == "" {
		props.Refresh = "1h"
	}
	props.CreationPolicy = "Owner"
	o := externalsecrets.ExternalSecret(scope, id, props).Object
	patchMap(o, "labels", labels...)
	if wave != "" {
		patchMap(o, "annotations", waves.Annotation, wave)
	}
	return o
}

func patchMap(o *chart.Object, field string, pairs ...string) {
	if len(pairs) == 0 {
		return
	}
	o.Patch(chart.JSONPatch{{Op: "add", Path: "/metadata/" + field, Value: map[string]any{}}})
	for i := 0; i < len(pairs); i += 2 {
		o.Patch(chart.JSONPatch{{Op: "add", Path: "/metadata/" + field + "/" + escape(pairs[i]), Value: pairs[i+1]}})
	}
}

// escape is a key in a JSON pointer.
func escape(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}

// fetched is a key by its name in the store.
func fetched(name, remote string) externalsecrets.Key {
	return externalsecrets.Key{Name: name, Remote: remote}
}

// properties are keys that are parts of one secret of the store, under the same names.
func properties(remote string, names ...string) []externalsecrets.Key {
	var all []externalsecrets.Key
	for _, name := range names {
		all = append(all, externalsecrets.Key{Name: name, Remote: remote, Property: name})
	}
	return all
}

// echo is a template with each key under its own name.
func echo(keys []externalsecrets.Key) map[string]string {
	data := map[string]string{}
	for _, key := range keys {
		data[key.Name] = "{{ ." + key.Name + " }}"
	}
	return data
}
