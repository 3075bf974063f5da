package argo

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/configuration"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// TestGateOfProjects asks for what a step of a sync may delete, as the project is at that step.
func TestGateOfProjects(t *testing.T) {
	project := func(destination string) *policy.Project {
		declared := configuration.Permissive()
		declared.Spec.Destinations[0].Namespace = destination
		effective, err := policy.Effective(declared, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return effective
	}
	gone := &v1alpha1.Application{Spec: v1alpha1.ApplicationSpec{Project: "gone"}}
	entry := engine.Entry{ID: engine.ObjectID{Kind: "ConfigMap", Namespace: "team", Name: "x"}, Version: "v1"}
	for name, tc := range map[string]struct {
		reason  string
		project *policy.Project
		want    string
	}{
		"permitted":     {"the destination is the project's", project("team"), ""},
		"not permitted": {"the project was changed since the sync began", project("other"), "namespace team is not permitted in project"},
		"deleted":       {"the project was deleted since the sync began", nil, "Application referencing project gone which does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			g := gate{project: tc.project, unusable: policy.Uses(gone, tc.project, "argocd"), destination: clusterOf{Server: "https://kubernetes.default.svc"}, work: runner.Work{
				Kind: func(schema.GroupVersionKind) (schema.GroupVersionResource, bool, bool) {
					return schema.GroupVersionResource{}, true, true
				},
			}}
			if tc.want == "" {
				if err := g.visible(entry); err != nil {
					t.Errorf("%s: %v", tc.reason, err)
				}
				return
			}
			// Without an applier, anything that is not refused would panic.
			if result := g.remove(t.Context(), entry, metav1.DeletePropagationForeground); result.Err == nil || !strings.Contains(result.Err.Error(), tc.want) || result.Action != engine.Skip {
				t.Errorf("%s: %v, %v", tc.reason, result.Action, result.Err)
			}
		})
	}
}
