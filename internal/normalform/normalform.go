// Package normalform is the form in which Flux applies objects: as their Go types write them. What their declaration calls
// stringData is data then, and protocols and empty structures are there that a declaration leaves out.
//
// It drops nothing that a declaration says: an object with a field that its type does not have stays as it is, so that the server
// refuses it by that field, or knows it. It reads no cluster.
package normalform

import (
	"github.com/fluxcd/pkg/ssa/normalize"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// Of returns an object in the form in which it is applied, the object itself when it stays as it is.
func Of(u *unstructured.Unstructured) *unstructured.Unstructured {
	if !known(u) {
		return u
	}
	out := u.DeepCopy()
	if err := normalize.UnstructuredList([]*unstructured.Unstructured{out}); err != nil {
		return u
	}
	withoutNulls(out.Object, u.Object)
	return out
}

// known reports whether an object has no field that its Go type lacks. Kinds without a type, and rules of roles, of which a type
// writes null where there are none, are left as they are.
func known(u *unstructured.Unstructured) bool {
	typed, err := scheme.Scheme.New(u.GroupVersionKind())
	return err != nil || runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(u.Object, typed, true) == nil
}

// withoutNulls drops the nulls that a declaration does not have: a type writes them for required fields, which a declaration of
// a part of an object leaves to others.
func withoutNulls(node, declared any) {
	switch n := node.(type) {
	case map[string]any:
		was, _ := declared.(map[string]any)
		for key, value := range n {
			if _, said := was[key]; value == nil && !said {
				delete(n, key)
				continue
			}
			withoutNulls(value, was[key])
		}
	case []any:
		was, _ := declared.([]any)
		for i, value := range n {
			if i < len(was) {
				withoutNulls(value, was[i])
			}
		}
	}
}
