package operate

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
)

// NewSuspend is the command that suspends an object.
func NewSuspend(g *console.Globals) *cobra.Command {
	return newSwitch(g, "suspend", "Suspend a unit or a source", true)
}

// NewResume is the command that resumes one.
func NewResume(g *console.Globals) *cobra.Command {
	return newSwitch(g, "resume", "Resume a unit or a source", false)
}

func newSwitch(g *console.Globals, verb, title string, on bool) *cobra.Command {
	var namespace string
	cmd := &cobra.Command{
		Use:   verb + " KIND/NAME | " + verb + " KIND NAME | " + verb + " NAME",
		Short: title,
		Long: title + `, in these steps:

  1. find the object, in all namespaces without -n; a NAME alone is searched for among all kinds
  2. set spec.suspend, or the annotation of kinds without that field: for an Application
     argocd.argoproj.io/skip-reconcile`,
		Example:           "  headgate " + verb + " ks/apps\n  headgate " + verb + " git/flux-system\n  headgate " + verb + " app/guestbook",
		ValidArgsFunction: g.CompleteReference,
		Args:              cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := g.CheckTarget(console.Joined(args)); err != nil {
				return err
			}
			client, err := g.Client()
			if err != nil {
				return err
			}
			ref, err := g.Pick(cmd.Context(), client, console.Wanted{
				Target: console.Joined(args), Namespace: namespace, Verb: verb,
				Takes: func(k console.Served) bool { return switched(g, k.GroupKind(), on) != nil },
			})
			if ref.Kind != "" && switched(g, ref.GroupKind(), on) == nil {
				err = console.Hint(fmt.Errorf("%s: objects of this kind cannot be suspended", ref), "headgate %s KIND/NAME, of a unit", verb)
			}
			if err != nil {
				return err
			}
			return runSwitch(cmd.Context(), g, client, ref, on)
		},
	}
	cmd.Flags().StringVarP(&namespace, "namespace", "n", "", "namespace of the object; by default it is searched for in all")
	return cmd
}

func runSwitch(ctx context.Context, g *console.Globals, client dynamic.Interface, ref console.Reference, on bool) error {
	u, err := ref.Get(ctx, client)
	if err != nil {
		return err
	}
	if holds(u.Object, switched(g, ref.GroupKind(), true)) == on {
		_, err = fmt.Fprintf(g.IO.Out, "%s %s\n", ref, map[bool]string{true: "was already suspended", false: "was not suspended"}[on])
		return err
	}
	if err := console.Change(ctx, ref.Client(client), ref, switched(g, ref.GroupKind(), on)); err != nil {
		return err
	}
	word := "resumed"
	if on {
		word = "suspended"
	}
	_, err = fmt.Fprintf(g.IO.Out, "%s %s\n", ref, word)
	return err
}

// holds reports whether an object already has what a change sets. What the status says of it may be older.
func holds(object, change map[string]any) bool {
	for key, value := range change {
		below, further := value.(map[string]any)
		if !further {
			if object[key] != value {
				return false
			}
			continue
		}
		if inner, _ := object[key].(map[string]any); !holds(inner, below) {
			return false
		}
	}
	return true
}

// switched is the change by which an object is suspended or let move again; nil if it has none.
func switched(g *console.Globals, kind schema.GroupKind, on bool) map[string]any {
	if of, has := g.Of(kind).(dialect.Switching); has {
		return of.Switch(kind, on)
	}
	return map[string]any{"spec": map[string]any{"suspend": on}}
}
