package apply

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestLackedBy separates an object that is not found, to which another one refers, from a kind that is not found.
func TestLackedBy(t *testing.T) {
	role := schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "roles"}
	binding := schema.GroupResource{Group: role.Group, Resource: "rolebindings"}
	bound := map[string]any{"roleRef": map[string]any{"apiGroup": role.Group, "kind": "Role", "name": "r"}}
	for name, tc := range map[string]struct {
		reason string
		object map[string]any
		err    error
		want   string
	}{
		"binding":  {"the server names the binding where its Role is missing", bound, apierrors.NewNotFound(binding, "x"), `Role "r"`},
		"role":     {"the server names the Role", bound, apierrors.NewNotFound(role, "y"), `roles.rbac.authorization.k8s.io "y"`},
		"itself":   {"the object itself went", nil, apierrors.NewNotFound(binding, "x"), ""},
		"kind":     {"the kind is not served", bound, apierrors.NewGenericServerResponse(404, "PATCH", binding, "x", "404 page not found", 0, true), ""},
		"no name":  {"the server says no more", bound, apierrors.NewNotFound(schema.GroupResource{}, ""), ""},
		"conflict": {"it is there", bound, apierrors.NewConflict(binding, "x", nil), ""},
	} {
		if got := lackedBy(&unstructured.Unstructured{Object: tc.object}, "rolebindings", tc.err); got != tc.want {
			t.Errorf("%s: %s: got %q", name, tc.reason, got)
		}
	}
	if !Transient(&ObjectError{Err: &lacking{"it", apierrors.NewNotFound(role, "y")}}) {
		t.Error("what is missing may come: it is retried soon")
	}
}
