// Package installation puts Headgate into a cluster and looks whether it is well there: the chart that the
// binary carries is rendered, applied object by object, and waited for.
//
// It writes what is Headgate's own, and nothing that a repository declares.
package installation

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/deploy"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/helm"
)

// Name is that of the release, of the Deployment and of the ServiceAccount.
const Name = "headgate"

// manager is the field manager of what is installed.
const manager = "headgate"

// Options say what is installed.
type Options struct {
	// Serve are the API groups that the controller serves.
	Serve dialect.Groups
	// Values are those of the chart, beside what the other options say; a later one goes over an earlier one.
	Values []helm.Layer
	// WithoutDefinitions leaves out the definitions of the served kinds: the controller applies them too.
	WithoutDefinitions bool
	// Embedded is set for a cluster within a process, which is served by that process: there is no controller to
	// look for.
	Embedded bool
}

// Objects are what an installation consists of, in the order in which they are applied. They are made without
// a cluster. Values that the chart does not know are errors that name them.
func Objects(ctx context.Context, o Options) ([]*unstructured.Unstructured, error) {
	packed, err := deploy.Chart()
	if err != nil {
		return nil, err
	}
	chart, err := helm.LoadChart(packed)
	if err != nil {
		return nil, err
	}
	values, err := o.values()
	if err != nil {
		return nil, err
	}
	rendered, err := helm.Template(ctx, helm.TemplateOptions{
		Common:      helm.Common{Name: Name, Namespace: toolkit.Namespace, Chart: chart, Values: values, CRDs: helm.SkipCRDs},
		KubeVersion: "v1.36.0", ClusterWide: clusterWide,
	})
	if err != nil {
		return nil, err
	}
	objects := []*unstructured.Unstructured{namespace()}
	if !o.WithoutDefinitions {
		definitions, _, err := o.Serve.Definitions()
		if err != nil {
			return nil, err
		}
		objects = append(objects, definitions...)
	}
	for _, object := range rendered.Objects {
		ownMark(object)
		objects = append(objects, object)
	}
	return objects, nil
}

// values are those of the chart. What is served decides on more than the chart, and is no value of it here.
func (o Options) values() (helm.Values, error) {
	given, err := helm.Compose(nil, o.Values...)
	if err != nil {
		return given, err
	}
	if _, is := given.Map()["serve"]; is {
		return given, errors.New("set the value serve of the chart by --serve")
	}
	return helm.Compose(map[string]any{"serve": anys(o.Serve.Names())}, o.Values...)
}

// ownMark takes off what says that Helm holds an object: no release is recorded.
func ownMark(o *unstructured.Unstructured) {
	annotations, labels := o.GetAnnotations(), o.GetLabels()
	delete(annotations, "meta.helm.sh/release-name")
	delete(annotations, "meta.helm.sh/release-namespace")
	if len(annotations) == 0 {
		annotations = nil
	}
	if labels == nil {
		labels = map[string]string{}
	}
	labels["app.kubernetes.io/managed-by"] = Name
	o.SetAnnotations(annotations)
	o.SetLabels(labels)
}

func namespace() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": toolkit.Namespace},
	}}
}

// clusterWide knows the kinds of the chart that have no namespace.
func clusterWide(gvk schema.GroupVersionKind) bool {
	return slices.Contains([]string{"ClusterRole", "ClusterRoleBinding", "Namespace", "CustomResourceDefinition"}, gvk.Kind)
}

func anys(texts []string) []any {
	out := make([]any, 0, len(texts))
	for _, t := range texts {
		out = append(out, t)
	}
	return out
}

// ErrUnhealthy is returned when what was installed does not become ready.
var ErrUnhealthy = errors.New("the controller did not become ready")
