package installation

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
)

// Shards are the label selectors of what the Deployments of an installation serve, empty for one that serves
// everything; each has a lease of its own.
func Shards(ctx context.Context, client kubernetes.Interface) ([]string, error) {
	list, err := client.AppsV1().Deployments(toolkit.Namespace).List(ctx, metav1.ListOptions{LabelSelector: dialect.PartOf + "=" + Name})
	if err != nil {
		return nil, fmt.Errorf("reading the controller: %w", err)
	}
	var shards []string
	for i := range list.Items {
		shards = append(shards, shardOf(&list.Items[i]))
	}
	return shards, nil
}
