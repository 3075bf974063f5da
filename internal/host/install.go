package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
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

// Definitions are those that Install applies for groups. A control plane that begins with them needs no installation: Install leaves alone
// what stands as it applies it.
func Definitions(serve dialect.Groups) ([]*unstructured.Unstructured, error) {
	n, err := needsOf(serve)
	return n.definitions, err
}

// Add applies definitions that no group has. A cluster in which another manager has defined one of the kinds keeps all of them as they are:
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
	if err := mark(definitions); err != nil {
		return false, err
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
	if err != nil {
		return needs{}, err
	}
	return needs{definitions, namespaces}, mark(definitions)
}

// definitionMark is the annotation of a definition with the digest of what was applied.
const definitionMark = "headgate.dev/definition"

// mark marks definitions with their digests.
func mark(definitions []*unstructured.Unstructured) error {
	for _, d := range definitions {
		data, err := json.Marshal(d.Object)
		if err != nil {
			return fmt.Errorf("encoding definition %s: %w", d.GetName(), err)
		}
		sum := sha256.Sum256(data)
		annotations := d.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[definitionMark] = hex.EncodeToString(sum[:16])
		d.SetAnnotations(annotations)
	}
	return nil
}

// stand are the definitions of a cluster that were applied as they are marked, and that no one else has written since, with their marks.
func stand(ctx context.Context, config *rest.Config) (map[string]string, error) {
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	list, err := client.Resource(crdResource).List(ctx, metav1.ListOptions{})
	if apierrors.IsForbidden(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing definitions: %w", err)
	}
	marks := map[string]string{}
	for _, d := range list.Items {
		others := slices.ContainsFunc(d.ManagedFields, func(f metav1.ManagedFieldsEntry) bool {
			// A client that writes as "headgate/..." is called headgate as well.
			return f.Subresource == "" && (f.Manager != Manager || f.Operation != metav1.ManagedFieldsOperationApply)
		})
		if digest, marked := d.Annotations[definitionMark]; marked && !others && d.DeletionTimestamp == nil {
			marks[d.Name] = digest
		}
	}
	return marks, nil
}

// names are those of the definitions.
func (n needs) names() []string {
	names := make([]string, len(n.definitions))
	for i, d := range n.definitions {
		names[i] = d.GetName()
	}
	return names
}

// put applies everything that does not stand already, and returns when the kinds are served.
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
	standing, err := stand(ctx, config)
	if err != nil {
		return err
	}
	// A kind that is watched before it is served comes later than one whose definition is waited for. One that stands is listed as well:
	// a first request that is a watch is refused for a second.
	var all errgroup.Group
	all.SetLimit(installs)
	for _, d := range n.definitions {
		digest, stands := standing[d.GetName()]
		stands = stands && digest == d.GetAnnotations()[definitionMark]
		all.Go(func() error {
			if !stands {
				if err := apply.Put(ctx, client.Resource(crdResource), Manager, d); err != nil {
					return err
				}
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
