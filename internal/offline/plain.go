package offline

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

// plain walks for a dialect whose units are rendered from nothing but their object.
type plain struct {
	renders dialect.Renders
	kinds   dialect.Catalogue
	known   map[engine.UnitID]bool
	queue   []queued
}

// queued is an object that declares a unit, and the unit that declares it.
type queued struct {
	object *unstructured.Unstructured
	parent engine.UnitID
}

// Begin adds nothing.
func (*plain) Begin() ([]*unstructured.Unstructured, error) { return nil, nil }

// Take enters the units among objects.
func (p *plain) Take(_ context.Context, of *dialect.OfflineUnit) {
	if of.Unit.Target.Cluster != "" {
		return
	}
	for _, o := range of.Held() {
		o = of.Placed(o)
		id := engine.IDOf(o)
		if p.kinds.IsUnit(id) && !p.known[engine.UnitOf(id)] {
			p.known[engine.UnitOf(id)] = true
			p.queue = append(p.queue, queued{o, of.Unit.ID})
		}
	}
}

// Turn is always soon: nothing that others declare is read.
func (p *plain) Turn() dialect.Turn {
	if len(p.queue) == 0 {
		return dialect.TurnOver
	}
	return dialect.TurnNow
}

// Next renders the first unit.
func (p *plain) Next(ctx context.Context) dialect.OfflineUnit {
	next := p.queue[0]
	p.queue = p.queue[1:]
	unit := p.renders.Render(ctx, next.object)
	unit.Object, unit.Parent = next.object, next.parent
	return unit
}

// Broken are none.
func (*plain) Broken() []dialect.Broken { return nil }

// Findings are none.
func (*plain) Findings([]dialect.OfflineUnit, dialect.Scopes) []dialect.Finding { return nil }

// Unread are none.
func (*plain) Unread() ([]string, error) { return nil, nil }

// Close has nothing to end.
func (*plain) Close() {}
