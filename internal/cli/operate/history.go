package operate

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/progress"
)

// NewHistory is the command that lists what was synced.
func NewHistory(g *console.Globals) *cobra.Command {
	var namespace string
	cmd := &cobra.Command{
		Use:   "history [app] NAME",
		Short: "List the sync history of an Application of Argo CD",
		Long: `List the sync history of an Application, in these steps:

  1. read the history in its status, whose length spec.revisionHistoryLimit limits
  2. print it, oldest first: the ID for "headgate rollback", time, revision and initiator`,
		Example: "  headgate history app guestbook",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			ref, of, err := console.OperatedReference[dialect.Historic](g, args, namespace)
			if err != nil {
				return err
			}
			return runHistory(cmd.Context(), g, ref, of)
		},
	}
	cmd.Flags().StringVarP(&namespace, "namespace", "n", console.OperatedNamespace(g), "namespace of the Application")
	return cmd
}

func runHistory(ctx context.Context, g *console.Globals, ref console.Reference, of dialect.Historic) error {
	client, err := g.Client()
	if err != nil {
		return err
	}
	u, err := ref.GetFor(ctx, client, "history")
	if err != nil {
		return err
	}
	entries, note, err := of.History(u)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(g.IO.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tDATE\tREVISION\tBY")
	for _, e := range entries {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", e.ID, e.Date, progress.Short(e.Revision), e.By)
	}
	if err := w.Flush(); err != nil || note == "" {
		return err
	}
	_, err = fmt.Fprintln(g.IO.Out, progress.Short(note))
	return err
}
