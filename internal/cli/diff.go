package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux"
)

func newDiff(g *globals) *cobra.Command {
	o := offlineOptions{globals: g}
	cmd := &cobra.Command{
		Use:   "diff PATH [KIND/NAME] | diff app NAME",
		Short: "Compare what a repository declares with the cluster",
		Long: `Compare a repository with the cluster, in these steps:

  1. render the units of PATH as "headgate render" does: of HelmReleases only a named one, or with
     --charts all of them, for the version and the kinds of the cluster, as an upgrade of the existing release
  2. apply each object with a server-side dry run, and compare the result with the live object
  3. list objects in inventories that are no longer declared

With "app NAME" instead of PATH, an Application of Argo CD in the cluster is compared with the current state of its sources:
what a sync would change. Fields that it ignores are not compared.

Values of Secrets are masked. Hooks of charts are skipped, and lookup returns nothing. The
exit code is 1 if there is a difference.`,
		Example: "  headgate diff .\n  headgate diff . ks/apps\n  headgate diff . hr/podinfo -n apps\n  headgate diff app guestbook\n  headgate diff . app/guestbook",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if ref, live := o.liveApplication(args, o.namespace); live {
				return runDiff(cmd.Context(), o, &ref)
			}
			o.dir = args[0]
			if len(args) > 1 {
				o.only = args[1]
			}
			return runDiff(cmd.Context(), o, nil)
		},
	}
	bindOffline(cmd, &o)
	bindCharts(cmd, &o)
	return cmd
}

// runDiff compares a directory, or an Application of the cluster, with the cluster.
func runDiff(ctx context.Context, o offlineOptions, live *reference) error {
	d, err := newDiffer(o.globals)
	if err != nil {
		return err
	}
	o.cluster = d.seen
	if err := o.diff(ctx, d, live); err != nil {
		return err
	}
	if d.different {
		return errNo
	}
	return nil
}

func (o offlineOptions) diff(ctx context.Context, d *differ, live *reference) error {
	if live != nil {
		return o.diffApp(ctx, d, *live)
	}
	switch p, argo, err := o.locateArgo(); {
	case err != nil:
		return err
	case argo:
		return o.diffArgo(ctx, d, p)
	}
	o.cluster.Masks = true
	o.cluster.Installed = func(id engine.UnitID) bool { return d.installed(ctx, id) }
	o.cluster.Generation = func(id engine.SourceID) int64 { return d.generation(ctx, id) }
	units, err := o.units(ctx)
	if err != nil {
		return err
	}
	for _, u := range units {
		if err := d.unit(ctx, u); err != nil {
			return err
		}
	}
	return nil
}

// differ compares objects by dry runs.
type differ struct {
	*globals
	client dynamic.Interface
	mapper meta.RESTMapper
	// seen is what charts see of the cluster.
	seen      flux.OfflineOptions
	different bool
}

func newDiffer(g *globals) (*differ, error) {
	config, err := g.restConfig()
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
		return nil, unreachable(fmt.Errorf("getting the version of the cluster: %w", err))
	}
	groups, err := restmapper.GetAPIGroupResources(disc)
	if err != nil {
		return nil, unreachable(fmt.Errorf("discovering the kinds of the cluster: %w", err))
	}
	d := &differ{globals: g, client: client, mapper: restmapper.NewDiscoveryRESTMapper(groups)}
	d.seen = flux.OfflineOptions{KubeVersion: version.GitVersion, APIVersions: servedVersions(groups), ClusterWide: d.clusterWide}
	return d, nil
}

// servedVersions are what a cluster serves, as charts name it.
func servedVersions(groups []*restmapper.APIGroupResources) []string {
	var names []string
	for _, group := range groups {
		for version, resources := range group.VersionedResources {
			gv := schema.GroupVersion{Group: group.Group.Name, Version: version}.String()
			names = append(names, gv)
			for i := range resources {
				names = append(names, gv+"/"+resources[i].Kind)
			}
		}
	}
	return names
}

func (d *differ) clusterWide(gvk schema.GroupVersionKind) (is, known bool) {
	mapping, err := d.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return false, false
	}
	return mapping.Scope.Name() == meta.RESTScopeNameRoot, true
}

// installed tells whether a release has a history.
func (d *differ) installed(ctx context.Context, id engine.UnitID) bool {
	u, err := d.client.Resource(d.known(releaseKind).resource).Namespace(id.Namespace).Get(ctx, id.Name, metav1.GetOptions{})
	if err != nil {
		return false
	}
	history, _, _ := unstructured.NestedSlice(u.Object, "status", "history")
	return len(history) > 0
}

// generation is that of a HelmChart, and 0 when there is none.
func (d *differ) generation(ctx context.Context, id engine.SourceID) int64 {
	u, err := d.client.Resource(d.known(chartKind).resource).Namespace(id.Namespace).Get(ctx, id.Name, metav1.GetOptions{})
	if err != nil {
		return 0
	}
	return u.GetGeneration()
}

func (d *differ) print(format string, args ...any) {
	d.different = true
	fmt.Fprintf(d.io.Out, format+"\n", args...)
}

func (d *differ) unit(ctx context.Context, u flux.OfflineUnit) error {
	switch {
	case u.Err != nil:
		d.print("✗ %s cannot be rendered: %v%s", u.Unit.ID, u.Err, advice(u.Err))
		return nil
	case u.Elsewhere != "":
		fmt.Fprintf(d.io.Err, "· %s: %s\n", u.Unit.ID, u.Elsewhere)
		return nil
	case !u.Rendered:
		return nil
	case u.Unit.Target.Cluster != "":
		fmt.Fprintf(d.io.Err, "· %s is applied to another cluster, and not compared\n", u.Unit.ID)
		return nil
	}
	declared := map[engine.ObjectID]bool{}
	for _, o := range u.Objects {
		declared[engine.IDOf(o)] = true
		if err := d.object(ctx, u, o); err != nil {
			return err
		}
	}
	ref, err := d.referenceTo(u.Unit.ID)
	if err != nil {
		return err
	}
	held, err := ref.client(d.client).Get(ctx, ref.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return unreachable(fmt.Errorf("reading %s: %w", ref, err))
	}
	for _, id := range inventory(held) {
		if !declared[id] {
			d.print("- %s is held by %s and no longer declared", id, u.Unit.ID)
		}
	}
	return nil
}

func (d *differ) object(ctx context.Context, of flux.OfflineUnit, o *unstructured.Unstructured) error {
	gvk, unit := o.GroupVersionKind(), of.Unit.ID
	mapping, err := d.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		d.print("+ %s (of %s; its kind is not served yet)", engine.IDOf(o), unit)
		return nil
	}
	client := d.client.Resource(mapping.Resource).Namespace(o.GetNamespace())
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		client = d.client.Resource(mapping.Resource)
	}
	live, err := client.Get(ctx, o.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		d.print("+ %s (of %s)", engine.IDOf(o), unit)
		return nil
	}
	if err != nil {
		return unreachable(fmt.Errorf("reading %s: %w", engine.IDOf(o), err))
	}
	if of.Kept[engine.IDOf(o)] {
		return nil
	}
	data, err := json.Marshal(o.Object)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", engine.IDOf(o), err)
	}
	force := true
	after, err := client.Patch(ctx, o.GetName(), types.ApplyPatchType, data, metav1.PatchOptions{
		FieldManager: flux.Manager(unit), Force: &force, DryRun: []string{metav1.DryRunAll},
	})
	if err != nil {
		d.print("✗ %s (of %s): the server refuses it: %v", engine.IDOf(o), unit, err)
		return nil
	}
	if lines := differenceOf(of, o, live, after); lines != "" {
		d.print("~ %s (of %s)\n%s", engine.IDOf(o), unit, lines)
	}
	return nil
}

// differenceOf compares two states of an object that a unit declares.
func differenceOf(of flux.OfflineUnit, declared, before, after *unstructured.Unstructured) string {
	without, holdsSecret := of.Shown[engine.IDOf(declared)]
	if !holdsSecret {
		return difference(before, after)
	}
	b, a := bare(before), bare(after)
	if cmp.Equal(b.Object, a.Object) {
		return ""
	}
	hide(b.Object, declared.Object, without.Object)
	hide(a.Object, declared.Object, without.Object)
	if lines := difference(b, a); lines != "" {
		return lines
	}
	return valuesDiffer
}

// valuesDiffer is all that is said of values that are secret.
const valuesDiffer = "    values differ"

// difference compares two states of an object, without what the server sets.
func difference(before, after *unstructured.Unstructured) string {
	secret := before.GetKind() == "Secret"
	b, a := bare(before), bare(after)
	if cmp.Equal(b.Object, a.Object) {
		return ""
	}
	if secret {
		b, a = masked(b), masked(a)
		if cmp.Equal(b.Object, a.Object) {
			return valuesDiffer
		}
	}
	return lineDiff(b, a)
}

func bare(u *unstructured.Unstructured) *unstructured.Unstructured {
	u = u.DeepCopy()
	delete(u.Object, "status")
	for _, field := range []string{"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"} {
		unstructured.RemoveNestedField(u.Object, "metadata", field)
	}
	return u
}

// lineDiff lists the lines of the YAML that go and that come.
func lineDiff(before, after *unstructured.Unstructured) string {
	b, errB := yaml.Marshal(before.Object)
	a, errA := yaml.Marshal(after.Object)
	if errA != nil || errB != nil {
		return "    values cannot be printed"
	}
	old, now := strings.Split(strings.TrimSpace(string(b)), "\n"), strings.Split(strings.TrimSpace(string(a)), "\n")
	var out []string
	for _, step := range edits(old, now) {
		out = append(out, "    "+step)
	}
	return strings.Join(out, "\n")
}

// edits returns the shortest list of lines to delete and to add, by the longest common subsequence.
func edits(old, now []string) []string {
	common := make([][]int, len(old)+1)
	for i := range common {
		common[i] = make([]int, len(now)+1)
	}
	for i := len(old) - 1; i >= 0; i-- {
		for j := len(now) - 1; j >= 0; j-- {
			if old[i] == now[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out []string
	i, j := 0, 0
	for i < len(old) || j < len(now) {
		switch {
		case i < len(old) && j < len(now) && old[i] == now[j]:
			i, j = i+1, j+1
		case j == len(now) || (i < len(old) && common[i+1][j] >= common[i][j+1]):
			out = append(out, "- "+old[i])
			i++
		default:
			out = append(out, "+ "+now[j])
			j++
		}
	}
	return out
}
