package helm

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/engine"
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
	// crdTimeout bounds the wait until the API server lists a new kind.
	crdTimeout = time.Minute
	crdPoll    = 50 * time.Millisecond
)

var crdResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// applyCRDs does what the policy says, and returns the kinds that it wrote, as charts name them:
// "group/version/Kind".
func (c *Client) applyCRDs(ctx context.Context, o Common, ssa bool) ([]string, error) {
	if o.CRDs == SkipCRDs {
		return nil, nil
	}
	chart, err := o.Chart.load()
	if err != nil {
		return nil, err
	}
	crds, err := chartCRDs(chart, o.PostRender)
	if err != nil {
		return nil, err
	}
	client := c.connection.dynamic.Resource(crdResource)
	var kinds []string
	for _, crd := range crds {
		wrote, err := writeCRD(ctx, client, crd, o.CRDs, ssa)
		if err != nil {
			return nil, fmt.Errorf("applying CustomResourceDefinition %q: %w", crd.GetName(), err)
		}
		if wrote {
			kinds = append(kinds, kindsOf(crd)...)
		}
	}
	return kinds, nil
}

// chartCRDs are what is in the directory crds of a chart, marked as its other objects are.
func chartCRDs(chart *chartv2.Chart, p PostRender) ([]*unstructured.Unstructured, error) {
	var crds []*unstructured.Unstructured
	for _, crd := range chart.CRDObjects() {
		objects, err := parse(string(crd.File.Data))
		if err != nil {
			return nil, fmt.Errorf("reading %s of chart %s: %w", crd.Filename, chart.Name(), err)
		}
		for _, object := range objects {
			if err := engine.Strings(object.Object); err != nil {
				return nil, fmt.Errorf("reading %s of chart %s: %w", crd.Filename, chart.Name(), err)
			}
			object.SetLabels(merged(object.GetLabels(), p.Labels))
			object.SetAnnotations(merged(object.GetAnnotations(), p.Annotations))
			crds = append(crds, object)
		}
	}
	return crds, nil
}

// kindsOf are the kinds that a CRD has served.
func kindsOf(crd *unstructured.Unstructured) []string {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	var kinds []string
	for _, v := range versions {
		if version, ok := v.(map[string]any); ok && version["served"] == true {
			kinds = append(kinds, fmt.Sprintf("%s/%s/%s", group, version["name"], kind))
		}
	}
	return kinds
}

// serving waits until the cluster serves kinds, and returns what it serves. A CRD that is established
// is not listed yet, and charts read the list.
func (c *Client) serving(ctx context.Context, kinds []string) (*common.Capabilities, error) {
	var caps *common.Capabilities
	err := wait.PollUntilContextTimeout(ctx, crdPoll, crdTimeout, true, func(context.Context) (bool, error) {
		c.connection.forget()
		var err error
		if caps, err = c.connection.capabilities(); err != nil {
			return false, err
		}
		for _, kind := range kinds {
			if !caps.APIVersions.Has(kind) {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		return nil, fmt.Errorf("waiting until the cluster serves %s: %w", strings.Join(kinds, ", "), err)
	}
	return caps, nil
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
