package walk

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/release"
	"github.com/headgate-dev/headgate/internal/helm"
)

// release renders what an install of a release would apply, or an upgrade of one that is there.
func (w *walk) release(ctx context.Context, hr *helmv2.HelmRelease, into *dialect.OfflineUnit) {
	prepared, err := release.Prepare(ctx, hr, w, w.patcherOf, func(ctx context.Context) (release.GivenChart, error) { return w.chart(ctx, hr) })
	if err != nil {
		into.Err = err
		return
	}
	kinds := w.kinds()
	served := w.repository.Cluster.APIVersions
	if len(served) == 0 {
		served = stableKinds()
	}
	served = slices.Concat(served, slices.Sorted(maps.Keys(kinds)))
	options := helm.TemplateOptions{
		Common: release.InstallOptions(hr, prepared).Common, KubeVersion: w.repository.Cluster.KubeVersion, APIVersions: served,
		ClusterWide: func(gvk schema.GroupVersionKind) bool { return w.clusterWide(gvk, kinds) },
	}
	if w.installed(ctx, into.Unit.ID) {
		options.Common, options.Upgrade = release.UpgradeOptions(hr, prepared).Common, true
	}
	options.Sandbox = w.repository.Sandbox.For(hr.Namespace, into.Unit.ID.String())
	rendered, err := helm.Template(ctx, options)
	if err != nil {
		into.Err = err
		return
	}
	into.Objects = append(rendered.CRDs, rendered.Objects...)
	for _, h := range rendered.Hooks {
		into.Objects = append(into.Objects, h.Object)
		handle(into, h.Object, dialect.Handling{Passing: true, Role: ", hook of " + strings.Join(h.Events, ", ")})
	}
	if w.repository.Masks {
		w.maskRelease(ctx, hr, into)
	}
	if options.CRDs == helm.CreateReplaceCRDs {
		return
	}
	into.Kept = map[engine.ObjectID]bool{}
	for _, crd := range rendered.CRDs {
		into.Kept[engine.IDOf(crd)] = true
	}
}

// live is an object of the cluster that is compared with; nil when there is none.
func (w *walk) live(ctx context.Context, id engine.ObjectID) *unstructured.Unstructured {
	if w.repository.Cluster.Has == nil {
		return nil
	}
	return w.repository.Cluster.Has.Object(ctx, id)
}

// installed reports whether a release has a history in the cluster: it is rendered as for an upgrade.
func (w *walk) installed(ctx context.Context, id engine.UnitID) bool {
	live := w.live(ctx, id.Object())
	if live == nil {
		return false
	}
	history, _, _ := unstructured.NestedSlice(live.Object, "status", "history")
	return len(history) > 0
}

// patcherOf is what patches the objects of a release: nothing stands in here.
func (w *walk) patcherOf(*helmv2.HelmRelease, release.GivenChart) release.Patcher { return w.renderer }

// stableKinds are those that any cluster serves, as charts name them.
func stableKinds() []string {
	var kinds []string
	for gvk := range scheme.Scheme.AllKnownTypes() {
		if strings.Trim(gvk.Version, "v0123456789") == "" {
			kinds = append(kinds, gvk.GroupVersion().String()+"/"+gvk.Kind)
		}
	}
	return kinds
}

// clusterWide reports whether a kind has no namespaces: by the cluster, by the CRDs of the repository, by
// what Kubernetes itself has. Unknown definitions are assumed to have them.
func (w *walk) clusterWide(gvk schema.GroupVersionKind, kinds map[string]bool) bool {
	if has := w.repository.Cluster.Has; has != nil {
		if is, known := has.ClusterWide(gvk); known {
			return is
		}
	}
	if is, known := kinds[gvk.GroupVersion().String()+"/"+gvk.Kind]; known {
		return is
	}
	version, kind := gvk.ToAPIVersionAndKind()
	return openapi.IsCertainlyClusterScoped(yaml.TypeMeta{APIVersion: version, Kind: kind})
}

// kinds are those that the CRDs among what was rendered define, as charts name them, and whether they
// have no namespaces: "group/version/Kind", and "group/version" for charts that ask for it.
func (w *walk) kinds() map[string]bool {
	kinds := map[string]bool{}
	for id, o := range w.held {
		if id.Kind != "CustomResourceDefinition" {
			continue
		}
		group, _, _ := unstructured.NestedString(o.Object, "spec", "group")
		kind, _, _ := unstructured.NestedString(o.Object, "spec", "names", "kind")
		scope, _, _ := unstructured.NestedString(o.Object, "spec", "scope")
		versions, _, _ := unstructured.NestedSlice(o.Object, "spec", "versions")
		for _, v := range versions {
			version, _ := v.(map[string]any)
			if version["served"] == true {
				kinds[fmt.Sprintf("%s/%s", group, version["name"])] = false
				kinds[fmt.Sprintf("%s/%s/%s", group, version["name"], kind)] = scope == "Cluster"
			}
		}
	}
	return kinds
}
