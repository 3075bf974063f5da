package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
)

type eventsOptions struct {
	*console.Globals
	target, namespace string
	follow            bool
	// only is the object that target names.
	only console.Reference
	// cluster is the name of the one that was chosen.
	cluster string
}

// NewEvents is the command that lists events.
func NewEvents(g *console.Globals) *cobra.Command {
	o := eventsOptions{Globals: g}
	cmd := &cobra.Command{
		Use:   "events [KIND/NAME] | events KIND NAME",
		Short: "List the events of sources and units",
		Long: `List events, in these steps:

  1. read the events of the served kinds
  2. print them, oldest first
  3. with --follow, keep printing new events until Ctrl-C

Of an object of another kind, the events of all clusters that units deploy to are printed. When there are several, the cluster of each
object is a column. --cluster chooses one: without an object, all events of a cluster that declares no units are printed.`,
		Example: "  headgate events\n  headgate events ks/apps\n  headgate events hr/podinfo -n apps --follow\n  headgate events Pod/backstage/web-0 --cluster dev-vcluster",
		Args:    cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.target = console.Joined(args)
			}
			return runEvents(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVarP(&o.namespace, "namespace", "n", "", "only this namespace (default: all)")
	console.BindCluster(cmd, &o.cluster, "only events of this cluster")
	cmd.Flags().BoolVarP(&o.follow, "follow", "f", false, "keep printing new events")
	return cmd
}

func runEvents(ctx context.Context, o eventsOptions) error {
	client, err := o.Client()
	if err != nil {
		return err
	}
	clusters := o.Clusters(ctx, client)
	from, err := o.readers(clusters)
	if err != nil {
		return err
	}
	several := clusters.Several(nil)
	var events []happened
	var reached []*reader
	for _, one := range from {
		found, err := one.list(ctx)
		if err != nil && !one.Home && o.cluster == "" {
			fmt.Fprintf(o.IO.Err, "✗ the events of cluster %s are missing: %v\n", one.Name, err)
			continue
		}
		if err != nil {
			return err
		}
		events, reached = append(events, found...), append(reached, one)
	}
	slices.SortFunc(events, func(a, b happened) int { return a.event.LastTimestamp.Compare(b.event.LastTimestamp.Time) })
	w := tabwriter.NewWriter(o.IO.Out, 0, 0, 2, ' ', 0)
	titles := []string{"LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"}
	if several {
		titles = slices.Insert(titles, 3, "CLUSTER")
	}
	fmt.Fprintln(w, strings.Join(titles, "\t"))
	for _, h := range events {
		fmt.Fprintln(w, strings.Join(h.columns(several), "\t"))
	}
	if err := w.Flush(); err != nil || !o.follow {
		return err
	}
	return o.stay(ctx, reached, several)
}

// wants reports whether an event is about what is requested: about a source, a unit, or the rules by which
// sources are fetched.
func (o eventsOptions) wants(e *corev1.Event) bool {
	if o.only.Name != "" && (e.InvolvedObject.Kind != o.only.Kind || e.InvolvedObject.Name != o.only.Name) {
		return false
	}
	gv, err := schema.ParseGroupVersion(e.InvolvedObject.APIVersion)
	if err != nil {
		return false
	}
	_, known := o.Catalogue.Of(schema.GroupKind{Group: gv.Group, Kind: e.InvolvedObject.Kind})
	return known || e.InvolvedObject.Name == dialect.RewritesName
}
