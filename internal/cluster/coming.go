package cluster

import (
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// definition is what the watch has brought of a CRD.
type definition struct {
	kind     schema.GroupKind
	versions []string
	// seen is its resource version.
	seen uint64
	// coming is set until it is established, unless its names are refused.
	coming bool
}

// note notes what a CRD says. The caller holds the lock.
func (k *Kinds) note(crd *unstructured.Unstructured, gk schema.GroupKind) {
	d := definition{kind: gk, coming: !established(crd) && crd.GetDeletionTimestamp() == nil}
	d.seen, _ = strconv.ParseUint(crd.GetResourceVersion(), 10, 64)
	for version := range crdVersions(crd, gk.Group) {
		d.versions = append(d.versions, version)
	}
	conditions, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
	for _, c := range conditions {
		condition, _ := c.(map[string]any)
		d.coming = d.coming && (condition["type"] != "NamesAccepted" || condition["status"] != "False")
	}
	k.definitions[crd.GetName()] = d
}

// Coming reports whether a kind is defined and about to be served.
func (k *Kinds) Coming(gvk schema.GroupVersionKind) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	for _, d := range k.definitions {
		if d.coming && d.kind == gvk.GroupKind() && slices.Contains(d.versions, gvk.Version) {
			return true
		}
	}
	return false
}

// Heard reports whether the watch has brought a CRD, by its name, as it is in a resource version or later.
func (k *Kinds) Heard(name string, version uint64) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	d, known := k.definitions[name]
	return known && d.seen >= version
}
