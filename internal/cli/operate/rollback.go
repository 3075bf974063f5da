package operate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
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
	cmd := &cobra.Command{
		Use:   "rollback [app] NAME [ID]",
		Short: "Roll an Application of Argo CD back, and hold it there",
		Long: `Roll an Application back, in these steps:

  1. find the entry of its history: ID as "headgate history" prints it, or the one before the last
  2. pin the Application to that for the duration of --for: no automated sync starts until then
  3. sync it to the revisions and the sources of the entry, and wait for the result

The pin is the annotation headgate.dev/pin, "REVISION until TIME". --unpin only removes it, without
a sync. The exit code is 1 if the sync failed. A Kustomization or a HelmRelease is rolled back with git revert.`,
		Example: `  headgate rollback app guestbook
  headgate rollback app guestbook 3 --for 8h
  headgate rollback app guestbook --unpin`,
		ValidArgsFunction: g.CompleteOperated,
		Args:              cobra.RangeArgs(1, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			args, o.id = splitID(g, args)
			var err error
			if o.ref, o.of, err = console.OperatedReference[dialect.Reverting](g, args, console.GivenNamespace(cmd)); err != nil {
				return revertible(o.ref, err)
			}
			return runRollback(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringP("namespace", "n", "", "namespace of the Application; by default it is searched for in all")
	f.DurationVar(&o.hold, "for", time.Hour, "how long to suspend automated syncs; 0 for no pin")
	f.BoolVar(&o.prune, "prune", false, "delete objects that the entry does not declare")
	f.BoolVar(&o.unpin, "unpin", false, "only resume automated syncs")
	f.DurationVar(&o.timeout, "timeout", 5*time.Minute, "how long to wait")
	return cmd
}

// splitID takes the number of an entry off the end of arguments.
func splitID(g *console.Globals, args []string) (rest []string, id string) {
	last := args[len(args)-1]
	if len(args) == 1 || len(args) == 2 && !strings.Contains(args[0], "/") && leads(g, args[0], last) {
		return args, ""
	}
	return args[:len(args)-1], last
}

// leads reports whether the first of two arguments is the kind of the second one. Another kind than the operated one has no entries, and
// a number after its name is the entry of an Application that has this name.
func leads(g *console.Globals, first, second string) bool {
	if kind, _ := g.OperatedKind(); slices.Contains(kind.Aliases, first) {
		return true
	}
	_, unknown := g.FindKind(first)
	_, word := strconv.ParseInt(second, 10, 64)
	return unknown == nil && word != nil
}

// revertible explains how an object is rolled back that is not synced by operations.
func revertible(ref console.Reference, err error) error {
	if other := (*console.NotOperatedError)(nil); !errors.As(err, &other) {
		return err
	}
	return console.Hint(fmt.Errorf("%w; a %s is rolled back in the repository that declares it", err, ref.Kind), "git revert COMMIT, git push, headgate sync %s/%s", ref.Aliases[0], ref.Name)
}

func runRollback(ctx context.Context, o rollbackOptions) error {
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("not done after %s", o.timeout))
	defer cancel()
	client, err := o.Client()
	if err != nil {
		return err
	}
	if o.ref, err = o.ref.Settle(ctx, client); err != nil {
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
