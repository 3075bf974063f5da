package inspect

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
)

type eventsOptions struct {
	*console.Globals
	target, namespace string
	follow            bool
	// only is the object that target names.
	only console.Reference
}

// NewEvents is the command that lists events.
func NewEvents(g *console.Globals) *cobra.Command {
	o := eventsOptions{Globals: g}
	cmd := &cobra.Command{
		Use:   "events [KIND/NAME]",
		Short: "List the events of sources and units",
		Long: `List events, in these steps:

  1. read the events of the served kinds
  2. print them, oldest first
  3. with --follow, keep printing new events until Ctrl-C`,
		Example: "  headgate events\n  headgate events ks/apps\n  headgate events hr/podinfo -n apps --follow",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.target = args[0]
			}
			return runEvents(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVarP(&o.namespace, "namespace", "n", "", "only this namespace (default: all)")
	cmd.Flags().BoolVarP(&o.follow, "follow", "f", false, "keep printing new events")
	return cmd
}

func runEvents(ctx context.Context, o eventsOptions) error {
	var err error
	if o.target != "" {
		if o.only, err = o.ParseReference(o.target, o.namespace); err != nil {
			return err
		}
		o.namespace = o.only.Namespace
	}
	config, err := o.RestConfig()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	list, err := client.CoreV1().Events(o.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return console.Unreachable(fmt.Errorf("listing events: %w", err))
	}
	events := slices.DeleteFunc(list.Items, func(e corev1.Event) bool { return !o.wants(&e) })
	slices.SortFunc(events, func(a, b corev1.Event) int { return a.LastTimestamp.Compare(b.LastTimestamp.Time) })
	w := tabwriter.NewWriter(o.IO.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "LAST SEEN\tTYPE\tREASON\tOBJECT\tMESSAGE")
	for i := range events {
		printEvent(w, "%s\t%s\t%s\t%s\t%s\n", &events[i])
	}
	if err := w.Flush(); err != nil || !o.follow {
		return err
	}
	return o.stay(ctx, client, list.ResourceVersion)
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

func printEvent(w io.Writer, format string, e *corev1.Event) {
	object := e.InvolvedObject.Kind + "/" + e.InvolvedObject.Namespace + "/" + e.InvolvedObject.Name
	fmt.Fprintf(w, format, e.LastTimestamp.Format(time.RFC3339), e.Type, e.Reason, object, console.OneLine(e.Message))
}

// stay prints events as they come. Nothing ends it but ctx, and a server that forgot what came before.
func (o eventsOptions) stay(ctx context.Context, client kubernetes.Interface, version string) error {
	events := client.CoreV1().Events(o.namespace)
	watcher, err := toolswatch.NewRetryWatcherWithContext(ctx, version, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return events.Watch(ctx, options)
		},
	})
	if err != nil {
		return console.Unreachable(fmt.Errorf("watching events: %w", err))
	}
	defer watcher.Stop()
	for came := range watcher.ResultChan() {
		switch e := came.Object.(type) {
		case *corev1.Event:
			if came.Type != watch.Deleted && o.wants(e) {
				printEvent(o.IO.Out, "%s  %-7s  %s  %s  %s\n", e)
			}
		case *metav1.Status:
			return console.Hint(fmt.Errorf("watching events: %w", apierrors.FromObject(e)), "headgate events --follow")
		}
	}
	return context.Cause(ctx)
}
