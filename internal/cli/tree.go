package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/progress"
)

func newTree(g *globals) *cobra.Command {
	var namespace string
	var all bool
	cmd := &cobra.Command{
		Use:   "tree [NAME]",
		Short: "Show what a unit holds, and the units below it",
		Long: `Show what a unit holds, in these steps:

  1. read the unit (by default the root, flux-system/flux-system)
  2. print the objects of its inventory; a Kustomization among them is gone into`,
		Example: "  headgate tree\n  headgate tree apps\n  headgate tree --all",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := defaultNamespace
			if len(args) > 0 {
				name = args[0]
			}
			ref, err := parseReference(name, namespace)
			if err != nil {
				return err
			}
			client, err := g.client()
			if err != nil {
				return err
			}
			return printTree(cmd.Context(), g.io, client, ref, all)
		},
	}
	cmd.Flags().StringVarP(&namespace, "namespace", "n", defaultNamespace, "namespace of the unit")
	cmd.Flags().BoolVar(&all, "all", false, "list the objects of the units below too")
	return cmd
}

func printTree(ctx context.Context, streams IO, client dynamic.Interface, ref reference, all bool) error {
	u, err := ref.get(ctx, client)
	if err != nil {
		return err
	}
	fmt.Fprintln(streams.Out, ref.String()+"  "+mark(u))
	t := &treePrinter{io: streams, client: client, all: all, seen: map[string]bool{ref.String(): true}}
	t.children(ctx, u, "", true)
	return nil
}

type treePrinter struct {
	io     IO
	client dynamic.Interface
	all    bool
	seen   map[string]bool
}

func mark(u *unstructured.Unstructured) string {
	switch status, reason, _ := condition(u, "Ready"); {
	case suspended(u):
		return "suspended"
	case status == "True":
		return "✓ " + progress.Short(revision(u))
	default:
		return "✗ " + reason
	}
}

func (t *treePrinter) children(ctx context.Context, u *unstructured.Unstructured, indent string, list bool) {
	ids := inventory(u)
	if !list && !t.all {
		ids = slices.DeleteFunc(ids, func(id engine.ObjectID) bool { return id.Kind != "Kustomization" })
	}
	for i, id := range ids {
		branch, next := "├── ", indent+"│   "
		if i == len(ids)-1 {
			branch, next = "└── ", indent+"    "
		}
		child := reference{served: kustomizationServed, namespace: id.Namespace, name: id.Name}
		if id.Kind != "Kustomization" || !strings.Contains(id.Group, "fluxcd") || t.seen[child.String()] {
			fmt.Fprintln(t.io.Out, indent+branch+id.String())
			continue
		}
		t.seen[child.String()] = true
		below, err := child.get(ctx, t.client)
		if err != nil {
			fmt.Fprintln(t.io.Out, indent+branch+id.String()+"  ✗ missing")
			continue
		}
		fmt.Fprintln(t.io.Out, indent+branch+id.String()+"  "+mark(below))
		t.children(ctx, below, next, false)
	}
}

// inventory is what a Kustomization holds.
func inventory(u *unstructured.Unstructured) []engine.ObjectID {
	entries, _, _ := unstructured.NestedSlice(u.Object, "status", "inventory", "entries")
	var ids []engine.ObjectID
	for _, item := range entries {
		entry, _ := item.(map[string]any)
		encoded, _ := entry["id"].(string)
		if id, err := engine.DecodeID(encoded); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}
