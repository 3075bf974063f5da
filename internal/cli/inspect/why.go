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
	var namespace, cluster string
	cmd := &cobra.Command{
		Use:     "why KIND/NAME | why KIND NAME | why NAME",
		Aliases: []string{"describe", "explain"},
		Short:   "Show what something waits for, down to the cause",
		Long: `Show what something waits for, in these steps:

  1. read the unit or the source (NAME alone is a Kustomization, or else whatever has that name; package/NAME the object of a package), or find the
     units that hold the object, by its kind or the short name that kubectl has for it
  2. print its state, and if it is not ready, continue with what it waits for: its source, its dependencies; for an
     Application of Argo CD its sync, its children, and its objects with their health
  3. continue with the workloads of a unit that is not ready: ReplicaSets, Pods and claims, what they say and the events about them, and the
     file and line that declare them, where an embedded cluster serves a directory of this machine
  4. name the unit that declares it, up to the root

When units deploy to several clusters, each unit is shown with the one that it deploys to ("→ NAME"). An object that is in
more than one of them is chosen by --cluster.

The exit code is 1 if it is not ready.`,
		Example:           "  headgate why apps\n  headgate why ks/apps\n  headgate why app/guestbook\n  headgate why package/shop\n  headgate why deploy/web -n shop\n  headgate why web\n  headgate why pod/web-7d9c-x2x8z -n shop\n  headgate why Deployment/backstage/web --cluster dev-vcluster",
		ValidArgsFunction: g.CompleteObject,
		Args:              cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := g.Client()
			if err != nil {
				return err
			}
			w := &explainer{Globals: g, client: client, clusters: g.Clusters(cmd.Context(), client), cluster: cluster, seen: map[string]bool{}, below: map[string]*below.Reader{}}
			if err := w.clusters.Check(cluster); err != nil {
				return err
			}
			target := console.Joined(args)
			if strings.HasPrefix(target, packagePrefix) {
				if target, namespace, err = packageTarget(cmd.Context(), g, client, target); err != nil {
					return err
				}
			}
			return w.run(cmd.Context(), target, namespace)
		},
	}
	cmd.Flags().StringVarP(&namespace, "namespace", "n", console.DefaultNamespace, "namespace of the object")
	console.BindCluster(cmd, &cluster, "the cluster that the object is in, or that the unit deploys to")
	return cmd
}

// explainer prints chains of waits.
type explainer struct {
	*console.Globals
	client   dynamic.Interface
	clusters *console.Clusters
	// cluster is the name of the one that was chosen.
	cluster string
	seen    map[string]bool
	// below reads what the workloads of a unit bring about, by the name of the cluster that they are in.
	below map[string]*below.Reader
	// narrow is set when one object of a unit is explained, and not all of them.
	narrow bool
	// files is where the objects of the working copy are written, once it has been read.
	files *lint.Index
}

func (w *explainer) run(ctx context.Context, target, namespace string) error {
	ref, err := w.ParseReference(target, namespace)
	if err != nil {
		return w.object(ctx, target, namespace)
	}
	ready, err := w.explain(ctx, ref, 0)
	if apierrors.IsNotFound(err) {
		if strings.Contains(target, "/") {
			return ref.Absent(ctx, w.client, "why", err)
		}
		named, held, failed := w.Named(ctx, w.client, target, namespace, "why")
		if failed != nil {
			return failed
		}
		if named == nil {
			return w.object(ctx, held, namespace)
		}
		ready, err = w.explain(ctx, *named, 0)
	}
	if err != nil {
		return err
	}
	if !ready {
		return console.ErrNo
	}
	return nil
}

func (w *explainer) print(depth int, format string, args ...any) {
	fmt.Fprintf(w.IO.Out, strings.Repeat("  ", depth)+format+"\n", args...)
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
		w.print(depth, "✗ %s does not exist", ref)
		return false, nil
	}
	if at := w.clusters.Of(u); depth == 0 && w.cluster != "" && at != w.cluster {
		return false, console.Hint(fmt.Errorf("%s is for cluster %s, not for %s", ref, at, w.cluster), "headgate why %s --cluster %s", ref, at)
	}
	ready := w.state(u, ref, depth)
	if !ready {
		w.causes(ctx, u, depth+1)
		w.workloads(ctx, u, depth+1)
	}
	if depth == 0 {
		w.declared(ctx, u, ref)
	}
	return ready, nil
}

func (w *explainer) state(u *unstructured.Unstructured, at console.Reference, depth int) bool {
	s, ref := w.Catalogue.StateOf(u), at.String()+w.leadsTo(u)
	since := s.Since
	if since != "" {
		since = ", since " + since
	}
	switch {
	case s.Suspended:
		w.print(depth, "· %s is suspended", ref)
	case s.Ready == "True":
		w.print(depth, "✓ %s is ready: %s", ref, console.OneLine(s.Message))
	case since == "" && s.Reason == "Unknown":
		w.print(depth, "◌ %s has not been reconciled yet", ref)
	default:
		w.print(depth, "✗ %s is not ready (%s%s): %s", ref, s.Reason, since, console.OneLine(s.Message))
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

// cause prints one reason, and tells whether it was one: a unit may be ready.
func (w *explainer) cause(ctx context.Context, cause dialect.Cause, depth int) bool {
	if cause.Unit == (engine.UnitID{}) {
		w.print(depth, "%s%s", cause.Text, w.written(ctx, cause.Object))
		return true
	}
	ref, err := w.ReferenceTo(cause.Unit)
	if err != nil {
		return false
	}
	u, err := ref.Client(w.client).Get(ctx, ref.Name, metav1.GetOptions{})
	if err == nil && w.Catalogue.StateOf(u).Ready == "True" {
		return false
	}
	if _, err := w.explain(ctx, ref, depth); err != nil {
		w.print(depth, "✗ %v", err)
	}
	return true
}

// declared prints the units that declare an object, up to the root.
func (w *explainer) declared(ctx context.Context, u *unstructured.Unstructured, ref console.Reference) {
	way := []string{ref.String()}
	for range 16 {
		owner, ok := w.OwnerOf(u)
		if !ok {
			break
		}
		way = append(way, owner.String())
		next, err := owner.Get(ctx, w.client)
		if err != nil {
			break
		}
		u = next
	}
	if len(way) > 1 {
		w.print(0, "declared by %s", strings.Join(way[1:], ", declared by "))
	}
}

// object explains an object that is neither a unit nor a source: by the unit that holds it.
func (w *explainer) object(ctx context.Context, target, namespace string) error {
	sought, err := console.Seek(target, namespace, w.cluster)
	if err != nil {
		return err
	}
	list, err := w.ListUnits(ctx, w.client)
	if err != nil {
		return err
	}
	found, err := w.Locate(w.clusters, list, sought, "why")
	if err != nil {
		return w.broughtAbout(ctx, sought, list, err)
	}
	w.one(ctx, found.Unit, found.ID)
	units := append([]engine.UnitID{console.IdOf(found.Unit)}, holdingsOf(w.Globals, list).beside(found.Unit, found.ID)...)
	where := ""
	if w.clusters.Several(list) {
		where = " in " + found.Cluster
	}
	return w.held(ctx, found.ID.String()+where, units)
}

// held explains an object by the units that hold it.
func (w *explainer) held(ctx context.Context, object string, units []engine.UnitID) error {
	w.print(0, "%s is held by:", object)
	w.narrow = true
	allReady := true
	for _, unit := range units {
		ref, err := w.ReferenceTo(unit)
		if err != nil {
			return err
		}
		ready, err := w.explain(ctx, ref, 0)
		if err != nil {
			return err
		}
		allReady = allReady && ready
	}
	if !allReady {
		return console.ErrNo
	}
	return nil
}
