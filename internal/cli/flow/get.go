package flow

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/workflow/request"
	"github.com/headgate-dev/headgate/internal/workflow/view"
)

type getOptions struct {
	place

	output, status, selector string
}

func newGet(g *console.Globals) *cobra.Command {
	o := getOptions{place: place{Globals: g}}
	cmd := &cobra.Command{
		Use:   "get NAME|@latest...",
		Short: "Show a Workflow and the tree of its nodes",
		Long: `Show Workflows, in these steps:

  1. read them
  2. print what each is, how far it got, and the tree of its nodes: ◷ pending, ● running, ǁ suspended,
     ✔ succeeded, ○ skipped, ✖ failed, ⚠ error`,
		Example: "  headgate workflow get @latest\n  headgate workflow get build-x7k2p -o yaml\n  headgate workflow get @latest --status Failed",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) },
	}
	o.bind(cmd)
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", "", "name, wide, short, json or yaml")
	console.CompleteOutput(cmd, "name", "wide", "short", "json", "yaml")
	f.StringVar(&o.status, "status", "", "only nodes in this phase")
	f.StringVar(&o.selector, "node-field-selector", "", "only these nodes, such as displayName=build,phase=Failed")
	return cmd
}

func (o getOptions) run(ctx context.Context, names []string) error {
	if err := checkFormat(o.output, "wide", "short"); err != nil {
		return err
	}
	if o.status != "" && o.selector != "" {
		return errors.New("--status and --node-field-selector are mutually exclusive")
	}
	if o.status != "" {
		o.selector = "phase=" + o.status
	}
	selector, err := request.ParseSelector(o.selector)
	if err != nil {
		return err
	}
	if err := o.open(); err != nil {
		return err
	}
	for _, name := range names {
		wf, err := o.get(ctx, name)
		if err == nil {
			err = o.shown(wf, o.output, view.Options{Selector: selector})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
