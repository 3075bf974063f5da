package dialect

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// PartOf is the label that says what an object is a part of: an installation of an upstream, or of Headgate.
const PartOf = "app.kubernetes.io/part-of"

// Replaced knows the objects of a repository that are left as they are where groups are served.
type Replaced struct {
	definitions map[string]bool
	upstreams   []ServedUpstream
}

// Replaced are the workloads of the upstreams' controllers, and the definitions of the kinds that are served.
func (g Groups) Replaced() (Replaced, error) {
	definitions, _, err := g.Definitions()
	if err != nil {
		return Replaced{}, err
	}
	names := make([]string, len(definitions))
	for i, d := range definitions {
		names[i] = d.GetName()
	}
	return g.Replacing(names), nil
}

// Replacing is Replaced for definitions whose names are known.
func (g Groups) Replacing(definitions []string) Replaced {
	r := Replaced{definitions: make(map[string]bool, len(definitions)), upstreams: g.Upstreams()}
	for _, name := range definitions {
		r.definitions[name] = true
	}
	return r
}

// Why says why an object is left as it is; it is empty for most.
func (r Replaced) Why(o *unstructured.Unstructured) string {
	gk := o.GroupVersionKind().GroupKind()
	if gk == (schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}) && r.definitions[o.GetName()] {
		return "it belongs to Headgate"
	}
	for _, u := range r.upstreams {
		if u.replaces(gk, o) {
			return "Headgate serves instead"
		}
	}
	return ""
}

// replaces reports whether an object is one of the processes of an installation whose groups are served, or prepares for one.
func (u ServedUpstream) replaces(gk schema.GroupKind, o *unstructured.Unstructured) bool {
	if o.GetLabels()[PartOf] != u.PartOf {
		return false
	}
	if slices.Contains(u.Replaced, gk) {
		return true
	}
	_, serves := u.Serve.ServedBy(o.GetName())
	return serves && gk.Group == "apps" && slices.Contains(u.Kinds, gk.Kind)
}
