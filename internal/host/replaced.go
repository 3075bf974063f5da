package flux

import (
	"slices"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// PartOf is the label that says what an object is a part of: an installation of Flux, or of Headgate.
const PartOf = "app.kubernetes.io/part-of"

// replacedObject tells which objects of a repository are left as they are: the Deployments of the
// controllers, and the definitions of the kinds that are served here.
func replacedObject(serve Groups, log logr.Logger) func(*unstructured.Unstructured) string {
	definitions, err := Definitions(serve)
	if err != nil {
		log.Error(err, "the definitions of the served kinds cannot be read")
	}
	served := make(map[string]bool, len(definitions))
	for _, d := range definitions {
		served[d.GetName()] = true
	}
	return func(o *unstructured.Unstructured) string {
		_, ours := serve.servedBy(o.GetName())
		switch kind := o.GroupVersionKind().GroupKind(); {
		case kind.Group == "apps" && kind.Kind == "Deployment" && o.GetLabels()[PartOf] == "flux" && ours:
			return "Headgate serves in its place"
		case serve.serves(argoGroup) && argoWorkload(kind, o):
			return "Headgate serves in its place"
		case kind.Group == "apiextensions.k8s.io" && kind.Kind == "CustomResourceDefinition" && served[o.GetName()]:
			return "it is Headgate's own"
		default:
			return ""
		}
	}
}

// argoWorkload tells whether an object is one of the processes of an installation of Argo CD, or prepares for one.
func argoWorkload(kind schema.GroupKind, o *unstructured.Unstructured) bool {
	if o.GetLabels()[PartOf] != "argocd" {
		return false
	}
	return slices.Contains([]schema.GroupKind{
		{Group: "apps", Kind: "Deployment"}, {Group: "apps", Kind: "StatefulSet"}, {Group: "batch", Kind: "Job"},
	}, kind)
}
