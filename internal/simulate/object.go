package simulate

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Digest is how a registry names data.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Object makes an object that a unit waits for and nothing creates: a workload that runs nothing, or a
// custom resource without a spec. It is nil for kinds that mean nothing on their own.
func Object(gvk schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetGroupVersionKind(gvk)
	o.SetNamespace(namespace)
	o.SetName(name)
	o.SetLabels(map[string]string{Label: "object"})
	switch {
	case gvk.Group == "apps":
		o.Object["spec"] = workload(gvk.Kind, name)
	case gvk.Group == "" && (gvk.Kind == "ConfigMap" || gvk.Kind == "Secret" || gvk.Kind == "Namespace" || gvk.Kind == "ServiceAccount"):
	case builtin[gvk.Group]:
		return nil
	default:
		o.Object["spec"] = map[string]any{}
	}
	return o
}

func workload(kind, name string) map[string]any {
	labels := map[string]any{Label: name}
	spec := map[string]any{
		"selector": map[string]any{"matchLabels": labels},
		"template": map[string]any{
			"metadata": map[string]any{"labels": labels},
			"spec":     placeholder("simulated", "simulated"),
		},
	}
	if kind == "StatefulSet" {
		spec["serviceName"] = name
	}
	return spec
}

// KindOf is the kind that a CustomResourceDefinition of a name defines: by the table of well-known kinds, and
// else guessed.
func KindOf(crd string) (schema.GroupKind, bool) {
	plural, group, ok := strings.Cut(crd, ".")
	if !ok {
		return schema.GroupKind{}, false
	}
	for fields := range kindsIn(group) {
		if fields[1] == plural {
			return schema.GroupKind{Group: group, Kind: fields[0]}, true
		}
	}
	singular := strings.TrimSuffix(plural, "s")
	if stem, cut := strings.CutSuffix(plural, "ies"); cut {
		singular = stem + "y"
	}
	return schema.GroupKind{Group: group, Kind: strings.ToUpper(singular[:1]) + singular[1:]}, true
}

// absent is how the API server and this engine say that a namespace does not exist.
var absent = regexp.MustCompile(`namespaces? "([^"]+)" (?:not found|does not exist)`)

// NamespacesLacking are the namespaces that a message says are missing, each once.
func NamespacesLacking(message string) []string {
	var names []string
	for _, found := range absent.FindAllStringSubmatch(message, -1) {
		if !slices.Contains(names, found[1]) {
			names = append(names, found[1])
		}
	}
	return names
}

// Volume makes the volume that a claim names, reserved for it.
func Volume(claim *unstructured.Unstructured) *unstructured.Unstructured {
	asked, name := nested(claim.Object, "spec"), ""
	name, _ = asked["volumeName"].(string)
	spec := map[string]any{
		"capacity": nested(asked, "resources", "requests"), "accessModes": asked["accessModes"],
		"persistentVolumeReclaimPolicy": "Retain", "hostPath": map[string]any{"path": "/simulated/" + name},
		"claimRef": map[string]any{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": claim.GetNamespace(), "name": claim.GetName()},
	}
	for _, field := range []string{"storageClassName", "volumeMode"} {
		if value, has := asked[field]; has {
			spec[field] = value
		}
	}
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "PersistentVolume", "spec": spec}}
	o.SetName(name)
	o.SetLabels(map[string]string{Label: "object"})
	return o
}

// StorageClass makes a class whose volumes are there at once, and go with their claims.
func StorageClass(name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "provisioner": "headgate.dev/simulated",
		"volumeBindingMode": "Immediate", "reclaimPolicy": "Delete", "allowVolumeExpansion": true,
	}}
	o.SetName(name)
	o.SetLabels(map[string]string{Label: "object"})
	return o
}
