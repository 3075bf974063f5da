package console

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/engine"
)

// reached is how objects of a kind of the cluster are reached.
type reached struct {
	schema.GroupVersionResource
	namespaced bool
}

// There reports whether the chosen cluster has an object that is neither a unit nor a source, held by a unit or not.
func (g *Globals) There(ctx context.Context, c dynamic.Interface, s Sought) (bool, error) {
	config, err := g.RestConfig()
	if err != nil {
		return false, err
	}
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return false, fmt.Errorf("creating a client: %w", err)
	}
	lists, err := discovery.ServerPreferredResources(client)
	kinds := meant(lists, s.Kind)
	if len(kinds) == 0 && err != nil {
		return false, Unreachable(fmt.Errorf("discovering the kinds of the cluster: %w", err))
	}
	if len(kinds) == 0 {
		return false, fmt.Errorf("the cluster serves no kind %q", s.Kind)
	}
	named := metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", s.Name).String()}
	for _, k := range kinds {
		var in dynamic.ResourceInterface = c.Resource(k.GroupVersionResource)
		if k.namespaced && !s.Anywhere {
			in = c.Resource(k.GroupVersionResource).Namespace(s.Namespace)
		}
		list, err := in.List(ctx, named)
		switch {
		case apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err):
		case err != nil:
			return false, Unreachable(fmt.Errorf("listing %s: %w", k.Resource, err))
		case len(list.Items) > 0:
			return true, nil
		}
	}
	return false, nil
}

// meant are the kinds that a word means.
func meant(lists []*metav1.APIResourceList, word string) []reached {
	var kinds []reached
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		for _, r := range list.APIResources {
			if strings.Contains(r.Name, "/") || !means(word, engine.ObjectID{Group: gv.Group, Kind: r.Kind}) {
				continue
			}
			kinds = append(kinds, reached{gv.WithResource(r.Name), r.Namespaced})
		}
	}
	return kinds
}
