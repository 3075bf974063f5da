package flow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/workflow/request"
	"github.com/headgate-dev/headgate/internal/workflow/view"
)

// changeAll changes workflows one after the other, and says what became of each.
func (p *place) changeAll(ctx context.Context, names []string, c change, word string) error {
	if err := p.open(); err != nil {
		return err
	}
	var errs []error
	for _, name := range names {
		wf, err := p.changeOne(ctx, name, c)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		fmt.Fprintf(p.IO.Out, "workflow %s %s\n", wf.Name, word)
	}
	return errors.Join(errs...)
}

func (p *place) changeOne(ctx context.Context, name string, c change) (*v1alpha1.Workflow, error) {
	if name == latest {
		wf, err := p.latest(ctx)
		if err != nil {
			return nil, err
		}
		name = wf.Name
	}
	return p.change(ctx, name, c)
}

// stopping ends runs, or nodes of them that wait.
type stopping struct {
	strategy v1alpha1.ShutdownStrategy
	selector fields.Selector
	message  string
}

func (s stopping) of(wf *v1alpha1.Workflow) (*v1alpha1.Workflow, error) {
	if s.selector != nil {
		return request.Fail(wf, s.selector, s.message)
	}
	return request.Stop(wf, s.strategy)
}

func newStop(g *console.Globals) *cobra.Command {
	p, s, text := place{Globals: g}, stopping{strategy: v1alpha1.ShutdownStop}, ""
	cmd := &cobra.Command{
		Use:   "stop NAME|@latest...",
		Short: "Stop Workflows, and run their exit handlers",
		Long: `Stop Workflows, in these steps:

  1. set spec.shutdown: Stop; with --node-field-selector, mark the nodes that wait and match as failed instead
  2. the engine ends what runs, executes the exit handlers, and marks the Workflow as failed`,
		Example: "  headgate workflow stop build-x7k2p\n  headgate workflow stop @latest --node-field-selector displayName=approve --message 'not this week'",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if s.selector, err = request.ParseSelector(text); err != nil {
				return err
			}
			if s.message != "" && s.selector == nil {
				return errors.New("--message is that of nodes that wait: use it with --node-field-selector")
			}
			return p.changeAll(cmd.Context(), args, s, "stopped")
		},
	}
	p.bind(cmd)
	cmd.Flags().StringVar(&text, "node-field-selector", "", "mark these nodes as failed, such as displayName=approve")
	cmd.Flags().StringVar(&s.message, "message", "", "why they failed")
	return cmd
}

func newTerminate(g *console.Globals) *cobra.Command {
	p := place{Globals: g}
	cmd := &cobra.Command{
		Use:   "terminate NAME|@latest...",
		Short: "Stop Workflows at once, without their exit handlers",
		Long: `Terminate Workflows, in these steps:

  1. set spec.shutdown: Terminate
  2. the engine ends what runs, exit handlers included, and marks the Workflow as failed`,
		Example: "  headgate workflow terminate @latest",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.changeAll(cmd.Context(), args, stopping{strategy: v1alpha1.ShutdownTerminate}, "terminated")
		},
	}
	p.bind(cmd)
	return cmd
}

// suspending keeps anything new from starting.
type suspending struct{}

func (suspending) of(wf *v1alpha1.Workflow) (*v1alpha1.Workflow, error) { return request.Suspend(wf) }

func newSuspend(g *console.Globals) *cobra.Command {
	p := place{Globals: g}
	cmd := &cobra.Command{
		Use:   "suspend NAME|@latest...",
		Short: "Keep anything new of Workflows from starting",
		Long: `Suspend Workflows, in these steps:

  1. set spec.suspend: true
  2. the engine starts nothing new; what runs is not disturbed`,
		Example: "  headgate workflow suspend @latest",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.changeAll(cmd.Context(), args, suspending{}, "suspended")
		},
	}
	p.bind(cmd)
	return cmd
}

// resuming lets runs continue, and ends nodes that wait.
type resuming struct {
	selector fields.Selector
	outputs  map[string]string
}

func (r resuming) of(wf *v1alpha1.Workflow) (*v1alpha1.Workflow, error) {
	return request.Resume(wf, r.selector, r.outputs)
}

func newResume(g *console.Globals) *cobra.Command {
	p, text, node := place{Globals: g}, "", ""
	var outputs []string
	cmd := &cobra.Command{
		Use:   "resume NAME|@latest...",
		Short: "Let Workflows continue that are suspended, or have nodes that wait",
		Long: `Resume Workflows, in these steps:

  1. unset spec.suspend, and mark all nodes that wait as succeeded; with --node-field-selector or --node, only
     the nodes that match
  2. give their output parameters the values of --output-parameter, or their defaults; a parameter without
     either is an error`,
		Example: "  headgate workflow resume @latest\n  headgate workflow resume release-2kd8f --node-field-selector displayName=approve --output-parameter by=alice",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if node != "" && text != "" {
				return errors.New("--node and --node-field-selector are mutually exclusive")
			}
			if node != "" {
				text = "id=" + node
			}
			selector, err := request.ParseSelector(text)
			if err != nil {
				return err
			}
			values, err := request.ParseParameters(outputs)
			if err != nil {
				return fmt.Errorf("--output-parameter: %w", err)
			}
			r := resuming{selector: selector, outputs: map[string]string{}}
			for _, value := range values {
				r.outputs[value.Name] = value.Value.String()
			}
			return p.changeAll(cmd.Context(), args, r, "resumed")
		},
	}
	p.bind(cmd)
	f := cmd.Flags()
	f.StringVar(&text, "node-field-selector", "", "only these nodes, such as displayName=approve")
	f.StringVar(&node, "node", "", "only the node with this ID")
	f.StringArrayVar(&outputs, "output-parameter", nil, "NAME=VALUE that the nodes wait for (repeatable)")
	return cmd
}

// retrying continues runs that have ended.
type retrying struct{ request.Retrying }

func (r retrying) of(wf *v1alpha1.Workflow) (*v1alpha1.Workflow, error) {
	return request.Retry(wf, r.Retrying, time.Now())
}

func newRetry(g *console.Globals) *cobra.Command {
	p, r, text, restart := place{Globals: g}, retrying{}, "", false
	var parameters []string
	var after following
	cmd := &cobra.Command{
		Use:   "retry NAME|@latest",
		Short: "Continue a Workflow where it failed",
		Long: `Retry a Workflow, in these steps:

  1. reset the nodes that failed and those that were omitted because of them; with --restart-successful, also the
     nodes of --node-field-selector and all that follows them, even if the Workflow has succeeded
  2. the engine removes their executions and starts them again; what has succeeded stays`,
		Example: "  headgate workflow retry @latest --watch\n  headgate workflow retry build-x7k2p --restart-successful --node-field-selector templateName=upload",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if restart != (text != "") {
				return errors.New("--restart-successful and --node-field-selector are used together")
			}
			var err error
			if r.Selector, err = request.ParseSelector(text); err != nil {
				return err
			}
			if r.Parameters, err = request.ParseParameters(parameters); err != nil {
				return err
			}
			if err = after.check(); err != nil {
				return err
			}
			if err = p.open(); err != nil {
				return err
			}
			wf, err := p.changeOne(cmd.Context(), args[0], r)
			if err != nil {
				return err
			}
			return after.follow(cmd.Context(), &p, wf)
		},
	}
	p.bind(cmd)
	f := cmd.Flags()
	f.BoolVar(&restart, "restart-successful", false, "start the nodes of --node-field-selector over, although they have succeeded")
	f.StringVar(&text, "node-field-selector", "", "which nodes, such as displayName=build")
	f.StringArrayVarP(&parameters, "parameter", "p", nil, "NAME=VALUE of an argument of the Workflow (repeatable)")
	after.bind(cmd)
	return cmd
}

// following is what happens once a workflow was submitted.
type following struct {
	output           string
	wait, watch, log bool
}

func (a *following) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&a.output, "output", "o", "", "name, wide, short, json or yaml")
	console.CompleteOutput(cmd, "name", "wide", "short", "json", "yaml")
	f.BoolVarP(&a.wait, "wait", "w", false, "wait until it has ended; exit 1 if it has not succeeded")
	f.BoolVar(&a.watch, "watch", false, "watch it until it has ended; exit 1 if it has not succeeded")
	f.BoolVar(&a.log, "log", false, "print what it prints until it has ended; exit 1 if it has not succeeded")
}

func (a *following) check() error {
	if a.wait && a.watch || a.wait && a.log || a.watch && a.log {
		return errors.New("--wait, --watch and --log are mutually exclusive")
	}
	return checkFormat(a.output, "wide", "short")
}

// follow shows a workflow, and follows it to its end if that was requested.
func (a *following) follow(ctx context.Context, p *place, wf *v1alpha1.Workflow) error {
	if !a.watch || a.output != "" {
		if err := p.shown(wf, a.output, view.Options{}); err != nil {
			return err
		}
	}
	switch {
	case a.wait:
		return p.waited(ctx, wf, a.output != "")
	case a.watch:
		return p.watched(ctx, wf, nil)
	case a.log:
		return p.logged(ctx, wf)
	default:
		return nil
	}
}
