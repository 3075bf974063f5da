package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

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
	// judge says how healthy objects are; it is made when it is first asked.
	judge  *liveJudge
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
	status, reason, message := readiness(u)
	since := transition(u)
	if since != "" {
		since = ", since " + since
	}
	switch {
	case suspended(u):
		w.print(depth, "· %s is suspended", ref)
	case status == "True":
		w.print(depth, "✓ %s is ready: %s", ref, oneLine(message))
	case since == "":
		w.print(depth, "◌ %s has not been reconciled yet", ref)
	default:
		w.print(depth, "✗ %s is not ready (%s%s): %s", ref, reason, since, oneLine(message))
	}
	return status == "True"
}

func transition(u *unstructured.Unstructured) string {
	if isApplication(u) {
		return appSince(u)
	}
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, item := range list {
		if c, _ := item.(map[string]any); c["type"] == "Ready" {
			t, _ := c["lastTransitionTime"].(string)
			return t
		}
	}
	return ""
}

// causes continues with what a unit, or a source that is taken from another, waits for.
func (w *explainer) causes(ctx context.Context, u *unstructured.Unstructured, depth int) {
	waits, err := w.needsOf(u)
	if err != nil {
		w.print(depth, "✗ %v", err)
	}
	if isApplication(u) {
		defer w.appCauses(ctx, u, depth)
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
	if ref, ok := g.argoOwner(u); ok {
		return ref, true
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
		for _, id := range inventory(u) {
			if strings.EqualFold(id.Kind, kind) && id.Name == name &&
				(id.Namespace == "" || namespace == defaultNamespace || id.Namespace == namespace) {
				return w.held(ctx, id, append([]engine.UnitID{idOf(u)}, holdingsOf(list).beside(u, id)...))
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
