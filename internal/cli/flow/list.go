package flow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/workflow/view"
)

type listOptions struct {
	place

	everywhere, running, completed, noHeaders bool
	status                                    []string
	selector, prefix, output                  string
	since                                     time.Duration
}

func newList(g *console.Globals) *cobra.Command {
	o := listOptions{place: place{Globals: g}}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List Workflows",
		Long: `List Workflows, in these steps:

  1. read those of the namespace, or of all with -A
  2. print those that the flags select: what has not ended first, then the last ended one`,
		Example: "  headgate workflow list\n  headgate workflow list -A --running\n  headgate workflow list --status Failed,Error -o name",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	o.bind(cmd)
	f := cmd.Flags()
	f.BoolVarP(&o.everywhere, "all-namespaces", "A", false, "all namespaces")
	f.StringSliceVar(&o.status, "status", nil, "only these phases: Pending, Running, Succeeded, Failed, Error")
	f.BoolVar(&o.running, "running", false, "only those that have not ended")
	f.BoolVar(&o.completed, "completed", false, "only those that have ended")
	f.StringVarP(&o.selector, "selector", "l", "", "only those with these labels")
	f.StringVar(&o.prefix, "prefix", "", "only those whose names begin like this")
	f.DurationVar(&o.since, "since", 0, "only those that were created at most so long ago, such as 24h, or have not ended")
	f.StringVarP(&o.output, "output", "o", "", "name, wide, json or yaml")
	console.CompleteOutput(cmd, "name", "wide", "json", "yaml")
	f.BoolVar(&o.noHeaders, "no-headers", false, "no titles above the columns")
	return cmd
}

func (o listOptions) run(ctx context.Context) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := o.open(); err != nil {
		return err
	}
	namespace := o.namespace
	if o.everywhere {
		namespace = metav1.NamespaceAll
	}
	all, err := o.list(ctx, namespace, o.selector)
	if err != nil {
		return err
	}
	now := time.Now()
	all = slices.DeleteFunc(all, func(wf *v1alpha1.Workflow) bool { return !o.selects(wf, now) })
	switch o.output {
	case "", "wide":
		return o.table(all, now)
	case "name":
		for _, wf := range all {
			fmt.Fprintln(o.IO.Out, wf.Name)
		}
		return nil
	default:
		if all == nil {
			all = []*v1alpha1.Workflow{}
		}
		_, err := printed(o.IO, o.output, "", all)
		return err
	}
}

// check reports which flags do not go together.
func (o listOptions) check() error {
	if o.everywhere && o.namespace != "" {
		return errors.New("-n and --all-namespaces are mutually exclusive")
	}
	if o.running && o.completed {
		return errors.New("--running and --completed are mutually exclusive")
	}
	for _, phase := range o.status {
		if !slices.Contains([]v1alpha1.WorkflowPhase{
			v1alpha1.WorkflowPending, v1alpha1.WorkflowRunning, v1alpha1.WorkflowSucceeded, v1alpha1.WorkflowFailed, v1alpha1.WorkflowError,
		}, v1alpha1.WorkflowPhase(phase)) {
			return fmt.Errorf("--status %q: use Pending, Running, Succeeded, Failed, Error", phase)
		}
	}
	return checkFormat(o.output, "wide")
}

// selects reports whether a workflow is listed.
func (o listOptions) selects(wf *v1alpha1.Workflow, now time.Time) bool {
	phase := wf.Status.Phase
	if phase == "" {
		phase = v1alpha1.WorkflowPending
	}
	switch {
	case o.running && phase.Completed(), o.completed && !phase.Completed():
		return false
	case len(o.status) > 0 && !slices.Contains(o.status, string(phase)):
		return false
	case o.since > 0 && phase.Completed() && now.Sub(wf.CreationTimestamp.Time) > o.since:
		return false
	default:
		return strings.HasPrefix(wf.Name, o.prefix)
	}
}

func (o listOptions) table(all []*v1alpha1.Workflow, now time.Time) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(o.IO.Err, "no workflows found")
		return err
	}
	w := tabwriter.NewWriter(o.IO.Out, 0, 0, 3, ' ', 0)
	if !o.noHeaders {
		fmt.Fprintln(w, strings.Join(view.Columns(o.everywhere, o.output == "wide"), "\t"))
	}
	for _, wf := range all {
		fmt.Fprintln(w, strings.Join(view.Row(wf, now, o.everywhere, o.output == "wide"), "\t"))
	}
	return w.Flush()
}
