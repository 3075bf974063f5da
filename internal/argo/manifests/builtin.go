package manifests

import (
	"cmp"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
)

// BuiltIn makes what serves a release of a chart in this process, of its values. ignored are the paths of values without effect. It is a
// function of its arguments, and its errors show no values.
type BuiltIn func(release, namespace string, values map[string]any) (object *unstructured.Unstructured, ignored []string, err error)

// nothing are the files of a chart that is not there.
type nothing struct{}

// File finds none.
func (nothing) File(string) (data []byte, found bool, err error) { return nil, false, nil }

// Dir finds none.
func (nothing) Dir(string) (names []string, found bool, err error) { return nil, false, nil }

// builtIn makes what stands for a chart: the same values are read as for the chart, but for files in it.
func (j *job) builtIn() ([]*unstructured.Unstructured, error) {
	kind, err := j.stated()
	switch {
	case err != nil:
		return nil, err
	case !j.request.Options.Helm.Enabled:
		return nil, fieldError("chart", "helm.enable of argocd-cm is false, and the source is a chart")
	case kind != "" && kind != v1alpha1.ApplicationSourceTypeHelm:
		return nil, fieldError("chart", "it is a chart, but the source configures %s; remove that", kind)
	case j.spec.Helm == nil:
		j.spec.Helm = &v1alpha1.ApplicationSourceHelm{}
	}
	values, err := j.values(nothing{})
	if err != nil {
		return nil, err
	}
	release, namespace := cmp.Or(j.spec.Helm.ReleaseName, j.request.App.Name), cmp.Or(j.spec.Helm.Namespace, j.request.App.Namespace, defaultNamespace)
	object, ignored, err := j.source.BuiltIn(release, namespace, values.Map())
	if err != nil {
		return nil, fieldError("helm", "%w", err)
	}
	for _, path := range ignored {
		j.problem("helm", "value %s: without effect in this process", path)
	}
	j.builtIns = append(j.builtIns, object)
	return []*unstructured.Unstructured{object}, nil
}
