package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

// plan says what is synced: what is requested, the sources before it, and what depends on it.
func (s *syncer) plan(ctx context.Context) error {
	targets, err := s.targets(ctx, s.client)
	if err != nil {
		return err
	}
	for _, ref := range targets {
		if (s.force || s.reset) && !s.forces(ref) {
			return hint(fmt.Errorf("--force and --reset require a HelmRelease, but %s is not one", ref), "headgate sync hr NAME --force")
		}
		if err := s.name(ctx, ref); err != nil {
			return err
		}
	}
	if s.dependents {
		if err := s.addDependents(ctx); err != nil {
			return err
		}
	}
	if s.source {
		if err := s.addSources(ctx); err != nil {
			return err
		}
	}
	return s.order()
}

// forces tells whether an object can be forced and reset.
func (s *syncer) forces(ref reference) bool {
	of, can := s.of(ref.groupKind()).(dialect.Requested)
	return can && of.Forces(ref.groupKind())
}

// name adds a requested object.
func (s *syncer) name(ctx context.Context, ref reference) error {
	u, err := ref.get(ctx, s.client)
	if err != nil {
		return err
	}
	if s.catalogue.StateOf(u).Suspended {
		return hint(fmt.Errorf("%s is suspended", ref), "headgate resume %s/%s -n %s", ref.aliases[0], ref.name, ref.namespace)
	}
	s.add(ref, u).named = true
	return nil
}

func (s *syncer) add(ref reference, u *unstructured.Unstructured) *turn {
	t := &turn{reference: ref, object: u, over: make(chan struct{})}
	s.turns[ref.id()] = t
	return t
}

// addSources adds the sources of what is requested, and those that they are taken from.
func (s *syncer) addSources(ctx context.Context) error {
	for _, t := range s.named() {
		for at := t.object; at != nil; {
			next, err := s.addSource(ctx, at)
			if err != nil {
				return err
			}
			at = next
		}
	}
	return nil
}

// named are the turns of what is requested.
func (s *syncer) named() []*turn {
	var named []*turn
	for _, t := range s.turns {
		if t.named {
			named = append(named, t)
		}
	}
	return named
}

// addSource adds the source that an object reads, and returns it; nothing when it reads none that can be
// synced.
func (s *syncer) addSource(ctx context.Context, u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	id, err := s.sourceOf(u)
	if err != nil || id == (engine.SourceID{}) {
		return nil, err
	}
	ref, err := s.referenceTo(engine.UnitID(id))
	if err != nil {
		// Another controller fetches it.
		return nil, nil
	}
	if t := s.turns[ref.id()]; t != nil {
		return t.object, nil
	}
	source, err := ref.get(ctx, s.client)
	switch {
	case apierrors.IsNotFound(err):
		return nil, s.print("· %s does not exist", ref)
	case err != nil:
		return nil, err
	case s.catalogue.StateOf(source).Suspended:
		return nil, s.print("· %s is suspended: its objects are kept", ref)
	}
	s.add(ref, source)
	return source, nil
}

// addDependents adds what needs what is there, and so on down.
func (s *syncer) addDependents(ctx context.Context) error {
	all, err := s.listUnits(ctx, s.client)
	if err != nil {
		return err
	}
	for _, kind := range s.kinds(func(k dialect.Kind) bool { return k.Derived }) {
		derived, err := kind.list(ctx, s.client, metav1.NamespaceAll, true)
		if err != nil {
			return err
		}
		all = append(all, derived...)
	}
	for grown := true; grown; {
		grown = false
		for _, u := range all {
			if s.turns[idOf(u)] != nil || s.catalogue.StateOf(u).Suspended {
				continue
			}
			needs, err := s.needsOf(u)
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(needs, func(id engine.UnitID) bool { return s.turns[id] != nil }) {
				continue
			}
			ref, err := s.referenceTo(idOf(u))
			if err != nil {
				return err
			}
			s.add(ref, u)
			grown = true
		}
	}
	return nil
}

// order says what comes after what.
func (s *syncer) order() error {
	s.graph = engine.Graph{}
	var errs []error
	for id, t := range s.turns {
		needs, err := s.needsOf(t.object)
		errs = append(errs, err)
		s.graph[id] = slices.DeleteFunc(needs, func(need engine.UnitID) bool { return s.turns[need] == nil })
	}
	return errors.Join(errs...)
}

// sourceOf is the source that an object reads; zero when it reads none.
func (g *globals) sourceOf(u *unstructured.Unstructured) (engine.SourceID, error) {
	of, reads := g.of(groupKindOf(u)).(dialect.Sourced)
	if !reads {
		return engine.SourceID{}, nil
	}
	return of.SourceOf(u)
}

// needsOf are the objects that one waits for: its source, and the units that it depends on.
func (g *globals) needsOf(u *unstructured.Unstructured) ([]engine.UnitID, error) {
	var needs []engine.UnitID
	source, err := g.sourceOf(u)
	if err != nil {
		return nil, err
	}
	if source != (engine.SourceID{}) {
		needs = append(needs, engine.UnitID(source))
	}
	if !g.catalogue.IsUnit(engine.IDOf(u)) {
		return needs, nil
	}
	d, err := g.declaredBy(u)
	return append(needs, unitsOf(d.Unit.Dependencies)...), err
}

// declaration is what an object declares: a unit, and where its chart comes from.
type declaration struct {
	Unit  engine.Unit
	Chart dialect.Origin
}

// declaredBy reads the unit that an object declares, as its dialect does.
func (g *globals) declaredBy(u *unstructured.Unstructured) (declaration, error) {
	d := declaration{Unit: engine.Unit{ID: idOf(u)}}
	of, _ := g.catalogue.Of(u.GroupVersionKind().Group)
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
