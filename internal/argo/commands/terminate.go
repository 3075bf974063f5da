package commands

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/dialect"
)

// Terminate marks the running operation of an Application as terminating, and waits until it has ended. One that has not begun is
// withdrawn.
func (Verbs) Terminate(ctx context.Context, s dialect.Session, u *unstructured.Unstructured) (text string, ran bool, err error) {
	app, err := applicationOf(u)
	switch {
	case err != nil:
		return "", false, err
	case over(app) && app.Operation == nil:
		return "no sync is running", false, nil
	case over(app):
		return "the requested sync was withdrawn", true, s.Change(ctx, idOf(u), map[string]any{"operation": nil})
	}
	change := map[string]any{"status": map[string]any{"operationState": map[string]any{"phase": v1alpha1.OperationTerminating}}}
	if err := s.Change(ctx, idOf(u), change); err != nil {
		return "", true, err
	}
	end := &terminated{started: app.Status.OperationState.StartedAt}
	_, err = s.Until(ctx, idOf(u), end)
	return oneLine(end.message), true, err
}

// terminated is the operation that started at a time, once it has ended.
type terminated struct {
	started metav1.Time
	message string
}

// Done reports whether it has ended, and keeps what it said.
func (t *terminated) Done(u *unstructured.Unstructured) bool {
	app, err := applicationOf(u)
	if err != nil || app.Status.OperationState == nil {
		return false
	}
	state := app.Status.OperationState
	if !state.StartedAt.Equal(&t.started) {
		t.message = "terminated, and another sync is running"
		return true
	}
	t.message = state.Message
	return over(app)
}

var (
	_ dialect.Stating     = Verbs{}
	_ dialect.Owning      = Verbs{}
	_ dialect.Tabular     = Verbs{}
	_ dialect.Causing     = Verbs{}
	_ dialect.Switching   = Verbs{}
	_ dialect.Reverting   = Verbs{}
	_ dialect.Terminating = Verbs{}
)
