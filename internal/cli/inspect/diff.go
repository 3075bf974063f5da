package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/offline"
)

// NewDiff is the command that compares a repository with a cluster.
func NewDiff(g *console.Globals) *cobra.Command {
	o := console.OfflineOptions{Globals: g}
	cmd := &cobra.Command{
		Use:   "diff PATH [KIND/NAME] | diff PATH KIND NAME | diff app NAME",
		Short: "Compare what a repository declares with the cluster",
		Long: `Compare a repository with the cluster, in these steps:

  1. render the units of PATH as "headgate render" does: of HelmReleases only a named one, or with
     --charts all of them, for the version and the kinds of the cluster, as an upgrade of the existing release
  2. apply each object with a server-side dry run, and compare the result with the live object
  3. list objects in inventories that are no longer declared

With "app NAME" instead of PATH, an Application of Argo CD in the cluster is compared with the current state of its sources:
what a sync would change. Fields that it ignores are not compared.

Values of Secrets are masked. Hooks of charts are skipped, and lookup returns nothing. Controllers of Flux and Argo CD that the
repository declares are left out where Headgate serves instead: an engine does not apply them. -n selects the units of a namespace. The
exit code is 1 if there is a difference.`,
		Example:           "  headgate diff .\n  headgate diff . ks/apps\n  headgate diff . hr/podinfo -n apps\n  headgate diff app guestbook\n  headgate diff . app/guestbook",
		ValidArgsFunction: o.CompleteRepository,
		Args:              cobra.RangeArgs(1, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			if ref, live := liveUnit(o.Globals, args, o.Namespace); live {
				return runDiff(cmd.Context(), o, &ref)
			}
			o.Aim(args)
			o.Within = cmd.Flags().Changed("namespace")
			return runDiff(cmd.Context(), o, nil)
		},
	}
	console.BindOffline(cmd, &o)
	console.BindCharts(cmd, &o)
	return cmd
}

// runDiff compares a directory, or an Application of the cluster, with the cluster.
func runDiff(ctx context.Context, o console.OfflineOptions, live *console.Reference) error {
	d, err := newDiffer(o.Globals)
	if err != nil {
		return err
	}
	o.Cluster = d.seen
	if err := diffRepository(ctx, o, d, live); err != nil {
		return err
	}
	d.tellLeft()
	if d.different {
		return console.ErrNo
	}
	_, err = fmt.Fprintf(o.IO.Err, "no differences in %s\n", console.Counted(d.compared, "object"))
	return err
}

func diffRepository(ctx context.Context, o console.OfflineOptions, d *differ, live *console.Reference) error {
	o.Masks = true
	if live != nil {
		return diffLive(ctx, o, d, *live)
	}
	w, err := o.Walk(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	units, err := o.Selected(w)
	if err != nil {
		return err
	}
	d.different = o.TellBroken(w) || d.different
	return d.units(ctx, units)
}

// diffLive compares a unit of the cluster with what its sources hold now.
func diffLive(ctx context.Context, o console.OfflineOptions, d *differ, ref console.Reference) error {
	ref, err := ref.Settle(ctx, d.client)
	if err != nil {
		return err
	}
	u, err := ref.Get(ctx, d.client)
	if err != nil {
		return err
	}
	config, err := o.RestConfig()
	if err != nil {
		return err
	}
	o.Only, o.Alone = ref.Kind+"/"+ref.Namespace+"/"+ref.Name, true
	r, err := o.Repository(ctx, console.Place{Layout: offline.Layout{Repository: workingCopy(ctx, d.Globals, d.client)}, Objects: []*unstructured.Unstructured{u}})
	if err != nil {
		return err
	}
	if r.Rewrites, err = o.Local.Start(ctx, r.Rewrites); err != nil {
		return err
	}
	defer func() { _ = o.Local.Stop(ctx) }()
	of, _ := o.Catalogue.Of(ref.GroupKind())
	w, err := offline.Again(ctx, of.(dialect.Live), r, config)
	if err != nil {
		return console.Unreachable(err)
	}
	defer w.Close()
	return d.units(ctx, w.Units)
}

// liveUnit is the unit of the cluster that a diff is about; false when it names a directory, or a unit that is compared with a
// repository alone.
func liveUnit(g *console.Globals, args []string, namespace string) (console.Reference, bool) {
	if _, err := os.Stat(args[0]); !errors.Is(err, fs.ErrNotExist) {
		return console.Reference{}, false
	}
	ref, err := g.ParseReference(strings.Join(args, "/"), namespace)
	if err != nil || len(args) == 1 && !strings.Contains(args[0], "/") {
		return ref, false
	}
	of, _ := g.Catalogue.Of(ref.GroupKind())
	_, can := of.(dialect.Live)
	ref = ref.Loose(len(args) == 1 && strings.Count(args[0], "/") == 1 || len(args) == 2 && !strings.Contains(args[1], "/"))
	return ref, can && ref.Unit
}

// differ compares objects by dry runs.
type differ struct {
	*console.Globals
	client dynamic.Interface
	mapper meta.RESTMapper
	// seen is what charts see of the cluster.
	seen      dialect.Seen
	different bool
	// compared counts the objects that are on the cluster.
	compared int
	// replaced knows the objects that an engine does not apply, and left are those that were left out as such, by the reason.
	replaced dialect.Replaced
	left     map[string][]string
}

func newDiffer(g *console.Globals) (*differ, error) {
	config, err := g.RestConfig()
	if err != nil {
		return nil, err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	disc, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	version, err := disc.ServerVersion()
	if err != nil {
		return nil, console.Unreachable(fmt.Errorf("getting the version of the cluster: %w", err))
	}
	groups, err := restmapper.GetAPIGroupResources(disc)
	if err != nil {
		return nil, console.Unreachable(fmt.Errorf("discovering the kinds of the cluster: %w", err))
	}
	d := &differ{Globals: g, client: client, mapper: restmapper.NewDiscoveryRESTMapper(groups), left: map[string][]string{}}
	if d.replaced, err = g.Catalogue.All().Replaced(); err != nil {
		return nil, err
	}
	d.seen = dialect.Seen{KubeVersion: version.GitVersion, APIVersions: servedVersions(groups), Has: d}
	return d, nil
}

func (d *differ) print(format string, args ...any) {
	d.different = true
	fmt.Fprintf(d.IO.Out, format+"\n", args...)
}

func (d *differ) units(ctx context.Context, units []dialect.OfflineUnit) error {
	for i := range units {
		if err := d.unit(ctx, &units[i]); err != nil {
			return err
		}
	}
	return nil
}

// unit compares what a unit declares, and what it holds, with the cluster.
func (d *differ) unit(ctx context.Context, u *dialect.OfflineUnit) error {
	c := &unitDiffer{differ: d, of: u, by: u.Compare, declared: map[engine.ObjectID]bool{}}
	if c.by == nil {
		c.by = dryRun{}
	}
	switch err := c.by.Check(); {
	case u.Err != nil:
		d.print("✗ %s cannot be rendered: %v%s", u.Unit.ID, u.Err, console.Advised(u))
		return nil
	case u.Elsewhere != "":
		fmt.Fprintf(d.IO.Err, "· %s: %s\n", u.Unit.ID, console.Skipped(u))
		return nil
	case u.Skipped:
		return nil
	case u.Unit.Target.Cluster != "":
		fmt.Fprintf(d.IO.Err, "· %s is applied to another cluster, and not compared\n", u.Unit.ID)
		return nil
	case err != nil:
		d.print("✗ %s: %v", u.Unit.ID, err)
		return nil
	}
	for _, o := range u.Held() {
		if err := c.object(ctx, o); err != nil {
			return err
		}
	}
	return c.leftovers(ctx)
}

// dryRun compares by nothing but a dry run.
type dryRun struct{}

func (dryRun) Check() error    { return nil }
func (dryRun) Manager() string { return "headgate" }

func (dryRun) Placed(o *unstructured.Unstructured, _ bool) (*unstructured.Unstructured, error) {
	return o, nil
}

func (dryRun) Differs(context.Context, *unstructured.Unstructured, *unstructured.Unstructured, *unstructured.Unstructured) (bool, error) {
	return true, nil
}

// unitDiffer compares the objects of one unit.
type unitDiffer struct {
	*differ
	of       *dialect.OfflineUnit
	by       dialect.Comparison
	declared map[engine.ObjectID]bool
}

func (d *unitDiffer) object(ctx context.Context, o *unstructured.Unstructured) error {
	gvk, unit := o.GroupVersionKind(), d.of.Unit.ID
	mapping, err := d.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		d.declared[engine.IDOf(o)] = true
		d.print("+ %s (of %s; its kind is not served yet)", engine.IDOf(o), unit)
		return nil
	}
	namespaced := mapping.Scope.Name() != meta.RESTScopeNameRoot
	desired, problem := d.by.Placed(o, namespaced)
	id := engine.IDOf(desired)
	d.declared[id] = true
	if problem != nil {
		fmt.Fprintf(d.IO.Err, "· %s: %s\n", id, problem)
	}
	var client dynamic.ResourceInterface = d.client.Resource(mapping.Resource)
	if namespaced {
		client = d.client.Resource(mapping.Resource).Namespace(desired.GetNamespace())
	}
	live, err := client.Get(ctx, o.GetName(), metav1.GetOptions{})
	if d.leaves(o, apierrors.IsNotFound(err)) {
		return nil
	}
	switch {
	case apierrors.IsNotFound(err):
		d.print("+ %s (of %s)", id, unit)
		return nil
	case err != nil:
		return console.Unreachable(fmt.Errorf("reading %s: %w", id, err))
	case d.of.Kept[engine.IDOf(o)]:
		return nil
	}
	d.compared++
	after, err := d.dryRun(ctx, client, desired)
	if err != nil {
		d.print("✗ %s (of %s): the server refuses it: %v", id, unit, refusal(desired, err))
		return nil
	}
	return d.compare(ctx, o, desired, after, live)
}

// dryRun is what an apply would make of an object.
func (d *unitDiffer) dryRun(ctx context.Context, client dynamic.ResourceInterface, desired *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	data, err := json.Marshal(desired.Object)
	if err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	force := true
	return client.Patch(ctx, desired.GetName(), types.ApplyPatchType, data, metav1.PatchOptions{
		FieldManager: d.by.Manager(), Force: &force, DryRun: []string{metav1.DryRunAll},
	})
}

// compare prints where an object would change.
func (d *unitDiffer) compare(ctx context.Context, o, desired, after, live *unstructured.Unstructured) error {
	id := engine.IDOf(desired)
	differs, err := d.by.Differs(ctx, desired, after, live)
	if err != nil {
		return fmt.Errorf("comparing %s: %w", id, err)
	}
	if !differs {
		return nil
	}
	if lines := differenceOf(d.of, o, live, after); lines != "" {
		d.print("~ %s (of %s)\n%s", id, d.of.Unit.ID, lines)
	}
	return nil
}

// refusal is why the server refuses an object; of a Secret it may quote values.
func refusal(o *unstructured.Unstructured, err error) error {
	if o.GetKind() != "Secret" {
		return err
	}
	return errors.New(string(apierrors.ReasonForError(err)))
}

// leftovers are objects that the unit holds and no longer declares.
func (d *unitDiffer) leftovers(ctx context.Context) error {
	ref, err := d.ReferenceTo(d.of.Unit.ID)
	if err != nil {
		return err
	}
	held, err := ref.Client(d.client).Get(ctx, ref.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return console.Unreachable(fmt.Errorf("reading %s: %w", ref, err))
	}
	for _, id := range d.Catalogue.StateOf(held).Inventory {
		if !d.declared[id] {
			d.print("- %s is held by %s and no longer declared", id, d.of.Unit.ID)
		}
	}
	return nil
}
