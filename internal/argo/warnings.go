package argo

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// duplicates warns of objects that stand more than once in what was rendered: in the same words, or only once it is known
// that their kind has no namespace.
func (d *driver) duplicates(a *app, w runner.Work, c *comparison) {
	times := maps.Clone(w.Repeated)
	if times == nil {
		times = map[engine.ObjectID]int{}
	}
	if a.job.rendered != nil {
		for id, n := range a.job.rendered.Duplicates {
			id.Cluster = c.cluster
			if o := c.named(id, a.now().Spec.Destination.Namespace); o != nil {
				id = o.entry.ID
			}
			times[id] = max(times[id]-1, 0) + n
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(times), engine.ObjectID.Compare) {
		c.warn(v1alpha1.ApplicationConditionRepeatedResourceWarning, fmt.Sprintf(
			"Resource %s/%s/%s/%s appeared %d times among application resources.", id.Group, id.Kind, id.Namespace, id.Name, times[id]))
	}
}

// homeless names, in the upstream's words, the objects that need a namespace and have none: neither they nor the destination
// of the Application say one. They are refused when they are written; the others go on.
func homeless(w runner.Work, c *comparison) {
	for _, o := range c.objects {
		if o.entry.ID.Namespace != "" {
			continue
		}
		gvk := o.entry.GroupVersionKind()
		if _, namespaced, served := w.Kind(gvk); served && namespaced {
			c.warn(v1alpha1.ApplicationConditionInvalidSpecError, fmt.Sprintf("Namespace for %s %s is missing.", o.entry.ID.Name, gvk.String()))
		}
	}
}

// conditionUnserved is ours: something is declared that is accepted and not acted on.
const conditionUnserved = "NotServedWarning"

// unserved names what an Application declares that is not acted on: fields of its sources, options that are
// unknown.
func (d *driver) unserved(a *app, c *comparison) {
	var all []string
	if a.job.rendered != nil {
		all = append(all, a.job.rendered.Problems...)
	}
	all = append(all, c.ineffective...)
	if a.now().Spec.SourceHydrator != nil {
		all = append(all, "spec.sourceHydrator: not supported; the hydrated branch is applied")
	}
	for _, option := range c.options.Unknown {
		all = append(all, fmt.Sprintf("spec.syncPolicy.syncOptions: %q", option))
	}
	for _, o := range c.objects {
		for _, option := range o.options.Unknown {
			all = append(all, fmt.Sprintf("%s: annotation argocd.argoproj.io/sync-options: %q", o.entry.ID, option))
		}
	}
	if len(all) == 0 {
		return
	}
	slices.Sort(all)
	c.warn(conditionUnserved, "ignored: "+strings.Join(slices.Compact(all), "; "))
}
