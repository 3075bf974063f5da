package cluster

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// TestStrayFields takes over what kubectl wrote by hand, and leaves it the time of a restart.
func TestStrayFields(t *testing.T) {
	const restarted = `"f:spec":{"f:template":{"f:metadata":{"f:annotations":{".":{},"f:kubectl.kubernetes.io/restartedAt":{}}}}}`
	for name, tc := range map[string]struct {
		manager, subresource, fields string
		taken, kept                  string
	}{
		"Edit":     {"kubectl-edit", "", `{"f:spec":{"f:replicas":{}}}`, "spec.replicas", ""},
		"Restart":  {"kubectl-rollout", "", "{" + restarted + "}", "", "restartedAt"},
		"Pause":    {"kubectl-rollout", "", `{"f:spec":{"f:paused":{}}}`, "spec.paused", ""},
		"Template": {"kubectl-edit", "", `{"f:spec":{"f:template":{"f:metadata":{"f:annotations":{"f:x":{}}}}}}`, "annotations.x", ""},
		"Another":  {"keda", "", `{"f:spec":{"f:replicas":{}}}`, "", ""},
		"Scale":    {"kubectl", "scale", `{"f:spec":{"f:replicas":{}}}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := &metav1.ManagedFieldsEntry{Manager: tc.manager, Subresource: tc.subresource, FieldsV1: &metav1.FieldsV1{Raw: []byte(tc.fields)}}
			taken, kept, err := StrayFields(e, "kustomize.toolkit.fluxcd.io")
			if err != nil {
				t.Fatal(err)
			}
			for what, got := range map[string]struct {
				set  *fieldpath.Set
				want string
			}{"taken": {taken, tc.taken}, "kept": {kept, tc.kept}} {
				if (got.set != nil) != (got.want != "") || got.set != nil && !strings.Contains(got.set.String(), got.want) {
					t.Errorf("%s is %v, want %q", what, got.set, got.want)
				}
			}
		})
	}
}
