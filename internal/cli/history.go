package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo"
	"github.com/headgate-dev/headgate/internal/progress"
)

func newHistory(g *globals) *cobra.Command {
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
			ref, err := g.appReference(args, namespace)
			if err != nil {
				return err
			}
			return runHistory(cmd.Context(), g, ref)
		},
	}
	cmd.Flags().StringVarP(&namespace, "namespace", "n", argo.DefaultNamespace, "namespace of the Application")
	return cmd
}

func runHistory(ctx context.Context, g *globals, ref reference) error {
	_, app, err := readApplication(ctx, g, ref)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(g.io.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tDATE\tREVISION\tBY")
	for i := range app.Status.History {
		h := &app.Status.History[i]
		by := orWord(h.InitiatedBy.Username, "-")
		if h.InitiatedBy.Automated {
			by = "automated"
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\n", h.ID, h.DeployedAt.UTC().Format(time.RFC3339), progress.Short(revisionsOf(h)), by)
	}
	if pin := app.Annotations[argo.AnnotationPin]; pin != "" {
		defer fmt.Fprintln(g.io.Out, "pinned to "+progress.Short(pin))
	}
	return w.Flush()
}

func revisionsOf(h *v1alpha1.RevisionHistory) string {
	if len(h.Revisions) > 0 {
		return strings.Join(h.Revisions, ",")
	}
	return h.Revision
}
