package operate

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
)

// NewTerminate is the command that ends a running sync.
func NewTerminate(g *console.Globals) *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "terminate [app] NAME",
		Short: "Terminate the running sync of an Application of Argo CD",
		Long: `Terminate a sync, in these steps:

  1. mark the operation as terminating in the status of the Application
  2. wait until it has ended: running hooks are deleted, applied objects are kept

A requested sync that has not started is withdrawn.
The same revision is not synced automatically afterwards. The exit code is 1 if no sync was running.`,
		Example:           "  headgate terminate app guestbook",
		ValidArgsFunction: g.CompleteOperated,
		Args:              cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			ref, of, err := console.OperatedReference[dialect.Terminating](g, args, console.GivenNamespace(cmd))
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeoutCause(cmd.Context(), timeout, fmt.Errorf("not terminated after %s", timeout))
			defer cancel()
			return runTerminate(ctx, g, ref, of)
		},
	}
	cmd.Flags().StringP("namespace", "n", "", "namespace of the Application; by default it is searched for in all")
	cmd.Flags().DurationVar(&timeout, "timeout", time.Minute, "how long to wait")
	return cmd
}

func runTerminate(ctx context.Context, g *console.Globals, ref console.Reference, of dialect.Terminating) error {
	client, err := g.Client()
	if err != nil {
		return err
	}
	if ref, err = ref.Settle(ctx, client); err != nil {
		return err
	}
	u, err := ref.GetFor(ctx, client, "terminate")
	if err != nil {
		return err
	}
	text, ran, err := of.Terminate(ctx, console.NewSession(g, client), u)
	if err != nil {
		return err
	}
	if _, err = fmt.Fprintf(g.IO.Out, "%s: %s\n", ref, text); err == nil && !ran {
		err = console.ErrNo
	}
	return err
}
