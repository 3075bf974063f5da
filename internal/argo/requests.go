package argo

import (
	"encoding/json"
	"strings"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
)

// operationOf is the requested sync.
func operationOf(obj *v1alpha1.Application) *v1alpha1.SyncOperation {
	if obj.Operation == nil {
		return nil
	}
	return obj.Operation.Sync
}

// unbegun reports whether a requested sync has not started. It is one of what the repositories have when it starts,
// not of what they had when they were last fetched. The caller holds the lock.
func (a *app) unbegun() bool {
	op := a.obj.Operation
	if op == nil || op.Sync == nil {
		return false
	}
	running := a.view.operation
	if running == nil {
		// One that a killed process left has begun.
		running = a.obj.Status.OperationState
	}
	return a.view.handled != encoded(op) && (running == nil || running.Phase != v1alpha1.OperationRunning)
}

// unpinned reports whether a requested sync is retried, and is to take what its sources have then instead of
// the revisions that it names: its strategy says refresh. The caller holds the lock.
func (a *app) unpinned() bool {
	op, state := a.obj.Operation, a.view.operation
	if state == nil {
		state = a.obj.Status.OperationState
	}
	return op != nil && op.Retry.Refresh && state != nil && state.Phase == v1alpha1.OperationRunning && state.RetryCount > 0 &&
		sameRequest(state.Operation, *op)
}

// sameRequest reports whether two requests are the same one, before and after it was planned, unpinned, or taken to another revision.
func sameRequest(a, b v1alpha1.Operation) bool { return encoded(canonical(a)) == encoded(canonical(b)) }

// canonical is a request without what changes while it is carried out.
func canonical(request v1alpha1.Operation) *v1alpha1.Operation {
	out := unpin(request)
	if out.Sync == nil {
		out.Sync = &v1alpha1.SyncOperation{}
	}
	if out.InitiatedBy.Automated {
		out.Sync.Revision = ""
	}
	return out
}

// answer notes that a request was carried out, if it is the one in force. The caller holds the lock.
func (a *app) answer(request v1alpha1.Operation) {
	if a.obj.Operation != nil && sameRequest(request, *a.obj.Operation) {
		a.view.handled = encoded(a.obj.Operation)
	}
}

// asksElse reports whether something else is requested than what runs.
func (a *app) asksElse(op *running) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.obj.Operation != nil && a.view.handled != encoded(a.obj.Operation) && !sameRequest(op.request, *a.obj.Operation)
}

// unpin is a request as it is tried again: without revisions, where its strategy says refresh.
func unpin(request v1alpha1.Operation) *v1alpha1.Operation {
	out := request.DeepCopy()
	if out.Retry.Refresh && out.Sync != nil {
		out.Sync.Revision, out.Sync.Revisions = "", nil
	}
	return out
}

// requestOf is the token of the request, empty if there is none.
func requestOf(obj *v1alpha1.Application) string {
	refresh := obj.Annotations[v1alpha1.RefreshAnnotation]
	if obj.Operation == nil && refresh == "" {
		return ""
	}
	text, err := json.Marshal(obj.Operation)
	if err != nil {
		return refresh
	}
	// The same request again is another one: it came with another version of the object.
	return refresh + ":" + digest(string(text)+refreshVersion(obj, refresh))
}

func refreshVersion(obj *v1alpha1.Application, refresh string) string {
	if refresh == "" {
		return ""
	}
	return obj.ResourceVersion
}

// refreshes reports whether a token is that of a request for a refresh, as requestOf makes them.
func refreshes(requested string) bool {
	refresh, _, _ := strings.Cut(requested, ":")
	return refresh != ""
}
