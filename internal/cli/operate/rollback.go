package operate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
)

type rollbackOptions struct {
	*console.Globals
	ref     console.Reference
	of      dialect.Reverting
	id      string
	hold    time.Duration
	prune   bool
	unpin   bool
	timeout time.Duration
}

// NewRollback is the command that goes back to an entry of the history.
func NewRollback(g *console.Globals) *cobra.Command {
	o := rollbackOptions{Globals: g}
	var namespace string
	cmd := &cobra.Command{
		Use:   "rollback [app] NAME [ID]",
		Short: "Roll an Application of Argo CD back, and hold it there",
		Long: `Roll an Application back, in these steps:

  1. find the entry of its history: ID as "headgate history" prints it, or the one before the last
  2. pin the Application to that for the duration of --for: no automated sync starts until then
  3. sync it to the revisions and the sources of the entry, and wait for the result

The pin is the annotation headgate.dev/pin, "REVISION until TIME". --unpin only removes it, without
a sync. The exit code is 1 if the sync failed.`,
		Example: `  headgate rollback app guestbook
  headgate rollback app guestbook 3 --for 8h
  headgate rollback app guestbook --unpin`,
		Args: cobra.RangeArgs(1, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			args, o.id = splitID(g, args)
			var err error
			if o.ref, o.of, err = console.OperatedReference[dialect.Reverting](g, args, namespace); err != nil {
				return err
			}
			return runRollback(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&namespace, "namespace", "n", console.OperatedNamespace(g), "namespace of the Application")
	f.DurationVar(&o.hold, "for", time.Hour, "how long to suspend automated syncs; 0 for no pin")
	f.BoolVar(&o.prune, "prune", false, "delete objects that the entry does not declare")
	f.BoolVar(&o.unpin, "unpin", false, "only resume automated syncs")
	f.DurationVar(&o.timeout, "timeout", 5*time.Minute, "how long to wait")
	return cmd
}

// splitID takes the number of an entry off the end of arguments.
func splitID(g *console.Globals, args []string) (rest []string, id string) {
	last := args[len(args)-1]
	kind, _ := g.OperatedKind()
	named := len(args) == 3 || len(args) == 2 && (strings.Contains(args[0], "/") || !slices.Contains(kind.Aliases, args[0]))
	if !named {
		return args, ""
	}
	return args[:len(args)-1], last
}

func runRollback(ctx context.Context, o rollbackOptions) error {
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("not done after %s", o.timeout))
	defer cancel()
	client, err := o.Client()
	if err != nil {
		return err
	}
	if o.unpin {
		if err := console.Change(ctx, o.ref.Client(client), o.ref, o.of.Unpin()); err != nil {
			return err
		}
		_, err = fmt.Fprintf(o.IO.Out, "%s is no longer pinned\n", o.ref)
		return err
	}
	u, err := o.ref.GetFor(ctx, client, "rollback")
	if err != nil {
		return err
	}
	reached, err := o.of.Rollback(ctx, console.NewSession(o.Globals, client), u, dialect.RollbackOptions{ID: o.id, Hold: o.hold, Prune: o.prune})
	if err == nil && !reached {
		err = console.ErrNo
	}
	return err
}
