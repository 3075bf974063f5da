// Package inspect has the commands that show something and change nothing: get, why, tree, graph, events, render, diff, health.
// What objects mean it asks the catalogue of dialects.
package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/cli/causes"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/progress"
)

type getOptions struct {
	*console.Globals
	kind, name, namespace, output string
	everywhere, notReady, bare    bool
	watch                         bool
	// labels is a selector of labels.
	labels string
	// kinds are several that were named.
	kinds []string
	// asked are the objects that were named; name is that of the only one.
	asked []asked
	// pkg is the name of a package.
	pkg string
	// category is a name of several kinds.
	category string
	// cluster is the name of the one that units deploy to; clusters are all.
	cluster  string
	clusters *console.Clusters
}

// getOutputs are the values of -o.
var getOutputs = []string{"json", "yaml", "name", "wide"}

// NewGet is the command that lists objects.
func NewGet(g *console.Globals) *cobra.Command {
	o := getOptions{Globals: g}
	cmd := &cobra.Command{
		Use:     "get [all|packages|secrets|KIND[,KIND]] [NAME...] | get KIND/NAME...",
		Aliases: []string{"status", "list"},
		Short:   "List sources and units, and whether they are ready",
		Long: `List sources and units, in these steps:

  1. read the objects of the kind (ks, hr, git, oci, bucket, helm, chart, imgrepo, imgpol,
     imgupd; images for the last three; app, appset, project; or all) from the cluster
  2. print them as a table with the columns of the flux or argocd command, or in the format of -o

The namespace is a column unless -n names one. When units deploy to several clusters, so is the cluster that what an object
declares is in.

"get packages" lists the Applications of packages of idpbuilder, with their health; "get secrets" prints the Secrets that
packages have for people, with their values: those with the label cnoe.io/cli-secret=true.`,
		Example:           "  headgate get\n  headgate get hr -n apps\n  headgate get ks apps -o yaml\n  headgate get ks/apps hr/podinfo\n  headgate get ks,hr -l team=web\n  headgate get apps\n  headgate get --not-ready\n  headgate get ks -o wide --watch\n  headgate get packages\n  headgate get secrets -p gitea",
		ValidArgsFunction: g.CompleteKind,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.choose(args); err != nil {
				return err
			}
			switch {
			case o.kind != "secrets" && o.output != "" && !slices.Contains(getOutputs, o.output):
				return console.UnknownOutput(o.output, getOutputs...)
			case o.kind == "packages":
				return getPackages(cmd.Context(), o)
			case o.kind == "secrets" && o.cluster != "":
				return console.Hint(errors.New("--cluster is for sources, units and packages"), "headgate get secrets")
			case o.kind == "secrets":
				return getSecrets(cmd.Context(), o)
			case o.pkg != "":
				return console.Hint(errors.New("-p is for packages and secrets"), "headgate get packages -p %s", o.pkg)
			}
			return runGet(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.namespace, "namespace", "n", "", "only this namespace")
	f.BoolVarP(&o.everywhere, "all-namespaces", "A", false, "all namespaces, as without -n")
	f.StringVarP(&o.output, "output", "o", "", "json, yaml, name, or wide for the age, the owner and the whole message; json or yaml for secrets")
	f.BoolVarP(&o.watch, "watch", "w", false, "after the table, print each object again when its line changes, until Ctrl-C")
	f.BoolVar(&o.bare, "no-headers", false, "leave out the first line of a table")
	f.StringVarP(&o.labels, "selector", "l", "", "only objects with these labels, as with kubectl")
	f.StringVarP(&o.pkg, "package", "p", "", "only this package, for packages and secrets")
	console.BindCluster(cmd, &o.cluster, "only objects of this cluster: units that deploy to it, by its name in the column CLUSTER")
	console.CompleteOutput(cmd, getOutputs...)
	f.BoolVar(&o.notReady, "not-ready", false, "only objects that are not ready; exit 1 if there are any")
	return cmd
}

func runGet(ctx context.Context, o getOptions) error {
	switch {
	case o.everywhere && o.namespace != "":
		return console.Hint(errors.New("-n and --all-namespaces are mutually exclusive"), "headgate get -A")
	case o.watch && (!o.tabular() || o.notReady):
		return console.Hint(errors.New("--watch prints the lines of a table, ready or not"), "headgate get --watch")
	}
	client, err := o.Client()
	if err != nil {
		return err
	}
	o.clusters = o.Clusters(ctx, client)
	if err := o.clusters.Check(o.cluster); err != nil {
		return err
	}
	list, err := listServed(ctx, o, client)
	if err != nil {
		return err
	}
	if o.notReady {
		list = unready(o.Globals, list)
	}
	if o.watch {
		return watchTable(ctx, o, client, list)
	}
	if o.tabular() {
		err = errors.Join(newTable(o, list).print(list), o.printCauses(ctx, client, list))
	} else {
		err = o.print(list)
	}
	if err != nil {
		return err
	}
	if o.notReady && len(list) > 0 {
		return console.ErrNo
	}
	return nil
}

// served are the kinds that are listed.
func (o getOptions) served() ([]console.Served, error) {
	kinds := o.Kinds(func(dialect.Kind) bool { return true })
	if o.category != "" {
		kinds = o.Kinds(func(k dialect.Kind) bool { return k.Category == o.category })
	}
	if o.kind != "" {
		if kinds = o.NamedKinds(o.kind); len(kinds) == 0 {
			_, err := o.FindKind(o.kind)
			return nil, console.Hint(err, "headgate get all, or kubectl get %s", o.kind)
		}
	}
	if len(o.kinds) > 0 {
		kinds = nil
	}
	for _, name := range o.kinds {
		named := o.NamedKinds(name)
		if len(named) == 0 {
			_, err := o.FindKind(name)
			return nil, err
		}
		kinds = append(kinds, named...)
	}
	return kinds, nil
}

// wanted reports whether an object is one that a person names.
func (o getOptions) wanted(u *unstructured.Unstructured, selector labels.Selector) bool {
	return o.names(u) && selector.Matches(labels.Set(u.GetLabels())) && (o.cluster == "" || o.clusters.Of(u) == o.cluster)
}

// tabular reports whether objects are printed as a table.
func (o getOptions) tabular() bool { return o.output == "" || o.output == "wide" }

func listServed(ctx context.Context, o getOptions, client dynamic.Interface) ([]*unstructured.Unstructured, error) {
	kinds, err := o.served()
	if err != nil {
		return nil, err
	}
	selector, err := labels.Parse(o.labels)
	if err != nil {
		return nil, console.Hint(fmt.Errorf("-l %q: %w", o.labels, err), "headgate get -l app=web")
	}
	var all []*unstructured.Unstructured
	var there []string
	for _, k := range kinds {
		list, err := k.List(ctx, client, o.namespace, len(kinds) > 1)
		if err != nil {
			return nil, err
		}
		for _, u := range list {
			there = append(there, u.GetName())
			if o.wanted(u, selector) {
				all = append(all, u)
			}
		}
	}
	if len(there) == 0 {
		where := "in the cluster"
		if o.namespace != "" {
			where = fmt.Sprintf("in namespace %q", o.namespace)
		}
		if err := console.CheckNamespace(ctx, client, o.namespace, "get all"); err != nil {
			return nil, err
		}
		if len(o.asked) == 0 {
			fmt.Fprintf(o.IO.Err, "· no %s %s\n", o.listed(), where)
		}
	}
	if err := o.missing(all, there); err != nil {
		return nil, err
	}
	return all, nil
}

// printCauses says below a table, where it is in no one's pipe, why some of its objects are not ready.
func (o getOptions) printCauses(ctx context.Context, client dynamic.Interface, list []*unstructured.Unstructured) error {
	if len(o.asked) > 0 || len(unready(o.Globals, list)) == 0 {
		return nil
	}
	states, err := causes.States(ctx, o.Globals, client)
	for i, line := range causes.Lines(states) {
		if i == 0 {
			fmt.Fprintln(o.IO.Err)
		}
		fmt.Fprintln(o.IO.Err, line)
	}
	return err
}

// print prints objects in a format; one that was named is no list.
func (o getOptions) print(list []*unstructured.Unstructured) error {
	if len(o.asked) == 1 && len(list) == 1 {
		return console.PrintObject(o.IO, o.output, list[0])
	}
	return console.PrintObjects(o.IO, o.output, list)
}

func unready(g *console.Globals, list []*unstructured.Unstructured) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, u := range list {
		if s := g.Catalogue.StateOf(u); s.Ready != "True" && !s.Suspended && !s.Manual && !g.IsStatic(u) {
			out = append(out, u)
		}
	}
	return out
}

// columns are those between the name of an object and whether it is ready.
type columns struct {
	*console.Globals
	titles []string
	// own is set where they are those of the kind, and not of any.
	own bool
	// whole columns stand for whether the object is ready, too.
	whole bool
}

// columnsOf are the columns of the kinds that a name stands for: those of the dialect, if the kinds that a list has share them, or those of any.
func columnsOf(g *console.Globals, name string, listed map[schema.GroupKind]bool) columns {
	every := columns{Globals: g, titles: []string{"REVISION", "SUSPENDED"}}
	c := columns{Globals: g, own: true}
	if kind, err := g.FindKind(name); err == nil && len(listed) == 0 {
		listed = map[schema.GroupKind]bool{kind.GroupKind(): true}
	}
	for _, kind := range g.NamedKinds(name) {
		if !listed[kind.GroupKind()] {
			continue
		}
		of, has := g.Of(kind.GroupKind()).(dialect.Tabular)
		if !has {
			return every
		}
		titles, whole := of.Columns(kind.GroupKind())
		if c.titles != nil && (whole != c.whole || !slices.Equal(titles, c.titles)) {
			return every
		}
		c.titles, c.whole = titles, whole
	}
	if len(c.titles) == 0 {
		return every
	}
	return c
}

// row are the values of an object.
func (c columns) row(u *unstructured.Unstructured) []string {
	kind := console.GroupKindOf(u)
	of, has := c.Of(kind).(dialect.Tabular)
	if c.own && has {
		// One that came since may have other columns.
		titles, _ := of.Columns(kind)
		has = slices.Equal(titles, c.titles)
	}
	if c.own && !has {
		return make([]string, len(c.titles))
	}
	if !c.own {
		s := c.Catalogue.StateOf(u)
		held := "False"
		if s.Suspended {
			held = "True"
		}
		return []string{progress.Short(s.Revision), held}
	}
	values := of.Row(u)
	for i, title := range c.titles {
		if title == "REVISION" || title == "MESSAGE" {
			values[i] = progress.Short(values[i])
		}
	}
	return values
}
