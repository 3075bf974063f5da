package trio

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Unit is what declares an object: the Kustomization, the release, the Application, the ResourceSet or the apply set that its marks name, or
// its controller. Objects without marks, which a person applied, are one unit per namespace; those without a namespace are one.
func Unit(u *unstructured.Unstructured) string {
	labels := u.GetLabels()
	for _, by := range []string{"kustomize.toolkit.fluxcd.io", "helm.toolkit.fluxcd.io", "resourceset.fluxcd.controlplane.io"} {
		if name := labels[by+"/name"]; name != "" {
			return by + "/" + labels[by+"/namespace"] + "/" + name
		}
	}
	if id := u.GetAnnotations()["argocd.argoproj.io/tracking-id"]; id != "" {
		app, _, _ := strings.Cut(id, ":")
		return "argocd/" + app
	}
	if app := labels["argocd.argoproj.io/instance"]; app != "" {
		return "argocd/" + app
	}
	if set := labels["applyset.kubernetes.io/part-of"]; set != "" {
		return "applyset/" + set
	}
	for _, owner := range u.GetOwnerReferences() {
		if owner.Controller != nil && *owner.Controller {
			return "owner/" + string(owner.UID)
		}
	}
	return "namespace/" + u.GetNamespace()
}

// InUnit are the objects of the unit of an object.
func InUnit(of *unstructured.Unstructured, all []*unstructured.Unstructured) []*unstructured.Unstructured {
	var same []*unstructured.Unstructured
	for _, u := range all {
		if Unit(u) == Unit(of) {
			same = append(same, u)
		}
	}
	return same
}
