package builtin

import (
	"errors"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/cluster/v1alpha1"
	"github.com/headgate-dev/headgate/internal/virtual/plan"
)

// Namespaces are those of the host whose Secrets a VirtualCluster maps, in order.
func Namespaces(vc *unstructured.Unstructured) []string {
	byName, _, _ := unstructured.NestedStringMap(vc.Object, "spec", "secretMappings")
	mappings, _ := plan.Mappings(byName, vc.GetNamespace())
	var all []string
	for _, m := range mappings {
		all = append(all, m.Host.Namespace)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Object is the VirtualCluster that serves a release of the chart in this process. Argo CD knows it by the name of its namespace. ignored
// are the paths of values without effect; the error joins every value that cannot be served.
func Object(release, namespace string, values map[string]any) (vc *unstructured.Unstructured, ignored []string, err error) {
	read, refusals := Read(values)
	errs := make([]error, len(refusals))
	for i, r := range refusals {
		errs[i] = r
	}
	if err := errors.Join(errs...); err != nil {
		return nil, nil, err
	}
	spec := map[string]any{"clusterSecret": map[string]any{}}
	if len(read.ByName) > 0 {
		mapped := map[string]any{}
		for _, from := range slices.Sorted(maps.Keys(read.ByName)) {
			mapped[from] = read.ByName[from]
		}
		spec["secretMappings"] = mapped
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": v1alpha1.VirtualClusterKind,
		"metadata": map[string]any{"name": release, "namespace": namespace}, "spec": spec,
	}}, read.Ignored, nil
}
