package commands

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
)

func TestUnfinished(t *testing.T) {
	promotion := func(namespace, name, stage string, phase v1alpha1.PromotionPhase) v1alpha1.Promotion {
		return v1alpha1.Promotion{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: v1alpha1.PromotionSpec{Stage: stage},
			Status: v1alpha1.PromotionStatus{Phase: phase},
		}
	}
	all := []v1alpha1.Promotion{
		promotion("shop", "dev.1", "dev", v1alpha1.PromotionSucceeded),
		promotion("other", "dev.0", "dev", v1alpha1.PromotionRunning),
		promotion("shop", "dev.3", "dev", ""),
		promotion("shop", "dev.2", "dev", v1alpha1.PromotionPending),
		promotion("shop", "prod.1", "prod", v1alpha1.PromotionFailed),
	}
	for name, c := range map[string]struct{ reason, stage, current, want string }{
		"Waiting": {"without one in progress, it is the first that waits", "dev", "", "dev.2"},
		"Current": {"the one in progress comes before those that wait", "dev", "dev.3", "dev.3"},
		"Ended":   {"a status that is late names one that has ended", "dev", "dev.1", "dev.2"},
		"None":    {"all of the Stage have ended", "prod", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			stage := &v1alpha1.Stage{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: c.stage}}
			if c.current != "" {
				stage.Status.CurrentPromotion = &v1alpha1.PromotionReference{Name: c.current}
			}
			if got := unfinished(stage, all); got != c.want {
				t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
			}
		})
	}
}
