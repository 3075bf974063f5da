package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/progress"
)

type rollbackOptions struct {
	*globals
	ref     reference
	id      string
	hold    time.Duration
	prune   bool
	unpin   bool
	timeout time.Duration
}

func newRollback(g *globals) *cobra.Command {
	o := rollbackOptions{globals: g}
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
			args, o.id = g.splitID(args)
			var err error
			if o.ref, err = g.appReference(args, namespace); err != nil {
				return err
			}
			return runRollback(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&namespace, "namespace", "n", argo.DefaultNamespace, "namespace of the Application")
	f.DurationVar(&o.hold, "for", time.Hour, "how long to suspend automated syncs; 0 for no pin")
	f.BoolVar(&o.prune, "prune", false, "delete objects that the entry does not declare")
	f.BoolVar(&o.unpin, "unpin", false, "only resume automated syncs")
	f.DurationVar(&o.timeout, "timeout", 5*time.Minute, "how long to wait")
	return cmd
}

// splitID takes the number of an entry off the end of arguments.
func (g *globals) splitID(args []string) (rest []string, id string) {
	last := args[len(args)-1]
	named := len(args) == 3 || len(args) == 2 && (strings.Contains(args[0], "/") || !slices.Contains(g.known(applicationKind).aliases, args[0]))
	if !named {
		return args, ""
	}
	return args[:len(args)-1], last
}

func runRollback(ctx context.Context, o rollbackOptions) error {
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("not done after %s", o.timeout))
	defer cancel()
	client, err := o.client()
	if err != nil {
		return err
	}
	if o.unpin {
		change := map[string]any{"metadata": map[string]any{"annotations": map[string]any{argo.AnnotationPin: nil}}}
		if err := patch(ctx, o.ref.client(client), o.ref, change); err != nil {
			return err
		}
		_, err = fmt.Fprintf(o.io.Out, "%s is no longer pinned\n", o.ref)
		return err
	}
	u, err := o.ref.get(ctx, client)
	if err != nil {
		return err
	}
	if err := mayOperate(u, o.ref); err != nil {
		return err
	}
	app, err := applicationOf(u)
	if err != nil {
		return err
	}
	entry, err := o.entry(app)
	if err != nil {
		return err
	}
	sync := &v1alpha1.SyncOperation{Prune: o.prune, Revision: entry.Revision, Revisions: entry.Revisions, Sources: entry.Sources}
	if len(entry.Sources) == 0 {
		sync.Source = entry.Source
		if sync.Source == nil {
			sync.Source = policy.SourceOf(app.Spec)
		}
	}
	f := &appFollower{io: o.io, client: client}
	annotations, err := o.pin(f, entry)
	if err != nil {
		return err
	}
	op := requested(sync, newToken())
	op.Info = append(op.Info, v1alpha1.Info{Name: v1alpha1.ReasonInfo, Value: fmt.Sprintf("initiated rollback to %d", entry.ID)})
	reached, err := f.operate(ctx, o.ref, op, annotations, false)
	if err == nil && !reached {
		err = errNo
	}
	return err
}

// pin is the annotation that holds the Application at an entry.
func (o rollbackOptions) pin(f *appFollower, entry *v1alpha1.RevisionHistory) (map[string]any, error) {
	if o.hold <= 0 {
		return nil, nil
	}
	until := time.Now().Add(o.hold).UTC().Format(time.RFC3339)
	err := f.say(true, "%s is pinned to %s until %s", o.ref, progress.Short(revisionsOf(entry)), until)
	return map[string]any{argo.AnnotationPin: revisionsOf(entry) + " until " + until}, err
}

// entry is the one of the history that is gone back to.
func (o rollbackOptions) entry(app *v1alpha1.Application) (*v1alpha1.RevisionHistory, error) {
	history := app.Status.History
	if o.id == "" {
		if len(history) < 2 {
			return nil, hint(fmt.Errorf("%s has no previous sync", o.ref), "headgate history app %s -n %s", o.ref.name, o.ref.namespace)
		}
		return &history[len(history)-2], nil
	}
	id, err := strconv.ParseInt(o.id, 10, 64)
	if err != nil {
		return nil, hint(fmt.Errorf("%q is not an ID of the history", o.id), "headgate history app %s -n %s", o.ref.name, o.ref.namespace)
	}
	at := slices.IndexFunc(history, func(h v1alpha1.RevisionHistory) bool { return h.ID == id })
	if at < 0 {
		return nil, hint(fmt.Errorf("the history of %s has no entry %d", o.ref, id), "headgate history app %s -n %s", o.ref.name, o.ref.namespace)
	}
	return &history[at], nil
}
