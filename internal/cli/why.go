package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

func newWhy(g *globals) *cobra.Command {
	var namespace string
	cmd := &cobra.Command{
		Use:   "why KIND/NAME",
		Short: "Show what something waits for, down to the cause",
		Long: `Show what something waits for, in these steps:

  1. read the unit or the source (NAME alone is a Kustomization), or find the units that hold the object
  2. print its state, and if it is not ready, continue with what it waits for: its source, its dependencies; for an
     Application of Argo CD its sync, its children, and its objects with their health
  3. name the unit that declares it, up to the root

The exit code is 1 if it is not ready.`,
		Example:           "  headgate why apps\n  headgate why ks/apps\n  headgate why app/guestbook\n  headgate why deployment/web -n shop",
		ValidArgsFunction: g.completeReference,
		Args:              cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := g.client()
			if err != nil {
				return err
			}
			w := &explainer{globals: g, client: client, seen: map[string]bool{}}
			return w.run(cmd.Context(), args[0], namespace)
		},
	}
	cmd.Flags().StringVarP(&namespace, "namespace", "n", defaultNamespace, "namespace of the object")
	return cmd
}

// explainer prints chains of waits.
type explainer struct {
	*globals
	client dynamic.Interface
	seen   map[string]bool
}

func (w *explainer) run(ctx context.Context, target, namespace string) error {
	ref, err := w.parseReference(target, namespace)
	if err != nil {
		return w.object(ctx, target, namespace)
	}
	ready, err := w.explain(ctx, ref, 0)
	if err != nil {
		return err
	}
	if !ready {
		return errNo
	}
	return nil
}

func (w *explainer) print(depth int, format string, args ...any) {
	fmt.Fprintf(w.io.Out, strings.Repeat("  ", depth)+format+"\n", args...)
}

// explain prints the state of a unit or source, and of what it waits for.
func (w *explainer) explain(ctx context.Context, ref reference, depth int) (bool, error) {
	if w.seen[ref.String()] {
		w.print(depth, "%s: see above", ref)
		return false, nil
	}
	w.seen[ref.String()] = true
	u, err := ref.get(ctx, w.client)
	if err != nil {
		if depth == 0 {
			return false, err
		}
		w.print(depth, "✗ %s does not exist", ref)
		return false, nil
	}
	ready := w.state(u, ref, depth)
	if !ready {
		w.causes(ctx, u, depth+1)
	}
	if depth == 0 {
		w.declared(ctx, u, ref)
	}
	return ready, nil
}

func (w *explainer) state(u *unstructured.Unstructured, ref reference, depth int) bool {
	s := w.catalogue.StateOf(u)
	since := s.Since
	if since != "" {
		since = ", since " + since
	}
	switch {
	case s.Suspended:
		w.print(depth, "· %s is suspended", ref)
	case s.Ready == "True":
		w.print(depth, "✓ %s is ready: %s", ref, oneLine(s.Message))
	case since == "":
		w.print(depth, "◌ %s has not been reconciled yet", ref)
	default:
		w.print(depth, "✗ %s is not ready (%s%s): %s", ref, s.Reason, since, oneLine(s.Message))
	}
	return s.Ready == "True"
}

// causes continues with what a unit, or a source that is taken from another, waits for.
func (w *explainer) causes(ctx context.Context, u *unstructured.Unstructured, depth int) {
	waits, err := w.needsOf(u)
	if err != nil {
		w.print(depth, "✗ %v", err)
	}
	for _, id := range waits {
		next, err := w.referenceTo(id)
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
	of, knows := w.of(groupKindOf(u)).(dialect.Causing)
	if !knows {
		return
	}
	told := 0
	for cause := range of.Causes(ctx, newSession(w.globals, w.client), u) {
		if told == maxCauses {
			kind, _ := w.findGroupKind(groupKindOf(u))
			w.print(depth, "and more: headgate tree %s/%s/%s --all", kind.aliases[0], u.GetNamespace(), u.GetName())
			return
		}
		if w.cause(ctx, cause, depth) {
			told++
		}
	}
}

// cause prints one reason, and tells whether it was one: a unit may be ready.
func (w *explainer) cause(ctx context.Context, cause dialect.Cause, depth int) bool {
	if cause.Unit == (engine.UnitID{}) {
		w.print(depth, "%s", cause.Text)
		return true
	}
	ref, err := w.referenceTo(cause.Unit)
	if err != nil {
		return false
	}
	u, err := ref.client(w.client).Get(ctx, ref.name, metav1.GetOptions{})
	if err == nil && w.catalogue.StateOf(u).Ready == "True" {
		return false
	}
	if _, err := w.explain(ctx, ref, depth); err != nil {
		w.print(depth, "✗ %v", err)
	}
	return true
}

// declared prints the units that declare an object, up to the root.
func (w *explainer) declared(ctx context.Context, u *unstructured.Unstructured, ref reference) {
	way := []string{ref.String()}
	for range 16 {
		owner, ok := w.ownerOf(u)
		if !ok {
			break
		}
		way = append(way, owner.String())
		next, err := owner.get(ctx, w.client)
		if err != nil {
			break
		}
		u = next
	}
	if len(way) > 1 {
		w.print(0, "declared by %s", strings.Join(way[1:], ", declared by "))
	}
}

// ownerOf is the unit that declares an object, by its labels.
func (g *globals) ownerOf(u *unstructured.Unstructured) (reference, bool) {
	for _, d := range g.catalogue {
		of, marks := d.(dialect.Owning)
		if !marks {
			continue
		}
		if id, owned := of.OwnerOf(u); owned {
			ref, err := g.referenceTo(id)
			return ref, err == nil
		}
	}
	labels := u.GetLabels()
	for _, kind := range g.unitKinds() {
		if name := labels[kind.resource.Group+"/name"]; name != "" {
			return reference{served: kind, namespace: labels[kind.resource.Group+"/namespace"], name: name}, true
		}
	}
	return reference{}, false
}

// object explains an object that is neither a unit nor a source: by the unit that holds it.
func (w *explainer) object(ctx context.Context, target, namespace string) error {
	kind, name, ok := strings.Cut(target, "/")
	if !ok {
		return fmt.Errorf("%q: want KIND/NAME", target)
	}
	list, err := w.listUnits(ctx, w.client)
	if err != nil {
		return err
	}
	for _, u := range list {
		for _, id := range w.catalogue.StateOf(u).Inventory {
			if strings.EqualFold(id.Kind, kind) && id.Name == name &&
				(id.Namespace == "" || namespace == defaultNamespace || id.Namespace == namespace) {
				return w.held(ctx, id, append([]engine.UnitID{idOf(u)}, w.holdingsOf(list).beside(u, id)...))
			}
		}
	}
	return hint(fmt.Errorf("no unit holds %s in namespace %q", target, namespace), "headgate tree --all")
}

// held explains an object by the units that hold it.
func (w *explainer) held(ctx context.Context, id engine.ObjectID, units []engine.UnitID) error {
	w.print(0, "%s is held by:", id)
	allReady := true
	for _, unit := range units {
		ref, err := w.referenceTo(unit)
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
		return errNo
	}
	return nil
}
