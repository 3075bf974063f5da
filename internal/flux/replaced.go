package flux

import (
	"slices"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/deploy"
)

// partOf is the label of what an installation of Flux is made of.
const partOf = "app.kubernetes.io/part-of"

// controllers are those of Flux, and what installs them. None of them is started beside this engine.
var controllers = append([]string{
	"flux-operator", "notification-controller", "image-reflector-controller", "image-automation-controller",
}, upstreamControllers...)

// replacedObject tells which objects of a repository are left as they are: the Deployments of the
// controllers, and the definitions of the kinds that are served here.
func replacedObject(log logr.Logger) func(*unstructured.Unstructured) string {
	definitions, err := deploy.CRDs()
	if err != nil {
		log.Error(err, "the definitions of the served kinds cannot be read")
	}
	served := make(map[string]bool, len(definitions))
	for _, d := range definitions {
		served[d.GetName()] = true
	}
	return func(o *unstructured.Unstructured) string {
		switch kind := o.GroupVersionKind().GroupKind(); {
		case kind.Group == "apps" && kind.Kind == "Deployment" && o.GetLabels()[partOf] == "flux" && slices.Contains(controllers, o.GetName()):
			return "Headgate serves in its place"
		case kind.Group == "apiextensions.k8s.io" && kind.Kind == "CustomResourceDefinition" && served[o.GetName()]:
			return "it is Headgate's own"
		default:
			return ""
		}
	}
}
