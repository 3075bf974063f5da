package plan

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/build/v1alpha1"
)

// The reasons of conditions.
const (
	reasonSucceeded = "BuildSucceeded"
	reasonBuilding  = "Building"
	reasonWaiting   = "WaitingForInputs"
	reasonRetrying  = "ProgressingWithRetry"
	// reasonUnreadable is that of a Build whose outputs or runs cannot be read, reasonRefused of one for which an action was refused.
	reasonUnreadable = "Unreadable"
	reasonRefused    = "ActionRefused"
)

// conditions says how the Build stands.
func (p *pass) conditions() {
	active := p.status.Active != nil
	reason, message := p.stalledBy()
	switch {
	case reason != "":
		p.set(v1alpha1.ConditionStalled, true, reason, message)
		p.set(v1alpha1.ConditionReady, false, reason, message+p.outputsStay())
		meta.RemoveStatusCondition(&p.status.Conditions, v1alpha1.ConditionReconciling)
	case p.current && !active:
		p.set(v1alpha1.ConditionReady, true, reasonSucceeded, p.success())
		meta.RemoveStatusCondition(&p.status.Conditions, v1alpha1.ConditionReconciling)
		meta.RemoveStatusCondition(&p.status.Conditions, v1alpha1.ConditionStalled)
	default:
		reason, message = p.moving()
		p.set(v1alpha1.ConditionReconciling, true, reason, message)
		p.set(v1alpha1.ConditionReady, false, reason, message+p.outputsStay())
		meta.RemoveStatusCondition(&p.status.Conditions, v1alpha1.ConditionStalled)
	}
	if active {
		p.set(v1alpha1.ConditionBuilding, true, reasonBuilding, p.doing)
		return
	}
	p.set(v1alpha1.ConditionBuilding, false, "NoActiveRun", "no run is active")
}

// moving says what is being done, or waited for.
func (p *pass) moving() (reason, message string) {
	f := p.status.LastFailure
	switch {
	case p.facts.Problem != "" && len(p.actions) > 0:
		return reasonRefused, p.facts.Problem
	case p.status.Active != nil:
		return reasonBuilding, p.doing
	case p.facts.Missing != "":
		return reasonWaiting, p.facts.Missing
	case f != nil && p.status.NextAttemptTime != nil:
		return reasonRetrying, fmt.Sprintf("run %s failed, which was attempt %d of %d: %s: %s", f.Run, p.status.Failures, p.limit()+1, f.Reason, f.Message)
	}
	return reasonBuilding, "a run is about to be created"
}

// outputsStay says what consumers have meanwhile.
func (p *pass) outputsStay() string {
	last := p.status.LastSuccess
	if last == nil || len(last.Outputs) == 0 {
		return ""
	}
	for _, o := range last.Outputs {
		if _, exists := p.facts.Secrets[o.Secret]; !exists {
			return ""
		}
	}
	return "; the outputs of run " + last.Run + " stay until then"
}

// success names what was built.
func (p *pass) success() string {
	last := p.status.LastSuccess
	var parts []string
	for _, o := range last.Outputs {
		parts = append(parts, "Secret "+o.Secret)
	}
	if last.Image != nil {
		parts = append(parts, fmt.Sprintf("image %s (%s)", last.Image.ID, last.Image.Name))
	}
	if len(parts) == 0 {
		return fmt.Sprintf("run %s succeeded for digest %s", last.Run, Short(last.Digest))
	}
	return fmt.Sprintf("%s: of run %s for digest %s", strings.Join(parts, ", "), last.Run, Short(last.Digest))
}

func (p *pass) set(kind string, is bool, reason, message string) {
	status := metav1.ConditionFalse
	if is {
		status = metav1.ConditionTrue
	}
	meta.SetStatusCondition(&p.status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: p.build.Generation, LastTransitionTime: p.seconds(),
	})
}
