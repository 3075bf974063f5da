package clouds

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/cloud"
)

type getOptions struct {
	*console.Globals
	kind, output string
	reads        bool
}

func newGet(g *console.Globals) *cobra.Command {
	o := getOptions{Globals: g}
	cmd := &cobra.Command{
		Use:   "get [KIND]",
		Short: "List what the simulated cloud has, or what was requested of it",
		Long: `List what the simulated cloud has, in these steps:

  1. find the cloud of the embedded cluster, or of the cluster of --kubeconfig
  2. print its objects of the kind (droplets, images, keys, ips, actions, faults, audit), or all but the audit log

The audit log has every request that changed something or met a fault; --reads adds all others since the process began.`,
		Example:   "  headgate cloud get\n  headgate cloud get droplets -o name\n  headgate cloud get audit",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: kindNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.kind = args[0]
			}
			return runGet(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "json, yaml or name")
	console.CompleteOutput(cmd, "json", "yaml", "name")
	cmd.Flags().BoolVar(&o.reads, "reads", false, "with audit: also requests that changed nothing")
	return cmd
}

func runGet(ctx context.Context, o getOptions) error {
	some := kinds()[:len(kinds())-1]
	if o.kind != "" {
		k, err := findKind(o.kind)
		if err != nil {
			return err
		}
		some = []kind{k}
	}
	e, err := locate(o.Globals)
	if err != nil {
		return err
	}
	shown := account{}
	if shown.Shown, err = e.Account(ctx); err != nil {
		return answered(err)
	}
	if o.kind != "" && some[0].name == auditKind {
		if shown.Audit, err = e.Audit(ctx); err != nil {
			return answered(err)
		}
		if !o.reads {
			shown.Audit = slices.DeleteFunc(shown.Audit, func(e cloud.Entry) bool { return !e.Done && len(e.Faults) == 0 })
		}
	}
	return o.print(some, shown)
}

// print prints objects in the format of -o.
func (o getOptions) print(some []kind, shown account) error {
	switch o.output {
	case "":
		return o.tables(some, shown)
	case "name":
		for _, k := range some {
			for _, row := range k.rows(shown) {
				fmt.Fprintln(o.IO.Out, k.name+"/"+row[0])
			}
		}
		return nil
	case "json", "yaml":
		var all any = shown.Shown
		if o.kind != "" {
			all = some[0].all(shown)
		}
		data, err := json.MarshalIndent(all, "", "  ")
		if err == nil && o.output == "yaml" {
			data, err = yaml.JSONToYAML(data)
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(o.IO.Out, strings.TrimRight(string(data), "\n"))
		return err
	}
	return fmt.Errorf("-o %q: use json, yaml or name", o.output)
}

// tables prints a table for each kind of which there is something; one that was requested always has its titles.
func (o getOptions) tables(some []kind, shown account) error {
	w := tabwriter.NewWriter(o.IO.Out, 0, 0, 2, ' ', 0)
	printed := false
	for _, k := range some {
		rows := k.rows(shown)
		if len(rows) == 0 && o.kind == "" {
			continue
		}
		if printed {
			fmt.Fprintln(w)
		}
		titles := k.titles
		if o.kind == "" {
			titles = append([]string{strings.ToUpper(k.name)}, k.titles[1:]...)
		}
		fmt.Fprintln(w, strings.Join(titles, "\t"))
		for _, row := range rows {
			fmt.Fprintln(w, strings.Join(row, "\t"))
		}
		printed = true
		if err := w.Flush(); err != nil {
			return err
		}
	}
	if !printed {
		fmt.Fprintln(o.IO.Out, "the account is empty")
	}
	return w.Flush()
}
