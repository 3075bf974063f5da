package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

type eventsOptions struct {
	*console.Globals
	target, namespace  string
	output, labels     string
	everywhere, follow bool
	// absent is why the target is nothing that exists; its events may be left.
	absent error
	// selected are the objects with the labels, where labels were given.
	selected map[engine.ObjectID]bool
	// only is the object that target names.
	only console.Reference
	// cluster is the name of the one that was chosen.
	cluster string
}

// NewEvents is the command that lists events.
func NewEvents(g *console.Globals) *cobra.Command {
	o := eventsOptions{Globals: g}
	cmd := &cobra.Command{
		Use:   "events [[KIND/]NAME] | events KIND NAME",
		Short: "List the events of sources and units",
		Long: `List events, in these steps:

  1. read the events of the served kinds
  2. print them, oldest first, as a table or in the format of -o
  3. with --follow, keep printing new events until Ctrl-C

NAME alone is a Kustomization, or else whatever has that name. Of an object of another kind, the events of all clusters that units deploy to are printed. When there are several, the cluster of each
object is a column. --cluster chooses one: without an object, all events of a cluster that declares no units are printed.`,
		Example:           "  headgate events\n  headgate events ks/apps\n  headgate events hr/podinfo -n apps --follow\n  headgate events Pod/backstage/web-0 --cluster dev-vcluster",
		ValidArgsFunction: g.CompleteObject,
		Args:              cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.target = console.Joined(args)
			}
			return runEvents(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVarP(&o.namespace, "namespace", "n", "", "only this namespace (default: all)")
	cmd.Flags().BoolVarP(&o.everywhere, "all-namespaces", "A", false, "all namespaces, as without -n")
	cmd.Flags().StringVarP(&o.labels, "selector", "l", "", "only events about sources and units with these labels, as with kubectl")
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "json, yaml or name")
	console.CompleteOutput(cmd, eventOutputs...)
	console.BindCluster(cmd, &o.cluster, "only events of this cluster")
	cmd.Flags().BoolVarP(&o.follow, "follow", "f", false, "keep printing new events")
	return cmd
}

// eventOutputs are the values of -o.
var eventOutputs = []string{"json", "yaml", "name"}

// check is an error for flags that exclude each other.
func (o eventsOptions) check() error {
	switch {
	case o.everywhere && o.namespace != "":
		return console.Hint(errors.New("-n and --all-namespaces are mutually exclusive"), "headgate events -A")
	case o.output != "" && !slices.Contains(eventOutputs, o.output):
		return console.UnknownOutput(o.output, eventOutputs...)
	case o.output != "" && o.follow:
		return console.Hint(errors.New("--follow prints lines, and takes no -o"), "headgate events --follow")
	case o.labels != "" && o.cluster != "":
		return console.Hint(errors.New("-l is for sources and units, which are not in the cluster of --cluster"), "headgate events -l %q", o.labels)
	}
	return nil
}

func runEvents(ctx context.Context, o eventsOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	client, err := o.Client()
	if err != nil {
		return err
	}
	if err := o.aim(ctx, client); err != nil {
		return err
	}
	clusters := o.Clusters(ctx, client)
	from, err := o.readers(clusters)
	if err != nil {
		return err
	}
	several := clusters.Several(nil)
	events, reached, err := o.gather(ctx, from)
	if err != nil {
		return err
	}
	if len(events) == 0 {
		if err := o.nothing(ctx, client, several); err != nil {
			return err
		}
	}
	if err := o.print(events, several); err != nil || !o.follow {
		return err
	}
	return o.stay(ctx, reached, several)
}

// gather reads the events of all clusters that respond, oldest first.
func (o eventsOptions) gather(ctx context.Context, from []*reader) (events []happened, reached []*reader, err error) {
	for _, one := range from {
		found, err := one.list(ctx)
		if err != nil && !one.Home && o.cluster == "" {
			fmt.Fprintf(o.IO.Err, "✗ the events of cluster %s are missing: %v\n", one.Name, err)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		events, reached = append(events, found...), append(reached, one)
	}
	slices.SortFunc(events, func(a, b happened) int { return a.event.LastTimestamp.Compare(b.event.LastTimestamp.Time) })
	return events, reached, nil
}

// print prints events as a table, or in the format of -o.
func (o eventsOptions) print(events []happened, several bool) error {
	if o.output != "" {
		list := make([]*unstructured.Unstructured, len(events))
		for i, h := range events {
			object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(h.event)
			if err != nil {
				return fmt.Errorf("encoding: %w", err)
			}
			list[i] = &unstructured.Unstructured{Object: object}
			list[i].SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Event"))
		}
		return console.PrintObjects(o.IO, o.output, list)
	}
	w := tabwriter.NewWriter(o.IO.Out, 0, 0, 2, ' ', 0)
	titles := []string{"LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"}
	if several {
		titles = slices.Insert(titles, 3, "CLUSTER")
	}
	fmt.Fprintln(w, strings.Join(titles, "\t"))
	for _, h := range events {
		fmt.Fprintln(w, strings.Join(h.columns(several), "\t"))
	}
	return w.Flush()
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
	of := e.InvolvedObject
	if o.selected != nil && !o.selected[engine.ObjectID{Group: gv.Group, Kind: of.Kind, Namespace: of.Namespace, Name: of.Name}] {
		return false
	}
	_, known := o.Catalogue.Of(schema.GroupKind{Group: gv.Group, Kind: e.InvolvedObject.Kind})
	return known || e.InvolvedObject.Name == dialect.RewritesName
}
