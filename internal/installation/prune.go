package installation

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
)

// ownOnly selects what an installation made: what a release of Helm or a repository made is theirs.
const ownOnly = dialect.PartOf + "=" + Name + ",app.kubernetes.io/managed-by=" + Name + ",!kustomize.toolkit.fluxcd.io/name"

// Prune deletes the Deployments and Services of an earlier installation that are not among the objects any more,
// as those of a shard that there is no more.
func Prune(ctx context.Context, config *rest.Config, objects []*unstructured.Unstructured, told func(Change)) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	var errs []error
	for _, resource := range []schema.GroupVersionResource{
		{Group: "apps", Version: "v1", Resource: "deployments"}, {Version: "v1", Resource: "services"},
	} {
		list, err := client.Resource(resource).Namespace(toolkit.Namespace).List(ctx, metav1.ListOptions{LabelSelector: ownOnly})
		if err != nil {
			return fmt.Errorf("listing previously installed objects: %w", err)
		}
		for i := range list.Items {
			id := engine.IDOf(&list.Items[i])
			if slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool { return engine.IDOf(o) == id }) {
				continue
			}
			if err := client.Resource(resource).Namespace(id.Namespace).Delete(ctx, id.Name, metav1.DeleteOptions{}); err != nil {
				errs = append(errs, fmt.Errorf("deleting %s: %w", id, err))
				continue
			}
			told(Change{id, "deleted"})
		}
	}
	return errors.Join(errs...)
}
