package toolkit

import (
	"cmp"
	"slices"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/internal/redaction"
	"github.com/headgate-dev/headgate/internal/runner"
)

// The condition types of Flux.
const (
	ConditionReady       = "Ready"
	ConditionReconciling = "Reconciling"
	ConditionStalled     = "Stalled"
	ConditionHealthy     = "Healthy"
)

// Conditions is a list of conditions as Flux keeps it: Ready first, the rest by name, the time of
// the transition moved by a change of status, reason or message.
type Conditions struct {
	List       []metav1.Condition
	Generation int64
	Now        metav1.Time
}

// Get returns a condition, nil when there is none.
func (c *Conditions) Get(kind string) *metav1.Condition {
	for i := range c.List {
		if c.List[i].Type == kind {
			return &c.List[i]
		}
	}
	return nil
}

// Is reports whether a condition has a status.
func (c *Conditions) Is(kind string, status metav1.ConditionStatus) bool {
	got := c.Get(kind)
	return got != nil && got.Status == status
}

// Set sets a condition; an equal one keeps its time. No message shows the credentials of a URL.
func (c *Conditions) Set(kind string, status metav1.ConditionStatus, reason, message string) {
	message = redaction.Text(message)
	if len(message) > kustomizev1.MaxConditionMessageLength {
		message = message[:kustomizev1.MaxConditionMessageLength-3] + "..."
	}
	next := metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message,
		ObservedGeneration: c.Generation, LastTransitionTime: c.Now,
	}
	if old := c.Get(kind); old != nil {
		if old.Status == status && old.Reason == reason && old.Message == message {
			next.LastTransitionTime = old.LastTransitionTime
		}
		*old = next
		return
	}
	c.List = append(c.List, next)
}

// Drop removes conditions.
func (c *Conditions) Drop(kinds ...string) {
	c.List = slices.DeleteFunc(c.List, func(x metav1.Condition) bool { return slices.Contains(kinds, x.Type) })
}

// Unsettled reports whether a unit that is not ready is still in progress, or stalled until a user changes it.
func (c *Conditions) Unsettled(r runner.Report, stalled, underWay string) {
	if r.Terminal {
		c.Drop(ConditionReconciling)
		c.Set(ConditionStalled, metav1.ConditionTrue, stalled, r.Message)
		return
	}
	c.Drop(ConditionStalled)
	c.Set(ConditionReconciling, metav1.ConditionTrue, underWay, r.Message)
}

// Sorted returns the list in the order of Flux.
func (c *Conditions) Sorted() []metav1.Condition {
	slices.SortFunc(c.List, func(a, b metav1.Condition) int {
		if (a.Type == ConditionReady) != (b.Type == ConditionReady) {
			if a.Type == ConditionReady {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Type, b.Type)
	})
	return c.List
}
