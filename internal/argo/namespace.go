package argo

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// managedMetadata is what an Application wants the namespace of its destination to carry, nil for nothing.
func managedMetadata(obj *v1alpha1.Application) *v1alpha1.ManagedNamespaceMetadata {
	if obj.Spec.SyncPolicy == nil {
		return nil
	}
	return obj.Spec.SyncPolicy.ManagedNamespaceMetadata
}

// asksFor reports whether an object is the namespace of the destination and the Application wants it to be there: it is not
// pruned then, whether it is declared or not.
func asksFor(obj *v1alpha1.Application, id engine.ObjectID) bool {
	is := id.Kind == "Namespace" && id.Group == "" && id.Name == obj.Spec.Destination.Namespace
	return is && (managedMetadata(obj) != nil || policy.OptionsOf(obj, nil).CreateNamespace)
}

// managedNamespace is the namespace of the destination, where the operation makes it.
func managedNamespace(obj *v1alpha1.Application, w runner.Work, c *comparison, o policy.Options) *unstructured.Unstructured {
	name := obj.Spec.Destination.Namespace
	id := engine.ObjectID{Kind: "Namespace", Name: name, Cluster: c.cluster}
	if !o.CreateNamespace || name == "" || c.find(id) != nil {
		return nil
	}
	metadata := managedMetadata(obj)
	if _, there := w.Cluster.Objects.Get(id); there && metadata == nil {
		return nil
	}
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
	u.SetName(name)
	if metadata != nil {
		u.SetLabels(metadata.Labels)
		u.SetAnnotations(metadata.Annotations)
	}
	return u
}
