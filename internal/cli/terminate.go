package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo"
)

func newTerminate(g *globals) *cobra.Command {
	var namespace string
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "terminate [app] NAME",
		Short: "Terminate the running sync of an Application of Argo CD",
		Long: `Terminate a sync, in these steps:

  1. mark the operation as terminating in the status of the Application
  2. wait until it has ended: running hooks are deleted, applied objects are kept

A requested sync that has not started is withdrawn.
The same revision is not synced automatically afterwards. The exit code is 1 if no sync was running.`,
		Example: "  headgate terminate app guestbook",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			ref, err := g.appReference(args, namespace)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeoutCause(cmd.Context(), timeout, fmt.Errorf("not terminated after %s", timeout))
			defer cancel()
			return runTerminate(ctx, g, ref)
		},
	}
	cmd.Flags().StringVarP(&namespace, "namespace", "n", argo.DefaultNamespace, "namespace of the Application")
	cmd.Flags().DurationVar(&timeout, "timeout", time.Minute, "how long to wait")
	return cmd
}

func runTerminate(ctx context.Context, g *globals, ref reference) error {
	client, app, err := readApplication(ctx, g, ref)
	if err != nil {
		return err
	}
	if over(app) && app.Operation != nil {
		// It has not begun.
		if err := patch(ctx, ref.client(client), ref, map[string]any{"operation": nil}); err != nil {
			return err
		}
		_, err = fmt.Fprintf(g.io.Out, "%s: the requested sync was withdrawn\n", ref)
		return err
	}
	if over(app) {
		fmt.Fprintf(g.io.Out, "%s: no sync is running\n", ref)
		return errNo
	}
	ended, err := terminate(ctx, &appFollower{io: g.io, client: client}, ref, app.Status.OperationState.StartedAt)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(g.io.Out, "%s: %s\n", ref, oneLine(ended))
	return err
}

// terminate asks for the end of an operation, and returns what it said when it had ended.
func terminate(ctx context.Context, f *appFollower, ref reference, started metav1.Time) (string, error) {
	change := map[string]any{"status": map[string]any{"operationState": map[string]any{"phase": v1alpha1.OperationTerminating}}}
	if err := patch(ctx, ref.client(f.client), ref, change); err != nil {
		return "", err
	}
	message := ""
	_, err := f.until(ctx, ref, func(u *unstructured.Unstructured) bool {
		app, err := applicationOf(u)
		if err != nil || app.Status.OperationState == nil {
			return false
		}
		state := app.Status.OperationState
		if !state.StartedAt.Equal(&started) {
			message = "terminated, and another sync is running"
			return true
		}
		message = state.Message
		return over(app)
	})
	return message, err
}
