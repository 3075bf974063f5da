package offline

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

// owner is that of targets of Applications.
const owner = "argo"

// unit is an Application as every dialect's walk gives its units.
func (w *Walk) unit(a *app) dialect.OfflineUnit {
	u := dialect.OfflineUnit{
		Unit: engine.Unit{ID: a.id}, Object: a.object, Parent: a.parent, Tree: true, Written: w.written(a), Wave: a.wave,
		Skipped: a.skipped != "", Elsewhere: a.skipped, Problems: a.problems, Err: a.err, Objects: a.objects,
	}
	if a.set != nil {
		u.Maker, u.Note = a.set, "of "+applicationSetKind+" "+a.set.GetName()
	}
	// What cannot be read is reported by the controller.
	u.Unit.Dependencies, _ = engine.ParseDependsOn(a.object.GetAnnotations()[engine.DependsOn], a.id.Namespace)
	if a.spec == nil {
		return u
	}
	u.Unit.Target = engine.Target{Owner: owner, Cluster: w.clusterOf(a.spec.Spec.Destination)}
	u.Namespace = a.spec.Spec.Destination.Namespace
	options := policy.OptionsOf(a.spec, nil)
	if options.CreateNamespace && u.Namespace != "" {
		u.Namespaces = []string{u.Namespace}
	}
	u.Handled = map[*unstructured.Unstructured]dialect.Handling{}
	for _, o := range a.objects {
		if how := handling(o, options); how != (dialect.Handling{}) {
			u.Handled[o] = how
		}
	}
	u.Compare = w.comparison(a)
	u.Hide(a.secret)
	return u
}

// written reports whether an Application declares what files say: not what the templates of a chart make.
func (w *Walk) written(a *app) bool {
	if a.spec == nil {
		return true
	}
	return !slices.ContainsFunc(sourcesOf(a.spec), func(s v1alpha1.ApplicationSource) bool {
		if s.Chart != "" || w.tree == nil {
			return true
		}
		_, chart := w.tree.File(path.Join(s.Path, "Chart.yaml"))
		return chart
	})
}

// handling is what a sync does with an object.
func handling(o *unstructured.Unstructured, options policy.Options) dialect.Handling {
	one := options.For(o)
	how := dialect.Handling{DropUnknown: one.Replace || !one.Validate || one.ServerSideSaid && !one.ServerSide}
	hook := operation.HookOf(o)
	switch {
	case hook.Skip:
		how.Passing, how.Never, how.Role = true, true, ", never applied"
	case hook.Is:
		var phases []string
		for _, phase := range hook.Phases {
			phases = append(phases, string(phase))
		}
		how.Passing, how.Role = true, ", hook of "+cmp.Or(strings.Join(phases, ", "), "no phase")
	}
	return how
}

// clusterOf is the cluster of a destination, empty for that of the Argo CD itself.
func (w *Walk) clusterOf(d v1alpha1.ApplicationDestination) string {
	if at, err := policy.Destination(d, w.settings); err == nil && at.Server == settings.InClusterServer {
		return ""
	}
	return cmp.Or(d.Server+d.Name, "unknown")
}
