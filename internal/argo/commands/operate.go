package commands

import (
	"cmp"
	"context"
	"fmt"
	"os/user"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

// refresh has an Application fetched and compared, and waits for that.
func refresh(ctx context.Context, s dialect.Session, id engine.UnitID, hard bool) (*unstructured.Unstructured, error) {
	word := "normal"
	if hard {
		word = "hard"
	}
	change := map[string]any{"metadata": map[string]any{"annotations": map[string]any{v1alpha1.RefreshAnnotation: word}}}
	if err := s.Change(ctx, id, change); err != nil {
		return nil, err
	}
	return s.Until(ctx, id, refreshed{})
}

// refreshed is an Application that was compared.
type refreshed struct{}

// Done reports whether the request is gone. What cannot be compared says so, and the request stays.
func (refreshed) Done(u *unstructured.Unstructured) bool {
	if _, asked := u.GetAnnotations()[v1alpha1.RefreshAnnotation]; !asked {
		return true
	}
	app, err := applicationOf(u)
	return err == nil && uncomparable(app)
}

// uncomparable reports whether an Application says that it cannot be compared.
func uncomparable(app *v1alpha1.Application) bool {
	if app.Status.Sync.Status != v1alpha1.SyncStatusCodeUnknown {
		return false
	}
	for _, c := range app.Status.Conditions {
		if c.Type == v1alpha1.ApplicationConditionComparisonError || c.Type == v1alpha1.ApplicationConditionInvalidSpecError {
			return true
		}
	}
	return false
}

// operate requests an operation, follows it to its end, and prints what came of it. Annotations are set with it. With wait
// the Application has to become synced and healthy, too.
func operate(
	ctx context.Context, s dialect.Session, id engine.UnitID, op *v1alpha1.Operation, annotations map[string]any, wait bool,
) (reached bool, err error) {
	change := map[string]any{"operation": op}
	if annotations != nil {
		change["metadata"] = map[string]any{"annotations": annotations}
	}
	if err := s.Change(ctx, id, change); err != nil {
		return false, err
	}
	u, err := s.Until(ctx, id, &followed{session: s, id: id, token: op.Info[0].Value})
	if err != nil {
		return false, err
	}
	app, err := applicationOf(u)
	if err != nil {
		return false, err
	}
	succeeded := app.Status.OperationState.Phase == v1alpha1.OperationSucceeded
	if err := printResults(s, id, app.Status.OperationState); err != nil || !succeeded || !wait {
		return succeeded, err
	}
	if u, err = s.Until(ctx, id, ready{}); err != nil {
		return false, err
	}
	_, _, message := readiness(u)
	return true, s.Say(true, fmt.Sprintf("%s is %s", id, message))
}

// followed is an operation that is followed to its end.
type followed struct {
	session dialect.Session
	id      engine.UnitID
	token   string
	told    string
}

// Done prints what the operation does, and reports whether it has ended.
func (f *followed) Done(u *unstructured.Unstructured) bool {
	app, err := applicationOf(u)
	if err != nil || !answers(app, f.token) {
		return false
	}
	if message := oneLine(app.Status.OperationState.Message); message != "" && message != f.told && !over(app) {
		f.told = message
		f.session.Note(f.id.String() + " " + message)
	}
	return over(app) && app.Operation == nil
}

// ready is an Application that is synced and healthy.
type ready struct{}

// Done reports whether it is.
func (ready) Done(u *unstructured.Unstructured) bool {
	status, _, _ := readiness(u)
	return status == "True"
}

// answers reports whether the last operation of an Application is the one with a token.
func answers(app *v1alpha1.Application, token string) bool {
	state := app.Status.OperationState
	if state == nil {
		return false
	}
	for _, line := range state.Operation.Info {
		if line.Name == requestName && line.Value == token {
			return true
		}
	}
	return false
}

// printResults prints what came of each object, and of the whole.
func printResults(s dialect.Session, id engine.UnitID, state *v1alpha1.OperationState) error {
	if state.SyncResult != nil && len(state.SyncResult.Resources) > 0 {
		rows := [][]string{{"PHASE", "OBJECT", "RESULT", "MESSAGE"}}
		for _, r := range state.SyncResult.Resources {
			rows = append(rows, []string{cmp.Or(r.SyncPhase, "Sync"), resourceName(r), cmp.Or(string(r.Status), string(r.HookPhase)), oneLine(r.Message)})
		}
		if err := s.Table(rows); err != nil {
			return fmt.Errorf("printing the results: %w", err)
		}
	}
	return s.Say(state.Phase == v1alpha1.OperationSucceeded, fmt.Sprintf("%s %s: %s", id, state.Phase, oneLine(state.Message)))
}

func resourceName(r v1alpha1.ResourceResult) string {
	return strings.Join([]string{r.Kind, strings.TrimPrefix(r.Namespace+"/"+r.Name, "/")}, "/")
}

// requestName is the line of an operation that tells whose it is.
const requestName = "headgate.dev/request"

func requested(sync *v1alpha1.SyncOperation, token string) *v1alpha1.Operation {
	name := "headgate"
	if who, err := user.Current(); err == nil && who.Username != "" {
		name = who.Username
	}
	return &v1alpha1.Operation{
		Sync: sync, InitiatedBy: v1alpha1.OperationInitiator{Username: name}, Info: []v1alpha1.Info{{Name: requestName, Value: token}},
	}
}

// newToken is a token that no other request has.
func newToken() string { return time.Now().UTC().Format(time.RFC3339Nano) }

// overtake has a sync that will be retried give way to a newer commit, which may not have been fetched yet, and waits for that. It leaves alone one
// that would sync the same again.
func overtake(ctx context.Context, s dialect.Session, u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	app, err := applicationOf(u)
	if err != nil || over(app) || app.Status.OperationState.RetryCount == 0 || u.GetDeletionTimestamp() != nil {
		// What is wrong with it is said by mayOperate.
		return u, nil
	}
	if u, err = refresh(ctx, s, idOf(u), false); err != nil {
		return nil, err
	}
	if app, err = applicationOf(u); err != nil || over(app) || !newer(app) {
		return u, nil
	}
	return s.Until(ctx, idOf(u), idle{})
}

// newer reports whether an Application was compared with another revision than the one that its operation syncs.
func newer(app *v1alpha1.Application) bool {
	result := app.Status.OperationState.SyncResult
	return result != nil && (app.Status.Sync.Revision != result.Revision || !slices.Equal(app.Status.Sync.Revisions, result.Revisions))
}

// idle is an Application whose operation is over.
type idle struct{}

// Done reports whether it is.
func (idle) Done(u *unstructured.Unstructured) bool {
	app, err := applicationOf(u)
	return err == nil && app.Operation == nil && over(app)
}

// mayOperate refuses to ask for a sync where none would begin.
func mayOperate(u *unstructured.Unstructured) error {
	ref := idOf(u)
	app, err := applicationOf(u)
	switch {
	case err != nil:
		return err
	case u.GetDeletionTimestamp() != nil:
		return hint(fmt.Errorf("%s is being deleted", ref), "headgate why app/%s -n %s", ref.Name, ref.Namespace)
	case applicationState(u).Suspended:
		return hint(fmt.Errorf("%s is suspended", ref), "headgate resume app/%s -n %s", ref.Name, ref.Namespace)
	case app.Operation != nil || !over(app):
		message := "requested"
		if state := app.Status.OperationState; state != nil && !over(app) {
			message = oneLine(state.Message)
		}
		return hint(fmt.Errorf("%s: another sync is running: %s", ref, message), "headgate terminate app %s -n %s", ref.Name, ref.Namespace)
	}
	return nil
}
