package cli

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"text/tabwriter"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
)

// appFollower asks for operations of Applications, and tells how they go.
type appFollower struct {
	io     IO
	client dynamic.Interface
	// reached says for each Application whether it reached what was requested.
	reached []bool

	printing sync.Mutex
}

func (f *appFollower) say(good bool, format string, args ...any) error {
	mark := "✓ "
	if !good {
		mark = "✗ "
	}
	f.printing.Lock()
	defer f.printing.Unlock()
	_, err := fmt.Fprintf(f.io.Out, mark+format+"\n", args...)
	return err
}

// until watches an Application until done is true of it, and returns it.
func (f *appFollower) until(ctx context.Context, ref reference, done func(*unstructured.Unstructured) bool) (*unstructured.Unstructured, error) {
	selector := fields.OneTermEqualSelector("metadata.name", ref.name).String()
	for {
		w, err := ref.client(f.client).Watch(ctx, metav1.ListOptions{FieldSelector: selector})
		if err != nil && ctx.Err() == nil {
			return nil, unreachable(fmt.Errorf("watching %s: %w", ref, err))
		}
		if err == nil {
			u, gone := firstDone(w, done)
			w.Stop()
			if gone {
				return nil, hint(fmt.Errorf("%s was deleted in the meantime", ref), "headgate get apps")
			}
			if u != nil {
				return u, nil
			}
		}
		if ctx.Err() != nil {
			return nil, gaveUp(ctx, ref)
		}
	}
}

func firstDone(w watch.Interface, done func(*unstructured.Unstructured) bool) (u *unstructured.Unstructured, gone bool) {
	for event := range w.ResultChan() {
		u, ok := event.Object.(*unstructured.Unstructured)
		switch {
		case !ok:
		case event.Type == watch.Deleted:
			return nil, true
		case done(u):
			return u, false
		}
	}
	return nil, false
}

// refresh has an Application fetched and compared, and waits for that.
func (f *appFollower) refresh(ctx context.Context, ref reference, hard bool) (*unstructured.Unstructured, error) {
	word := "normal"
	if hard {
		word = "hard"
	}
	change := map[string]any{"metadata": map[string]any{"annotations": map[string]any{v1alpha1.RefreshAnnotation: word}}}
	if err := patch(ctx, ref.client(f.client), ref, change); err != nil {
		return nil, err
	}
	return f.until(ctx, ref, func(u *unstructured.Unstructured) bool {
		if _, asked := u.GetAnnotations()[v1alpha1.RefreshAnnotation]; !asked {
			return true
		}
		// What cannot be compared says so, and the request stays.
		app, err := applicationOf(u)
		return err == nil && uncomparable(app)
	})
}

// uncomparable tells whether an Application says that it cannot be compared.
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

// operate asks for an operation, follows it to its end, and prints what came of it. Annotations are set with it. With wait
// the Application has to become synced and healthy, too.
func (f *appFollower) operate(
	ctx context.Context, ref reference, op *v1alpha1.Operation, annotations map[string]any, wait bool,
) (reached bool, err error) {
	change := map[string]any{"operation": op}
	if annotations != nil {
		change["metadata"] = map[string]any{"annotations": annotations}
	}
	if err := patch(ctx, ref.client(f.client), ref, change); err != nil {
		return false, err
	}
	token := op.Info[0].Value
	told := ""
	u, err := f.until(ctx, ref, func(u *unstructured.Unstructured) bool {
		app, err := applicationOf(u)
		if err != nil || !answers(app, token) {
			return false
		}
		if message := oneLine(app.Status.OperationState.Message); message != "" && message != told && !over(app) {
			told = message
			f.printing.Lock()
			fmt.Fprintf(f.io.Err, "◌ %s %s\n", ref, message)
			f.printing.Unlock()
		}
		return over(app) && app.Operation == nil
	})
	if err != nil {
		return false, err
	}
	app, err := applicationOf(u)
	if err != nil {
		return false, err
	}
	succeeded := app.Status.OperationState.Phase == v1alpha1.OperationSucceeded
	if err := f.results(ref, app.Status.OperationState); err != nil || !succeeded || !wait {
		return succeeded, err
	}
	u, err = f.until(ctx, ref, func(u *unstructured.Unstructured) bool { status, _, _ := appReadiness(u); return status == "True" })
	if err != nil {
		return false, err
	}
	_, _, message := appReadiness(u)
	return true, f.say(true, "%s is %s", ref, message)
}

// answers tells whether the last operation of an Application is the one with a token.
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

// results prints what came of each object, and of the whole.
func (f *appFollower) results(ref reference, state *v1alpha1.OperationState) error {
	if state.SyncResult != nil && len(state.SyncResult.Resources) > 0 {
		f.printing.Lock()
		w := tabwriter.NewWriter(f.io.Out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "PHASE\tOBJECT\tRESULT\tMESSAGE")
		for _, r := range state.SyncResult.Resources {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", orWord(r.SyncPhase, "Sync"), resourceName(r), orWord(string(r.Status), string(r.HookPhase)), oneLine(r.Message))
		}
		err := w.Flush()
		f.printing.Unlock()
		if err != nil {
			return fmt.Errorf("printing the results: %w", err)
		}
	}
	return f.say(state.Phase == v1alpha1.OperationSucceeded, "%s %s: %s", ref, state.Phase, oneLine(state.Message))
}

func resourceName(r v1alpha1.ResourceResult) string {
	return strings.Join([]string{r.Kind, strings.TrimPrefix(r.Namespace+"/"+r.Name, "/")}, "/")
}
