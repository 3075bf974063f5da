package flux

import (
	"cmp"
	"slices"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/internal/runner"
)

// The condition types of Flux.
const (
	conditionReady       = "Ready"
	conditionReconciling = "Reconciling"
	conditionStalled     = "Stalled"
	conditionHealthy     = "Healthy"
)

// conditions is a list of conditions as Flux keeps it: Ready first, the rest by name, the time of
// the transition moved by a change of status, reason or message.
type conditions struct {
	list       []metav1.Condition
	generation int64
	now        metav1.Time
}

func (c *conditions) get(kind string) *metav1.Condition {
	for i := range c.list {
		if c.list[i].Type == kind {
			return &c.list[i]
		}
	}
	return nil
}

func (c *conditions) is(kind string, status metav1.ConditionStatus) bool {
	got := c.get(kind)
	return got != nil && got.Status == status
}

func (c *conditions) set(kind string, status metav1.ConditionStatus, reason, message string) {
	if len(message) > kustomizev1.MaxConditionMessageLength {
		message = message[:kustomizev1.MaxConditionMessageLength-3] + "..."
	}
	next := metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message,
		ObservedGeneration: c.generation, LastTransitionTime: c.now,
	}
	if old := c.get(kind); old != nil {
		if old.Status == status && old.Reason == reason && old.Message == message {
			next.LastTransitionTime = old.LastTransitionTime
		}
		*old = next
		return
	}
	c.list = append(c.list, next)
}

func (c *conditions) drop(kinds ...string) {
	c.list = slices.DeleteFunc(c.list, func(x metav1.Condition) bool { return slices.Contains(kinds, x.Type) })
}

// goesOn reports whether a unit that is not ready is still in progress, or stalled until a user changes it.
func (c *conditions) goesOn(r runner.Report, stalled, underWay string) {
	if r.Terminal {
		c.drop(conditionReconciling)
		c.set(conditionStalled, metav1.ConditionTrue, stalled, r.Message)
		return
	}
	c.drop(conditionStalled)
	c.set(conditionReconciling, metav1.ConditionTrue, underWay, r.Message)
}

// sorted returns the list in the order of Flux.
func (c *conditions) sorted() []metav1.Condition {
	slices.SortFunc(c.list, func(a, b metav1.Condition) int {
		if (a.Type == conditionReady) != (b.Type == conditionReady) {
			if a.Type == conditionReady {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Type, b.Type)
	})
	return c.list
}
