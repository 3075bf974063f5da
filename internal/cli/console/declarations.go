package console

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
) // sourceOf is the source that an object reads; zero when it reads none.

// SourceOf is the source that an object reads; zero when it reads none.
func (g *Globals) SourceOf(u *unstructured.Unstructured) (engine.SourceID, error) {
	of, reads := g.Of(GroupKindOf(u)).(dialect.Sourced)
	if !reads {
		return engine.SourceID{}, nil
	}
	return of.SourceOf(u)
}

// NeedsOf are the objects that one waits for: its source, and the units that it depends on.
func (g *Globals) NeedsOf(u *unstructured.Unstructured) ([]engine.UnitID, error) {
	var needs []engine.UnitID
	source, err := g.SourceOf(u)
	if err != nil {
		return nil, err
	}
	if source != (engine.SourceID{}) {
		needs = append(needs, engine.UnitID(source))
	}
	if !g.Catalogue.IsUnit(engine.IDOf(u)) {
		return needs, nil
	}
	d, err := g.DeclaredBy(u)
	return append(needs, UnitsOf(d.Unit.Dependencies)...), err
}

// Declaration is what an object declares: a unit, and where its chart comes from.
type Declaration struct {
	Unit  engine.Unit
	Chart dialect.Origin
}

// DeclaredBy reads the unit that an object declares, as its dialect does.
func (g *Globals) DeclaredBy(u *unstructured.Unstructured) (Declaration, error) {
	d := Declaration{Unit: engine.Unit{ID: IdOf(u)}}
	of, _ := g.Catalogue.Of(GroupKindOf(u))
	if charted, has := of.(dialect.Charted); has {
		d.Chart = charted.ChartOf(u)
	}
	reader, reads := of.(dialect.Explain)
	if !reads {
		return d, nil
	}
	var err error
	d.Unit, err = reader.Declared(u)
	return d, err
}

// UnitsOf are the units among dependencies.
func UnitsOf(dependencies []engine.Dependency) []engine.UnitID {
	var units []engine.UnitID
	for _, d := range dependencies {
		if d.Unit != (engine.UnitID{}) {
			units = append(units, d.Unit)
		}
	}
	return units
}

// OwnerOf is the unit that declares an object, by its labels.
func (g *Globals) OwnerOf(u *unstructured.Unstructured) (Reference, bool) {
	for _, d := range g.Catalogue {
		of, marks := d.(dialect.Owning)
		if !marks {
			continue
		}
		if id, owned := of.OwnerOf(u); owned {
			ref, err := g.ReferenceTo(id)
			return ref, err == nil
		}
	}
	labels := u.GetLabels()
	for _, kind := range g.unitKinds() {
		if name := labels[kind.Resource.Group+"/name"]; name != "" {
			return Reference{Served: kind, Namespace: labels[kind.Resource.Group+"/namespace"], Name: name}, true
		}
	}
	return Reference{}, false
}
