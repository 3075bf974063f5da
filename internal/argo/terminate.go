package argo

import (
	"context"
	"time"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/runner"
)

// halted is how a sync ends whose Application is deleted.
const halted = policy.Terminated + ": the application is being deleted"

// halt terminates the sync of a deleted Application: its hooks that run are deleted, nothing is retried, and its
// requests are withdrawn.
func (d *driver) halt(ctx context.Context, a *app, w runner.Work) {
	if a.job.op == nil {
		a.halt(time.Now())
		return
	}
	d.stop(ctx, a, w, halted)
}

// halt has the status say that the sync of a process that has ended is over, as well as one that waits to be retried.
func (a *app) halt(now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	v := &a.view
	if a.obj.Operation != nil {
		v.handled = encoded(a.obj.Operation)
	}
	v.retry = nil
	a.closeOperation(now, halted)
}

// overtaken is how a sync ends whose revision is not that of now, and in whose place none begins.
func (a *app) overtaken() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.view.overtaken()
}

func (v *view) overtaken() string {
	if v.sync.Status == v1alpha1.SyncStatusCodeOutOfSync && v.why != "" {
		return "superseded: the newer revision is not synced yet: " + v.why
	}
	return "superseded: the newer revision needs no sync"
}

// overtake has the status say that no sync goes on any more, where one waited to be retried.
func (a *app) overtake(now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closeOperation(now, a.view.overtaken())
}

// closeOperation ends the operation that the status says is running, without success. The caller holds the lock.
func (a *app) closeOperation(now time.Time, why string) {
	v := &a.view
	state := v.operation
	if state == nil {
		state = a.obj.Status.OperationState
	}
	if state == nil || state.Phase != v1alpha1.OperationRunning && state.Phase != v1alpha1.OperationTerminating {
		return
	}
	ended := state.DeepCopy()
	ended.Phase, ended.Message, ended.FinishedAt = v1alpha1.OperationFailed, why, since(now)
	v.operation, v.waits = ended, nil
}

// endRetry ends a sync that waits to be retried and is terminated. The caller holds the lock.
func (a *app) endRetry(now time.Time) {
	v := &a.view
	if v.retry == nil || !a.terminating() {
		return
	}
	a.answer(v.retry.Operation)
	v.retry = nil
	a.closeOperation(now, policy.Terminated)
}

// ends reports why an operation has to end before its time, and whether it is terminated: that is for good.
func (d *driver) ends(a *app, op *running) (why string, terminated bool) {
	s := a.snapshot()
	if state := s.obj.Status.OperationState; state != nil && state.Phase == v1alpha1.OperationTerminating && state.StartedAt.Equal(&op.state.StartedAt) {
		return policy.Terminated, true
	}
	if timeout := d.settings.Now().Controller.SyncTimeout; timeout > 0 && time.Since(op.state.StartedAt.Time) > timeout {
		return policy.Terminated + ": it took longer than controller.sync.timeout.seconds, " + timeout.String(), true
	}
	windows, err := s.windows(time.Now())
	if err == nil && !windows.CanGoOn(!op.request.InitiatedBy.Automated, op.state.StartedAt.Time) {
		return windows.Why, false
	}
	return "", false
}

// terminating reports whether termination of the running operation is requested. The caller holds the lock.
func (a *app) terminating() bool {
	now, asked := a.view.operation, a.obj.Status.OperationState
	return now.Phase == v1alpha1.OperationRunning && asked != nil && asked.Phase == v1alpha1.OperationTerminating && asked.StartedAt.Equal(&now.StartedAt)
}
