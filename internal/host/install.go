package host

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/dialect"
)

// Manager is the field manager of what is installed.
const Manager = "headgate"

// Install makes the cluster ready for an Engine: the definitions of the kinds of some groups, and the namespaces that these and
// the engine need. It returns the names of the definitions.
func Install(ctx context.Context, config *rest.Config, serve dialect.Groups) ([]string, error) {
	n, err := needsOf(serve)
	if err != nil {
		return nil, err
	}
	n.namespaces = append([]string{Namespace}, n.namespaces...)
	return n.names(), n.put(ctx, config)
}

// Add applies definitions that no group has. A cluster in which someone else has defined one of the kinds keeps all of them as they are:
// added is not set then.
func Add(ctx context.Context, config *rest.Config, definitions []*unstructured.Unstructured) (added bool, err error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return false, fmt.Errorf("creating a client: %w", err)
	}
	for _, d := range definitions {
		there, err := client.Resource(crdResource).Get(ctx, d.GetName(), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return false, fmt.Errorf("reading definition %s: %w", d.GetName(), err)
		}
		if !slices.ContainsFunc(there.GetManagedFields(), func(f metav1.ManagedFieldsEntry) bool { return f.Manager == Manager }) {
			return false, nil
		}
	}
	return true, needs{definitions: definitions}.put(ctx, config)
}

// needs are what groups need of a cluster.
type needs struct {
	definitions []*unstructured.Unstructured
	namespaces  []string
}

func needsOf(serve dialect.Groups) (needs, error) {
	definitions, namespaces, err := serve.Definitions()
	return needs{definitions, namespaces}, err
}

// names are those of the definitions.
func (n needs) names() []string {
	names := make([]string, len(n.definitions))
	for i, d := range n.definitions {
		names[i] = d.GetName()
	}
	return names
}

// put applies everything, and returns when the kinds are served.
func (n needs) put(ctx context.Context, config *rest.Config) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	for _, name := range n.namespaces {
		if err := putNamespace(ctx, client, name); err != nil {
			return err
		}
	}
	// A kind that is watched before it is served comes later than one whose definition is waited for.
	var all errgroup.Group
	all.SetLimit(installs)
	for _, d := range n.definitions {
		all.Go(func() error {
			if err := apply.Put(ctx, client.Resource(crdResource), Manager, d); err != nil {
				return err
			}
			return served(ctx, client, resourceOf(d))
		})
	}
	return all.Wait()
}

// crdResource is that of definitions.
var crdResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// installs bounds the definitions that are applied at a time.
const installs = 8

// resourceOf is how the objects of a definition are reached, in the version in which they are stored.
func resourceOf(crd *unstructured.Unstructured) schema.GroupVersionResource {
	r := schema.GroupVersionResource{}
	r.Group, _, _ = unstructured.NestedString(crd.Object, "spec", "group")
	r.Resource, _, _ = unstructured.NestedString(crd.Object, "spec", "names", "plural")
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, v := range versions {
		if version, ok := v.(map[string]any); ok && version["storage"] == true {
			r.Version, _ = version["name"].(string)
		}
	}
	return r
}

// putNamespace makes a namespace of an installation. One that is there is left alone: a controller may run in it
// that may not write namespaces.
func putNamespace(ctx context.Context, client dynamic.Interface, name string) error {
	namespaces := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	_, err := namespaces.Get(ctx, name, metav1.GetOptions{})
	if err == nil {
		return nil
	}
	if !apierrors.IsNotFound(err) {
		return fmt.Errorf("reading namespace %s: %w", name, err)
	}
	return apply.Put(ctx, namespaces, Manager, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name},
	}})
}

// served waits until a resource can be listed.
func served(ctx context.Context, client dynamic.Interface, r schema.GroupVersionResource) error {
	ctx, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		_, err := client.Resource(r).List(ctx, metav1.ListOptions{Limit: 1})
		if err == nil || apierrors.IsForbidden(err) {
			return nil
		}
		if !apierrors.IsNotFound(err) && !apierrors.IsServiceUnavailable(err) && ctx.Err() == nil {
			return fmt.Errorf("waiting for %s to be served: %w", r.Resource, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s to be served: %w", r.Resource, context.Cause(ctx))
		case <-tick.C:
		}
	}
}
