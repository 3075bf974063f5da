package argo

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/engine"
)

// TestResumable reads from the status what a killed process left: which hooks have succeeded, in the attempt that goes on.
func TestResumable(t *testing.T) {
	source := &v1alpha1.ApplicationSource{RepoURL: "https://git.example/repo", Path: "."}
	hook := func(name, phase string, came v1alpha1.OperationPhase) v1alpha1.ResourceResult {
		return v1alpha1.ResourceResult{Group: "batch", Kind: "Job", Namespace: "a", Name: name, HookType: phase, HookPhase: came}
	}
	pre := operation.Hooked{ID: engine.ObjectID{Group: "batch", Kind: "Job", Namespace: "a", Name: "pre", Cluster: "far"}, Phase: operation.PreSync}
	for name, tc := range map[string]struct {
		reason string
		change func(state *v1alpha1.OperationState)
		want   map[operation.Hooked]bool
	}{
		"succeeded":     {"what succeeded does not run again; what runs or failed does, and objects are written again", func(*v1alpha1.OperationState) {}, map[operation.Hooked]bool{pre: true}},
		"failed before": {"an attempt that failed starts over", func(s *v1alpha1.OperationState) { s.FinishedAt = &metav1.Time{Time: time.Unix(1000, 0)} }, nil},
		"other source":  {"hooks of other sources are other hooks", func(s *v1alpha1.OperationState) { s.SyncResult.Source.Path = "other" }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			state := &v1alpha1.OperationState{Phase: v1alpha1.OperationRunning, SyncResult: &v1alpha1.SyncOperationResult{
				Revision: "abc", Source: source.DeepCopy(), Resources: []v1alpha1.ResourceResult{
					hook("pre", "PreSync", v1alpha1.OperationSucceeded), hook("running", "PreSync", v1alpha1.OperationRunning),
					hook("failed", "PreSync", v1alpha1.OperationFailed), hook("object", "", v1alpha1.OperationSucceeded),
				},
			}}
			tc.change(state)
			obj := application("1")
			obj.Status.OperationState = state
			left := resumable(obj, "abc", &state.Operation)
			if left == nil {
				t.Fatal("nothing goes on")
			}
			got := succeeded(resultsBefore(left.SyncResult, &v1alpha1.SyncOperationResult{Revision: "abc", Source: source}), "far")
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s, -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}
