// Package resourceset makes objects from templates and sets of inputs, as ResourceSets declare them.
//
// It takes values and returns values: who provides inputs, and what becomes of the objects, is known
// elsewhere. The functions that templates may use give the same for the same inputs: they know no clock, no
// environment and no chance.
package resourceset

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Declared is what a ResourceSet declares.
type Declared struct {
	// Namespace is that of objects that name none.
	Namespace string
	// Templates come in their order: of two that make the same object, the first one counts.
	Templates []Template
	// Inputs are the sets for each of which the templates are rendered once.
	Inputs []Input
	// Labels and Annotations are set on every object.
	Labels, Annotations map[string]string
}

// Template is the text of one or of several YAML documents.
type Template struct {
	// Name is what errors call it, such as spec.resources[0].
	Name, Text string
}

// Input is one set of values.
type Input struct {
	Values map[string]any
	// From is what errors call it.
	From string
}

// annotations that leave an object out of what is made.
const (
	reconcileAnnotation = "fluxcd.controlplane.io/reconcile"
	disabled            = "disabled"
)

// Render makes the objects, each once.
func Render(d Declared) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	seen := map[identity]bool{}
	for _, t := range d.Templates {
		parsed, err := parse(t)
		if err != nil {
			return nil, err
		}
		for _, in := range d.Inputs {
			made, err := parsed.render(in)
			if err != nil {
				return nil, err
			}
			for _, o := range made {
				d.finish(o)
				if id := identityOf(o); !seen[id] {
					seen[id] = true
					objects = append(objects, o)
				}
			}
		}
	}
	return wanted(objects), nil
}

// identity distinguishes objects.
type identity struct{ apiVersion, kind, namespace, name string }

func identityOf(o *unstructured.Unstructured) identity {
	return identity{o.GetAPIVersion(), o.GetKind(), o.GetNamespace(), o.GetName()}
}

// finish lays on an object what is common to all.
func (d Declared) finish(o *unstructured.Unstructured) {
	if o.GetNamespace() == "" {
		o.SetNamespace(d.Namespace)
	}
	if labels := merged(o.GetLabels(), d.Labels); len(labels) > 0 {
		o.SetLabels(labels)
	}
	if annotations := merged(o.GetAnnotations(), d.Annotations); len(annotations) > 0 {
		o.SetAnnotations(annotations)
	}
}

func merged(own, common map[string]string) map[string]string {
	all := make(map[string]string, len(own)+len(common))
	for _, m := range []map[string]string{own, common} {
		for k, v := range m {
			all[k] = v
		}
	}
	return all
}

// wanted are the objects without those that say that they are left out.
func wanted(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	left := objects[:0]
	for _, o := range objects {
		if o.GetAnnotations()[reconcileAnnotation] != disabled {
			left = append(left, o)
		}
	}
	return left
}

// check reports what an object lacks.
func check(o *unstructured.Unstructured) error {
	switch {
	case o.GetAPIVersion() == "":
		return fmt.Errorf("the object has no apiVersion")
	case o.GetKind() == "":
		return fmt.Errorf("the object has no kind")
	case o.GetName() == "":
		return fmt.Errorf("the %s has no metadata.name", o.GetKind())
	default:
		return nil
	}
}
