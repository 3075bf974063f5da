package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

type getOptions struct {
	*globals
	kind, name, namespace, output string
	notReady                      bool
}

func newGet(g *globals) *cobra.Command {
	o := getOptions{globals: g}
	cmd := &cobra.Command{
		Use:   "get [all|KIND] [NAME]",
		Short: "List sources and units, and whether they are ready",
		Long: `List sources and units, in these steps:

  1. read the objects of the kind (ks, hr, git, oci, or all) from the cluster
  2. print them as a table, or as -o says`,
		Example: "  headgate get\n  headgate get ks apps -o yaml\n  headgate get --not-ready",
		Args:    cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && args[0] != "all" {
				o.kind = args[0]
			}
			if len(args) > 1 {
				o.name = args[1]
			}
			return runGet(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.namespace, "namespace", "n", "", "only this namespace (default: all)")
	f.StringVarP(&o.output, "output", "o", "", "json, yaml or name")
	f.BoolVar(&o.notReady, "not-ready", false, "only what is not ready; exit 1 when there is something")
	return cmd
}

func runGet(ctx context.Context, o getOptions) error {
	list, err := listServed(ctx, o)
	if err != nil {
		return err
	}
	if o.notReady {
		list = notReady(list)
	}
	if err := printObjects(o.io, o.output, list); err != nil {
		return err
	}
	if o.notReady && len(list) > 0 {
		return errNo
	}
	return nil
}

func listServed(ctx context.Context, o getOptions) ([]*unstructured.Unstructured, error) {
	kinds := servedKinds()
	if o.kind != "" {
		k, err := findKind(o.kind)
		if err != nil {
			return nil, err
		}
		kinds = []served{k}
	}
	client, err := o.client()
	if err != nil {
		return nil, err
	}
	var all []*unstructured.Unstructured
	for _, k := range kinds {
		list, err := client.Resource(k.resource).Namespace(o.namespace).List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) && o.kind == "" {
			// A cluster that another version was installed into.
			continue
		}
		if err != nil {
			return nil, unreachable(fmt.Errorf("listing %s: %w", k.resource.Resource, err))
		}
		for i := range list.Items {
			u := &list.Items[i]
			if o.name == "" || u.GetName() == o.name {
				all = append(all, u)
			}
		}
	}
	if o.name != "" && len(all) == 0 {
		return nil, hint(fmt.Errorf("there is no %s %q", o.kind, o.name), "headgate get all")
	}
	return all, nil
}

func notReady(list []*unstructured.Unstructured) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, u := range list {
		if ready, _, _ := condition(u, "Ready"); ready != "True" && !suspended(u) {
			out = append(out, u)
		}
	}
	return out
}
