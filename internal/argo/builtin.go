package argo

import (
	"maps"
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

// builtIn reports whether a source is a chart that this process serves itself, when it is for a cluster.
func (e *Engine) builtIn(s v1alpha1.ApplicationSource, to clusterOf) bool {
	return e.options.VirtualClusters && e.Serve.Serves(virtualClusterKind.Group) && to.Server == settings.InClusterServer && builtin.Is(s.RepoURL, s.Chart)
}

// madeOf are the objects that were made instead of charts, of those that are declared. One that another source declares, too, or that
// a request for a sync brings, is not among them.
// Each has the namespaces whose Secrets it is to have.
func madeOf(result *manifests.Result, objects []*unstructured.Unstructured) map[engine.ObjectID][]string {
	all := map[engine.ObjectID][]string{}
	for _, o := range objects {
		if slices.Contains(result.BuiltIn, o) {
			all[engine.IDOf(o)] = builtin.Namespaces(o)
		}
	}
	return all
}

// makes takes what an Application was rendered to instead of charts.
func (e *Engine) makes(a *app, made map[engine.ObjectID][]string) {
	a.mu.Lock()
	same := maps.EqualFunc(a.made, made, slices.Equal)
	a.made = made
	a.mu.Unlock()
	if !same {
		e.Grants.Changed()
	}
}

// grants reports whether an Application has an object be given Secrets of a namespace: it requests that itself, in the values of the chart for which
// the object stands, and its project of now permits Secrets there. What an account of the project may read is for the API server to
// say, so that nothing is granted to one.
func (e *Engine) grants(object engine.ObjectID, namespace string) (granted bool) {
	s := e.settings.Now()
	e.apps.each(func(a *app) {
		d := a.snapshot()
		if granted || !slices.Contains(d.made[object], namespace) || len(d.invalid) > 0 || d.cluster.Server != settings.InClusterServer ||
			policy.Uses(d.obj, d.project, e.options.Namespace) != nil {
			return
		}
		if account, err := d.project.Account(d.obj, d.cluster, s.Impersonation); err != nil || account != "" {
			return
		}
		g := gate{project: d.project, destination: d.cluster, resources: s.Resources}
		granted = g.allows(policy.Object{Kind: "Secret", Namespace: namespace, Namespaced: true}) == nil
	})
	return granted
}

// charted is what a project judges an object by that was made instead of a chart.
func charted(o policy.Object) policy.Object {
	o.Group, o.Kind = chartedKind.Group, chartedKind.Kind
	return o
}
