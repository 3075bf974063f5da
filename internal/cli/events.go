package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

func newEvents(g *globals) *cobra.Command {
	var target, namespace string
	cmd := &cobra.Command{
		Use:   "events [KIND/NAME]",
		Short: "List the events of sources and units",
		Long: `List events, in these steps:

  1. read the events of the kinds that are served here
  2. print them, the oldest first`,
		Example: "  headgate events\n  headgate events ks/apps",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				target = args[0]
			}
			return runEvents(cmd.Context(), g, target, namespace)
		},
	}
	cmd.Flags().StringVarP(&namespace, "namespace", "n", "", "only this namespace (default: all)")
	return cmd
}

func runEvents(ctx context.Context, g *globals, target, namespace string) error {
	config, err := g.restConfig()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	list, err := client.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return unreachable(fmt.Errorf("listing events: %w", err))
	}
	only := reference{}
	if target != "" {
		if only, err = parseReference(target, namespace); err != nil {
			return err
		}
	}
	events := slices.DeleteFunc(list.Items, func(e corev1.Event) bool {
		if only.name != "" && (e.InvolvedObject.Kind != only.kind || e.InvolvedObject.Name != only.name) {
			return true
		}
		return !strings.Contains(e.InvolvedObject.APIVersion, ".fluxcd.io/")
	})
	slices.SortFunc(events, func(a, b corev1.Event) int { return a.LastTimestamp.Compare(b.LastTimestamp.Time) })
	w := tabwriter.NewWriter(g.io.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "LAST SEEN\tTYPE\tREASON\tOBJECT\tMESSAGE")
	for i := range events {
		e := &events[i]
		fmt.Fprintf(w, "%s\t%s\t%s\t%s/%s/%s\t%s\n", e.LastTimestamp.Format(time.RFC3339), e.Type, e.Reason,
			e.InvolvedObject.Kind, e.InvolvedObject.Namespace, e.InvolvedObject.Name, oneLine(e.Message))
	}
	return w.Flush()
}
