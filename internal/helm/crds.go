package helm

import (
	"context"
	"fmt"
	"maps"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
)

// CRDPolicy says what becomes of the directory crds of a chart. Nothing ever deletes what came from
// there.
type CRDPolicy string

// The policies. The zero value is CreateCRDs, as it is in Flux for installs and for upgrades.
const (
	SkipCRDs          CRDPolicy = "Skip"
	CreateCRDs        CRDPolicy = "Create"
	CreateReplaceCRDs CRDPolicy = "CreateReplace"
)

const (
	// crdTimeout bounds the wait until the API server serves a new kind.
	crdTimeout = time.Minute
	crdPoll    = 50 * time.Millisecond
)

var crdResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// applyCRDs does what the policy says, and waits until new kinds are served. It reports whether it
// wrote anything.
func (c *Client) applyCRDs(ctx context.Context, o Common, ssa bool) (bool, error) {
	if o.CRDs == SkipCRDs {
		return false, nil
	}
	chart, err := o.Chart.load()
	if err != nil {
		return false, err
	}
	client := c.connection.dynamic.Resource(crdResource)
	var written []string
	for _, crd := range chart.CRDObjects() {
		objects, err := parse(string(crd.File.Data))
		if err != nil {
			return false, fmt.Errorf("reading %s of chart %s: %w", crd.Filename, o.Chart.Name(), err)
		}
		for _, object := range objects {
			object.SetLabels(merged(object.GetLabels(), o.PostRender.Labels))
			object.SetAnnotations(merged(object.GetAnnotations(), o.PostRender.Annotations))
			wrote, err := writeCRD(ctx, client, object, o.CRDs, ssa)
			if err != nil {
				return false, fmt.Errorf("applying CustomResourceDefinition %q: %w", object.GetName(), err)
			}
			if wrote {
				written = append(written, object.GetName())
			}
		}
	}
	for _, name := range written {
		if err := established(ctx, client, name); err != nil {
			return true, fmt.Errorf("waiting until CustomResourceDefinition %q is established: %w", name, err)
		}
	}
	return len(written) > 0, nil
}

// writeCRD writes one CRD, and reports whether it did.
func writeCRD(ctx context.Context, client dynamic.ResourceInterface, crd *unstructured.Unstructured, policy CRDPolicy, ssa bool) (bool, error) {
	live, err := client.Get(ctx, crd.GetName(), metav1.GetOptions{})
	exists := err == nil
	switch {
	case err != nil && !apierrors.IsNotFound(err):
		return false, err
	case exists && policy != CreateReplaceCRDs:
		return false, nil
	case ssa:
		_, err = client.Apply(ctx, crd.GetName(), crd, metav1.ApplyOptions{FieldManager: FieldManager, Force: true})
	case exists:
		crd.SetResourceVersion(live.GetResourceVersion())
		_, err = client.Update(ctx, crd, metav1.UpdateOptions{FieldManager: FieldManager})
	default:
		_, err = client.Create(ctx, crd, metav1.CreateOptions{FieldManager: FieldManager})
	}
	return err == nil, err
}

func established(ctx context.Context, client dynamic.ResourceInterface, name string) error {
	return wait.PollUntilContextTimeout(ctx, crdPoll, crdTimeout, true, func(ctx context.Context) (bool, error) {
		crd, err := client.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		// Right after the creation the conditions are null.
		found, _, _ := unstructured.NestedFieldNoCopy(crd.Object, "status", "conditions")
		conditions, _ := found.([]any)
		for _, c := range conditions {
			if is, ok := c.(map[string]any); ok && is["type"] == "Established" && is["status"] == "True" {
				return true, nil
			}
		}
		return false, nil
	})
}

// merged are labels or annotations with more of them.
func merged(have, more map[string]string) map[string]string {
	if len(more) == 0 {
		return have
	}
	out := maps.Clone(have)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, more)
	return out
}
