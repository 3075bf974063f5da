package argo

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	cluster "github.com/headgate-dev/headgate/api/cluster/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/manifests"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/virtual/builtin"
)

// virtualClusterKind is what serves the vcluster chart, and chartedKind what that chart consists of.
var (
	virtualClusterKind = schema.GroupKind{Group: cluster.GroupVersion.Group, Kind: cluster.VirtualClusterKind}
	chartedKind        = schema.GroupKind{Group: "apps", Kind: "StatefulSet"}
)

// builtIn tells whether a source is a chart that this process serves itself, when it is for a cluster.
func (e *Engine) builtIn(s v1alpha1.ApplicationSource, to clusterOf) bool {
	return e.options.VirtualClusters && e.Serve.Serves(virtualClusterKind.Group) && to.Server == settings.InClusterServer && builtin.Is(s.RepoURL, s.Chart)
}

// madeOf are the objects that were made in the place of charts, of those that are declared. One that another source declares, too, or that
// a request for a sync brings, is not among them.
func madeOf(result *manifests.Result, objects []*unstructured.Unstructured) map[engine.ObjectID]bool {
	all := map[engine.ObjectID]bool{}
	for _, o := range objects {
		if slices.Contains(result.BuiltIn, o) {
			all[engine.IDOf(o)] = true
		}
	}
	return all
}

// charted is what a project judges an object by that was made in the place of a chart.
func charted(o policy.Object) policy.Object {
	o.Group, o.Kind = chartedKind.Group, chartedKind.Kind
	return o
}
