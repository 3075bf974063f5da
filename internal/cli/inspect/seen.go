package inspect

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/restmapper"

	"github.com/headgate-dev/headgate/internal/engine"
)

// servedVersions are what a cluster serves, as charts name it.
func servedVersions(groups []*restmapper.APIGroupResources) []string {
	var names []string
	for _, group := range groups {
		for version, resources := range group.VersionedResources {
			gv := schema.GroupVersion{Group: group.Group.Name, Version: version}.String()
			names = append(names, gv)
			for i := range resources {
				names = append(names, gv+"/"+resources[i].Kind)
			}
		}
	}
	return names
}

// ClusterWide reports that a kind of the cluster has no namespaces.
func (d *differ) ClusterWide(gvk schema.GroupVersionKind) (is, known bool) {
	mapping, err := d.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return false, false
	}
	return mapping.Scope.Name() == meta.RESTScopeNameRoot, true
}

// Object is an object of a kind that a dialect has.
func (d *differ) Object(ctx context.Context, id engine.ObjectID) *unstructured.Unstructured {
	u, err := d.client.Resource(d.Known(id.GroupKind()).Resource).Namespace(id.Namespace).Get(ctx, id.Name, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return u
}
