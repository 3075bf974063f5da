package inspect

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/cli/below"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/lint"
)

// NewWhy is the command that explains what is waited for.
func NewWhy(g *console.Globals) *cobra.Command {
	var cluster, output string
	cmd := &cobra.Command{
		Use:     "why KIND/NAME | why KIND NAME | why NAME | why NAMESPACE/NAME",
		Aliases: []string{"describe", "explain"},
		Short:   "Show what something waits for, down to the cause",
		Long: `Show what something waits for, in these steps:

  1. read the unit or the source (NAME alone is whatever has that name; of a Kustomization and the HelmRelease that it declares, the Kustomization; package/NAME the object of a package), or find the
     units that hold the object, by its kind or the short name that kubectl has for it; of an object that no unit holds, those whose operation
     or message names it
  2. print its state, and if it is not ready, continue with what it waits for: its source, its dependencies, and the units among its objects;
     for an Application of Argo CD its sync, its children, and its objects with their health
  3. continue with the workloads of a unit that is not ready: ReplicaSets, Pods and claims, what they say and the events about them
  4. name the unit that declares it, up to the root

Where an embedded cluster serves a directory of this machine, the file and line that declare each of them are named.

When units deploy to several clusters, each unit is shown with the one that it deploys to ("→ NAME"). An object that is in
more than one of them is chosen by --cluster.

The exit code is 1 if it is not ready, or if the object is not healthy although its unit is ready.`,
		Example:           "  headgate why apps\n  headgate why ks/apps\n  headgate why app/guestbook\n  headgate why package/shop\n  headgate why deploy/web -n shop\n  headgate why web\n  headgate why web-7d9c-x2x8z\n  headgate why shop/web\n  headgate why Deployment/backstage/web --cluster dev-vcluster\n  headgate why apps -o json",
		ValidArgsFunction: g.CompleteObject,
		Args:              cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := console.CheckOutput(output, "json", "yaml"); err != nil {
				return err
			}
			client, err := g.Client()
			if err != nil {
				return err
			}
			w := &explainer{Globals: g, output: output, client: client, clusters: g.Clusters(cmd.Context(), client), cluster: cluster, namespace: console.GivenNamespace(cmd), seen: map[string]bool{}, below: map[string]*below.Reader{}}
			if err := w.clusters.Check(cluster); err != nil {
				return err
			}
			target := console.Joined(args)
			if strings.HasPrefix(target, packagePrefix) {
				if target, w.namespace, err = packageTarget(cmd.Context(), g, client, target); err != nil {
					return err
				}
			}
			return w.run(cmd.Context(), target)
		},
	}
	cmd.Flags().StringP("namespace", "n", "", "namespace of the object; by default it is searched for in all")
	console.BindCluster(cmd, &cluster, "the cluster that the object is in, or that the unit deploys to")
	cmd.Flags().StringVarP(&output, "output", "o", "", "json or yaml")
	console.CompleteOutput(cmd, "json", "yaml")
	return cmd
}

// explainer prints chains of waits.
type explainer struct {
	*console.Globals
	client   dynamic.Interface
	clusters *console.Clusters
	// cluster is the name of the one that was chosen.
	cluster string
	// namespace is the one that was given; empty for any.
	namespace string
	seen      map[string]bool
	// below reads what the workloads of a unit bring about, by the name of the cluster that they are in.
	below map[string]*below.Reader
	// narrow is set when one object of a unit is explained, and not all of them.
	narrow bool
	// files is where the objects of the working copy are written, once it has been read.
	files *lint.Index
	// try is the command that helps, where a unit has said what is wrong in a file.
	try string
	// output is how the answer is written; it is gathered in chain unless that is text.
	output string
	chain  chain
}

func (w *explainer) print(depth int, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if w.output != "" {
		w.chain.add(depth, text)
		return
	}
	fmt.Fprintln(w.IO.Out, strings.Repeat("  ", depth)+text)
}

// explain prints the state of a unit or source, and of what it waits for.
func (w *explainer) explain(ctx context.Context, ref console.Reference, depth int) (bool, error) {
	if w.seen[ref.String()] {
		w.print(depth, "%s: see above", ref)
		return false, nil
	}
	w.seen[ref.String()] = true
	u, err := ref.Get(ctx, w.client)
	if err != nil {
		if depth == 0 {
			return false, err
		}
		text := ref.String() + " does not exist"
		if !apierrors.IsNotFound(err) || console.Unserved(err) {
			text = console.OneLine(err.Error())
		}
		w.print(depth, "✗ %s", text)
		return false, nil
	}
	if at := w.clusters.Of(u); depth == 0 && w.cluster != "" && at != w.cluster {
		return false, console.Hint(fmt.Errorf("%s is for cluster %s, not for %s", ref, at, w.cluster), "headgate why %s --cluster %s", ref, at)
	}
	ready := w.state(ctx, u, ref, depth)
	if !ready {
		w.causes(ctx, u, depth+1)
		w.workloads(ctx, u, depth+1)
		w.failedAt(ctx, u, depth+1)
	}
	if depth == 0 {
		w.declared(ctx, u)
	}
	return ready, nil
}

func (w *explainer) state(ctx context.Context, u *unstructured.Unstructured, at console.Reference, depth int) bool {
	s, ref := w.Catalogue.StateOf(u), at.String()+w.leadsTo(u)
	if s.Ready != "True" || depth == 0 {
		ref += w.declaredAt(ctx, u)
	}
	since := s.Since
	if since != "" {
		since = ", since " + since
	}
	switch {
	case s.Suspended:
		w.print(depth, "· %s is suspended", ref)
	case s.Ready == "True":
		w.print(depth, "✓ %s is ready: %s", ref, console.OneLine(s.Message))
	case s.Manual:
		w.print(depth, "· %s is not synced automatically (%s%s): %s; try: headgate sync %s/%s -n %s", ref, s.Reason, since, console.OneLine(s.Message), at.Aliases[0], at.Name, at.Namespace)
	case since == "" && s.Reason == "Unknown":
		w.print(depth, "◌ %s has not been reconciled yet", ref)
	default:
		w.print(depth, "✗ %s is not ready (%s%s): %s", ref, s.Reason, since, console.OneLine(s.Message))
		w.advise(ctx, s)
	}
	return s.Ready == "True"
}

// leadsTo names the cluster that a unit deploys to, when there are several.
func (w *explainer) leadsTo(u *unstructured.Unstructured) string {
	if !w.Catalogue.IsUnit(engine.IDOf(u)) || !w.clusters.Several([]*unstructured.Unstructured{u}) {
		return ""
	}
	return " → " + w.clusters.Of(u)
}

// causes continues with what a unit, or a source that is taken from another, waits for.
func (w *explainer) causes(ctx context.Context, u *unstructured.Unstructured, depth int) {
	waits, err := w.NeedsOf(u)
	if err != nil {
		w.print(depth, "✗ %v", err)
	}
	for _, id := range waits {
		next, err := w.ReferenceTo(id)
		if err != nil {
			// Nothing here knows its kind.
			continue
		}
		if _, err := w.explain(ctx, next, depth); err != nil {
			w.print(depth, "✗ %v", err)
		}
	}
	w.dependencies(ctx, u, depth)
	w.moreCauses(ctx, u, depth)
}

// maxCauses bounds how many reasons of one unit are printed.
const maxCauses = 10

// moreCauses continues with what the dialect knows beside that.
func (w *explainer) moreCauses(ctx context.Context, u *unstructured.Unstructured, depth int) {
	of, knows := w.Of(console.GroupKindOf(u)).(dialect.Causing)
	if !knows {
		return
	}
	told := 0
	for cause := range of.Causes(ctx, console.NewSession(w.Globals, w.client), u) {
		if told == maxCauses {
			kind, _ := w.FindGroupKind(console.GroupKindOf(u))
			w.print(depth, "and more: headgate tree %s/%s/%s --all", kind.Aliases[0], u.GetNamespace(), u.GetName())
			return
		}
		if w.cause(ctx, cause, depth) {
			told++
			w.beneath(ctx, u, cause.Object, depth+1)
		}
	}
}

// cause prints one reason, and reports whether it was one: a unit may be ready.
func (w *explainer) cause(ctx context.Context, cause dialect.Cause, depth int) bool {
	if cause.Unit == (engine.UnitID{}) {
		w.print(depth, "%s%s", cause.Text, w.writtenField(ctx, cause.Object, refusedField(cause.Text)))
		return true
	}
	ref, err := w.ReferenceTo(cause.Unit)
	if err != nil {
		return false
	}
	u, err := ref.Client(w.client).Get(ctx, ref.Name, metav1.GetOptions{})
	if s := w.Catalogue.StateOf; err == nil && (s(u).Ready == "True" || s(u).Manual) {
		return false
	}
	if _, err := w.explain(ctx, ref, depth); err != nil {
		w.print(depth, "✗ %v", err)
	}
	return true
}

// declared prints the units that declare an object, up to the root.
func (w *explainer) declared(ctx context.Context, u *unstructured.Unstructured) {
	var way []string
	for range 16 {
		owner, ok := w.OwnerOf(u)
		if !ok {
			break
		}
		next, err := owner.Get(ctx, w.client)
		if err != nil {
			way = append(way, owner.String())
			break
		}
		way = append(way, owner.String()+w.declaredAt(ctx, next))
		u = next
	}
	if len(way) > 0 {
		w.print(0, "declared by %s", strings.Join(way, ", declared by "))
	}
}
