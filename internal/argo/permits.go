package argo

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

var _ runner.Gatekeeper = (*driver)(nil)

// Permits reports why an Application may not write an object, by its project and the settings; nil when it may. What it may not
// write it does not claim.
func (d *driver) Permits(id engine.UnitID, e engine.Entry, kinds *cluster.Kinds) error {
	a := d.apps.get(id)
	if a == nil {
		return nil
	}
	kind := func(gvk schema.GroupVersionKind) (schema.GroupVersionResource, bool, bool) {
		r, served := kinds.Lookup(gvk.GroupKind().WithVersion(""))
		return r.GroupVersionResource, r.Namespaced, served
	}
	g := d.gate(a, runner.Work{Kind: kind})
	// It is about what is declared now, and no step of a sync.
	g.moved = nil
	return g.visible(e)
}
