package runner

import (
	"context"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/engine"
)

// Brings reports whether what an object of a cluster needs is there, or may come without the unit that asks: another unit declares it, or has not
// been rendered yet, and does not wait for the one that asks.
func (p Peers) Brings(ctx context.Context, in string, need apply.Need) (bool, error) {
	return ask(ctx, p.runner, func() bool { return p.runner.brings(p.unit, in, need) })
}

func (r *Runner) brings(asks engine.UnitID, in string, need apply.Need) bool {
	for id, u := range r.units {
		may := u.declaresNeeded(need) || u.declares() && u.rendering == nil && u.underway()
		if may && id != asks && u.Target.Cluster == in && !r.leadsTo(u, asks, map[engine.UnitID]bool{}) {
			return true
		}
	}
	return r.comes(engine.Target{Cluster: in}, need)
}

// declaresNeeded reports whether a unit declares what an object needs: the object, or the definition of the kind.
func (u *unit) declaresNeeded(need apply.Need) bool {
	if u.rendering == nil {
		return false
	}
	for _, o := range u.rendering.objects {
		defined, defines := engine.DefinedKind(o)
		if need.What == apply.KindServed && defines && defined == need.Kind ||
			need.What != apply.KindServed && engine.IDOf(o).In(need.Object.Cluster) == need.Object {
			return true
		}
	}
	return false
}

// comes reports whether what an object needs is there, or is about to be.
func (r *Runner) comes(in engine.Target, need apply.Need) bool {
	t := r.targets.get(in)
	switch {
	case t == nil:
		return false
	case need.What != apply.KindServed:
		_, there := t.cluster.Objects.Get(need.Object)
		return there
	}
	gvk := need.Kind.WithVersion(need.Version)
	_, served := t.cluster.Kinds.Lookup(gvk)
	return served || t.cluster.Kinds.Coming(gvk)
}
