package console

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/dynamic"
)

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// Unserved reports whether the server said that it does not serve a resource, in contrast to that it has no object of a name.
func Unserved(err error) bool {
	return apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// inVersion reaches the objects of a kind by the version that commands know, and where the cluster does not serve that by the newest one that it serves:
// an older or a newer controller was installed there.
type inVersion struct {
	dynamic.ResourceInterface
	all       dynamic.Interface
	kind      Served
	namespace string
}

// Get reads an object.
func (v inVersion) Get(ctx context.Context, name string, o metav1.GetOptions, sub ...string) (u *unstructured.Unstructured, err error) {
	err = v.try(ctx, func(in dynamic.ResourceInterface) (err error) {
		u, err = in.Get(ctx, name, o, sub...)
		return err
	})
	return u, err
}

// List lists objects.
func (v inVersion) List(ctx context.Context, o metav1.ListOptions) (list *unstructured.UnstructuredList, err error) {
	err = v.try(ctx, func(in dynamic.ResourceInterface) (err error) {
		list, err = in.List(ctx, o)
		return err
	})
	return list, err
}

// Patch changes an object.
func (v inVersion) Patch(ctx context.Context, name string, kind types.PatchType, data []byte, o metav1.PatchOptions, sub ...string) (u *unstructured.Unstructured, err error) {
	err = v.try(ctx, func(in dynamic.ResourceInterface) (err error) {
		u, err = in.Patch(ctx, name, kind, data, o, sub...)
		return err
	})
	return u, err
}

// try makes a request, and once more by another version where the cluster does not serve the first.
func (v inVersion) try(ctx context.Context, request func(dynamic.ResourceInterface) error) error {
	err := request(v.ResourceInterface)
	if !Unserved(err) {
		return err
	}
	other, is := v.kind.otherVersion(ctx, v.all)
	if !is {
		return err
	}
	return request(other.at(v.all, v.namespace))
}

// otherVersion is the kind by the newest version that the cluster serves, by its definition; stable versions come before others.
func (s Served) otherVersion(ctx context.Context, c dynamic.Interface) (Served, bool) {
	crd, err := c.Resource(definitions).Get(ctx, s.Resource.GroupResource().String(), metav1.GetOptions{})
	if err != nil {
		return s, false
	}
	list, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	var names []string
	for _, item := range list {
		v, _ := item.(map[string]any)
		if name, _ := v["name"].(string); v["served"] == true && name != s.Resource.Version {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return s, false
	}
	s.Resource.Version = slices.MaxFunc(names, version.CompareKubeAwareVersionStrings)
	return s, true
}
