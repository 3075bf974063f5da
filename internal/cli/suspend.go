package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/dialect"
)

func newSuspend(g *globals) *cobra.Command {
	return newSwitch(g, "suspend", "Suspend a unit or a source", true)
}

func newResume(g *globals) *cobra.Command {
	return newSwitch(g, "resume", "Resume a unit or a source", false)
}

func newSwitch(g *globals, verb, title string, on bool) *cobra.Command {
	var namespace string
	cmd := &cobra.Command{
		Use:   verb + " KIND/NAME | " + verb + " KIND NAME",
		Short: title,
		Long: title + `, in these steps:

  1. find the object (NAME alone is a Kustomization)
  2. set spec.suspend, or the annotation of kinds without that field: for an Application
     argocd.argoproj.io/skip-reconcile`,
		Example:           "  headgate " + verb + " ks/apps\n  headgate " + verb + " git/flux-system\n  headgate " + verb + " app/guestbook",
		ValidArgsFunction: g.completeReference,
		Args:              cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			ref, err := g.parseReference(strings.Join(args, "/"), namespace)
			if err == nil && g.switched(ref, on) == nil {
				err = hint(fmt.Errorf("%s: objects of this kind cannot be suspended", ref), "headgate %s KIND/NAME, of a unit", verb)
			}
			if err != nil {
				return err
			}
			return runSwitch(cmd.Context(), g, ref, on)
		},
	}
	cmd.Flags().StringVarP(&namespace, "namespace", "n", defaultNamespace, "namespace of the object")
	return cmd
}

func runSwitch(ctx context.Context, g *globals, ref reference, on bool) error {
	client, err := g.client()
	if err != nil {
		return err
	}
	if err := patch(ctx, ref.client(client), ref, g.switched(ref, on)); err != nil {
		return err
	}
	word := "resumed"
	if on {
		word = "suspended"
	}
	_, err = fmt.Fprintf(g.io.Out, "%s %s\n", ref, word)
	return err
}

// switched is the change by which an object is suspended or let move again; nil if it has none.
func (g *globals) switched(ref reference, on bool) map[string]any {
	if of, has := g.of(ref.groupKind()).(dialect.Switching); has {
		return of.Switch(ref.groupKind(), on)
	}
	return map[string]any{"spec": map[string]any{"suspend": on}}
}

// patch merges a change into an object.
func patch(ctx context.Context, client dynamic.ResourceInterface, ref reference, change map[string]any) error {
	data, err := json.Marshal(change)
	if err != nil {
		return fmt.Errorf("encoding: %w", err)
	}
	_, err = client.Patch(ctx, ref.name, types.MergePatchType, data, metav1.PatchOptions{FieldManager: "headgate"})
	if err != nil {
		return unreachable(hint(fmt.Errorf("updating %s: %w", ref, err), "headgate get all"))
	}
	return nil
}
