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

// TestTexts finds what was applied as texts of a Secret, and makes it the data that it has become.
func TestTexts(t *testing.T) {
	for name, tc := range map[string]struct{ version, fields, want string }{
		"Secret":    {"v1", `{"f:metadata":{"f:labels":{"f:a":{}}},"f:stringData":{".":{},"f:a":{},"f:b":{}},"f:data":{"f:c":{}}}`, `{"f:metadata":{"f:labels":{"f:a":{}}},"f:data":{".":{},"f:a":{},"f:b":{},"f:c":{}}}`},
		"Data":      {"v1", `{"f:data":{"f:a":{}}}`, ""},
		"Key":       {"v1", `{"f:data":{"f:stringData":{}}}`, ""},
		"OtherKind": {"example.com/v1", `{"f:stringData":{"f:a":{}}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := &metav1.ManagedFieldsEntry{APIVersion: tc.version, FieldsV1: &metav1.FieldsV1{Raw: []byte(tc.fields)}}
			if has := HasTexts(e); has != (tc.want != "") {
				t.Fatalf("it has texts: %v", has)
			}
			if tc.want == "" {
				return
			}
			set, want := fieldpath.NewSet(), fieldpath.NewSet()
			for text, into := range map[string]*fieldpath.Set{tc.fields: set, tc.want: want} {
				if err := into.FromJSON(strings.NewReader(text)); err != nil {
					t.Fatal(err)
				}
			}
			if got := WithData(set); !got.Equals(want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}
