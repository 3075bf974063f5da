package takeover

import (
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/internal/flux/toolkit"
)

func TestWatermark(t *testing.T) {
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	made, written := metav1.NewTime(noon), metav1.NewTime(noon.Add(time.Minute))
	fresh := &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: made}}
	done := fresh.DeepCopy()
	done.ManagedFields = []metav1.ManagedFieldsEntry{{Subresource: "status", Time: &written}, {Time: &made}}
	open := done.DeepCopy()
	open.Status.Conditions = []metav1.Condition{{Type: toolkit.ConditionReconciling, Status: metav1.ConditionTrue, Reason: "Progressing"}}
	cases := map[string]struct {
		reason  string
		ks      *kustomizev1.Kustomization
		applied time.Time
		want    bool
	}{
		"before the unit":    {"what is older than the unit belonged to another of its name", fresh, noon.Add(-time.Second), false},
		"with the unit":      {"a unit may apply in the second in which it is made", fresh, noon, true},
		"before the status":  {"what was applied before the status was written is in it", done, noon.Add(59 * time.Second), false},
		"with the status":    {"in doubt it was let go", done, written.Time, false},
		"after the status":   {"what was applied after it may be missing", done, written.Add(time.Second), true},
		"with an open pass":  {"a pass that was under way had just begun to apply", open, written.Time, true},
		"before an open one": {"what it had planned is in the status", open, noon, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := watermarkOf(c.ks).before(c.applied); got != c.want {
				t.Errorf("%s: got %v", c.reason, got)
			}
		})
	}
}
