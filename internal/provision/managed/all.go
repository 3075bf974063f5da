package managed

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// All reads the objects of several kinds in all namespaces, and follows the kinds for a reader. There are none of a kind that is not served.
func (e *Edges) All(ctx context.Context, reader Key, kinds []schema.GroupVersionKind) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	for _, gvk := range kinds {
		if _, served := e.cluster.Kinds.Lookup(gvk); !served {
			continue
		}
		list, err := e.List(ctx, reader, gvk, "", "")
		if err != nil {
			return nil, err
		}
		for i := range list {
			all = append(all, &list[i])
		}
	}
	return all, nil
}
