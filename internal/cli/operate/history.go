package operate

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/progress"
)

type historyOptions struct {
	*console.Globals
	output string
}

// NewHistory is the command that lists what was synced.
func NewHistory(g *console.Globals) *cobra.Command {
	o := historyOptions{Globals: g}
	cmd := &cobra.Command{
		Use:   "history [app] NAME | history hr NAME",
		Short: "List the sync history of an Application of Argo CD, or the releases of a HelmRelease",
		Long: `List the sync history of an Application, in these steps:

  1. read the history in its status, whose length spec.revisionHistoryLimit limits
  2. print it, oldest first: the ID for "headgate rollback", time, revision and initiator

Of a HelmRelease, the releases in its status are printed: version, time, chart and status. The history of a Kustomization is that of
its repository.`,
		Example:           "  headgate history app guestbook\n  headgate history hr podinfo -n apps\n  headgate history app guestbook -o json",
		ValidArgsFunction: g.CompleteOperated,
		Args:              cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := console.CheckOutput(o.output, "json", "yaml"); err != nil {
				return err
			}
			ref, of, err := console.OperatedReference[dialect.Historic](g, args, console.GivenNamespace(cmd))
			if other := (*console.NotOperatedError)(nil); errors.As(err, &other) {
				return runReleases(cmd.Context(), o, ref, err)
			}
			if err != nil {
				return err
			}
			return runHistory(cmd.Context(), o, ref, of)
		},
	}
	cmd.Flags().StringP("namespace", "n", "", "namespace of the Application, or of the HelmRelease; by default it is searched for in all")
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "json or yaml")
	console.CompleteOutput(cmd, "json", "yaml")
	return cmd
}

func runHistory(ctx context.Context, o historyOptions, ref console.Reference, of dialect.Historic) error {
	client, err := o.Client()
	if err != nil {
		return err
	}
	if ref, err = ref.Settle(ctx, client); err != nil {
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
	if o.output != "" {
		return console.PrintDocument(o.IO, o.output, append([]dialect.Entry{}, entries...))
	}
	w := tabwriter.NewWriter(o.IO.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tDATE\tREVISION\tBY")
	for _, e := range entries {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", e.ID, e.Date, progress.Short(e.Revision), e.By)
	}
	if err := w.Flush(); err != nil || note == "" {
		return err
	}
	_, err = fmt.Fprintln(o.IO.Out, progress.Short(note))
	return err
}

// runReleases lists the releases of an object that is not synced by operations. The refusal is what is said of one that has none.
func runReleases(ctx context.Context, o historyOptions, ref console.Reference, refusal error) error {
	client, err := o.Client()
	if err != nil {
		return err
	}
	of, can := o.Of(ref.GroupKind()).(dialect.Releasing)
	if !can {
		return refusal
	}
	if ref, err = ref.Settle(ctx, client); err != nil {
		return err
	}
	u, err := ref.Get(ctx, client)
	if err != nil {
		return err
	}
	releases, has := of.Releases(u)
	switch {
	case !has:
		return console.Hint(fmt.Errorf("%s has no history: it requires an Application of Argo CD or a HelmRelease; what a %s applied is in the history of its repository", ref, ref.Kind), "git log")
	case o.output != "":
		return console.PrintDocument(o.IO, o.output, append([]dialect.Release{}, releases...))
	}
	w := tabwriter.NewWriter(o.IO.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "VERSION\tDATE\tCHART\tSTATUS")
	for _, r := range releases {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.Version, r.Date, r.Chart, r.Status)
	}
	return w.Flush()
}
