// Package operate has the commands by which people act on units: sync, suspend, resume, history, rollback, terminate. What that
// means for an object it asks the catalogue of dialects.
package operate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/progress"
)

type syncOptions struct {
	*console.Globals
	args                    []string
	namespace               string
	all, source, dependents bool
	force, reset            bool
	timeout                 time.Duration
	app                     operationOptions
}

// NewSync is the command that reconciles now.
func NewSync(g *console.Globals) *cobra.Command {
	o := syncOptions{Globals: g}
	cmd := &cobra.Command{
		Use:     "sync KIND/NAME | sync KIND NAME | sync NAME | sync KIND --all",
		Aliases: []string{"reconcile"},
		Short:   "Reconcile now, and wait for the result",
		Long: `Reconcile a unit (ks, hr), a source (git, oci, bucket, helm, chart), or an object
of image automation (imgrepo, imgpol, imgupd), in these steps:

  1. fetch the source of a unit or of a HelmChart, and first the source of that (unless
     --source=false), and wait for it
  2. fetch the object, or render and apply it again, ignoring caches, and wait for it
  3. with --dependents, do the same for what reads the source or depends on the unit, recursively

Each object is synced once, as soon as its predecessors are done; independent objects are
synced at the same time. A NAME alone, or without -n, is searched for in the whole cluster: of a Kustomization
and the HelmRelease of its name that it declares, it is the Kustomization. Suspended objects are skipped, and refused if
they are named. The exit code is 1 if a synced object is not ready afterwards.

For a named HelmRelease, --force runs an install or an upgrade once even if it is not due, and
--reset resets its failures, so that it is retried.

An Application of Argo CD (app) is fetched and compared; then an operation is written into it, as by the
argocd command, and followed to its end. The result of each object is printed. --force recreates objects
that cannot be changed.`,
		Example: `  headgate sync ks apps
  headgate sync git/flux-system --dependents
  headgate sync hr podinfo -n apps --force
  headgate sync ks --all
  headgate sync app guestbook --prune
  headgate sync app guestbook --resource apps:Deployment:web --dry-run`,
		ValidArgsFunction: g.CompleteReference,
		Args:              cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args = args
			if err := g.CheckTarget(console.Joined(args)); err != nil && !o.all {
				return err
			}
			return runSync(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.namespace, "namespace", "n", "", "namespace of the object; by default it is searched for in all")
	f.BoolVar(&o.all, "all", false, "every object of the kind, in every namespace")
	f.BoolVar(&o.source, "source", true, "fetch the source first")
	f.BoolVar(&o.source, "with-source", true, "")
	// It is how the flux command calls it.
	_ = f.MarkHidden("with-source")
	f.BoolVar(&o.dependents, "dependents", false, "then sync its dependents")
	f.BoolVar(&o.force, "force", false, "install or upgrade a HelmRelease once, even if not due; Application: recreate objects that cannot be changed")
	f.BoolVar(&o.reset, "reset", false, "reset the failures of a HelmRelease")
	o.app.bind(f)
	f.DurationVar(&o.timeout, "timeout", 5*time.Minute, "how long to wait")
	return cmd
}

func runSync(ctx context.Context, o syncOptions) error {
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("not ready after %s", o.timeout))
	defer cancel()
	client, err := o.Client()
	if err != nil {
		return err
	}
	refs, err := o.targets(ctx, client)
	of := o.operated(refs)
	if given := o.app.given(); of == nil && given != "" {
		return console.Hint(fmt.Errorf("%s is for Applications of Argo CD", given), "headgate sync app NAME %s", given)
	}
	if err != nil {
		return err
	}
	if of != nil {
		return runOperations(ctx, o, client, of, refs)
	}
	s := &syncer{syncOptions: o, client: client, session: console.NewSession(o.Globals, client), turns: map[engine.UnitID]*turn{}}
	if err := s.plan(ctx, refs); err != nil {
		return err
	}
	return s.run(ctx)
}

// syncer syncs objects, each when its turn comes.
type syncer struct {
	syncOptions
	client  dynamic.Interface
	session *console.Session
	turns   map[engine.UnitID]*turn
	graph   engine.Graph

	printing sync.Mutex
}

// turn is the pass of one object.
type turn struct {
	console.Reference
	object *unstructured.Unstructured
	// named is set when the object was requested, and is not here because of another.
	named bool
	ready bool
	// over is closed when the pass is.
	over chan struct{}
}

// run syncs what is planned.
func (s *syncer) run(ctx context.Context) error {
	inCycle := s.graph.InCycle()
	group, ctx := errgroup.WithContext(ctx)
	for id, t := range s.turns {
		before := slices.Clone(s.graph[id])
		if inCycle[id] != nil {
			// A cycle does not wait for itself.
			before = slices.DeleteFunc(before, func(other engine.UnitID) bool { return inCycle[other] != nil })
		}
		group.Go(func() error {
			defer close(t.over)
			for _, other := range before {
				select {
				case <-s.turns[other].over:
				case <-ctx.Done():
					return console.GaveUp(ctx, s.turns[other].Reference)
				}
			}
			return s.pass(ctx, t)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, t := range s.turns {
		if !t.ready {
			return console.ErrNo
		}
	}
	return nil
}

// pass requests a pass of one object, waits until it has been made, and prints what came of it.
func (s *syncer) pass(ctx context.Context, t *turn) error {
	if why := s.Catalogue.StateOf(t.object).Static; why != "" {
		t.ready = true
		return s.print("✓ %s is %s", t.Reference, why)
	}
	of, can := s.Of(t.GroupKind()).(dialect.Requested)
	if !can {
		return fmt.Errorf("%s: objects of kind %s cannot be synced", t.Reference, t.Kind)
	}
	request := &request{of: of, token: time.Now().UTC().Format(time.RFC3339Nano)}
	change := of.Request(request.token, dialect.RequestOptions{Force: t.named && s.force, Reset: t.named && s.reset})
	if err := console.Change(ctx, t.Client(s.client), t.Reference, change); err != nil {
		return err
	}
	u, err := s.session.Until(ctx, t.ID(), request)
	if err != nil {
		return err
	}
	state := s.Catalogue.StateOf(u)
	t.ready = state.Ready == "True"
	mark := "✓"
	if !t.ready {
		mark = "✗"
	}
	return s.print("%s %s %s", mark, t.Reference, console.OneLine(progress.Short(state.Message)))
}

// request is a pass that was requested.
type request struct {
	of    dialect.Requested
	token string
}

// Done reports whether it has been made.
func (r *request) Done(u *unstructured.Unstructured) bool { return r.of.Handled(u, r.token) }

func (s *syncer) print(format string, args ...any) error {
	s.printing.Lock()
	defer s.printing.Unlock()
	_, err := fmt.Fprintf(s.IO.Out, format+"\n", args...)
	return err
}

// targets are the references to what is requested.
func (o syncOptions) targets(ctx context.Context, client dynamic.Interface) ([]console.Reference, error) {
	switch {
	case o.all && len(o.args) > 1:
		return nil, console.Hint(errors.New("--all syncs every object of the kind; remove the name"), "headgate sync %s --all", o.args[0])
	case o.all:
		return o.allOf(ctx, client, o.args[0])
	}
	wanted := console.Wanted{Target: console.Joined(o.args), Namespace: o.namespace, Verb: "sync", Takes: func(k console.Served) bool { return !k.Static }}
	ref, err := o.Pick(ctx, client, wanted)
	if err == nil && ref.Static {
		return nil, fmt.Errorf("%s: objects of kind %s cannot be synced", ref, ref.Kind)
	}
	return []console.Reference{ref}, err
}

// allOf are the objects of a kind that are not suspended.
func (o syncOptions) allOf(ctx context.Context, client dynamic.Interface, name string) ([]console.Reference, error) {
	kind, err := o.FindKind(name)
	if err != nil {
		return nil, err
	}
	list, err := kind.List(ctx, client, metav1.NamespaceAll, false)
	if err != nil {
		return nil, err
	}
	if kind.Static {
		return nil, fmt.Errorf("objects of kind %s cannot be synced", kind.Kind)
	}
	var refs []console.Reference
	for _, u := range list {
		if !o.Catalogue.StateOf(u).Suspended {
			refs = append(refs, console.Reference{Served: kind, Namespace: u.GetNamespace(), Name: u.GetName()})
		}
	}
	return refs, nil
}
