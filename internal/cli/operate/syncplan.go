package operate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

// plan says what is synced: what is requested, the sources before it, and what depends on it.
func (s *syncer) plan(ctx context.Context, targets []console.Reference) error {
	for _, ref := range targets {
		if (s.force || s.reset) && !s.forces(ref) {
			return console.Hint(fmt.Errorf("--force and --reset require a HelmRelease, but %s is not one", ref), "headgate sync hr NAME --force")
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

// forces reports whether an object can be forced and reset.
func (s *syncer) forces(ref console.Reference) bool {
	of, can := s.Of(ref.GroupKind()).(dialect.Requested)
	return can && of.Forces(ref.GroupKind())
}

// name adds a requested object.
func (s *syncer) name(ctx context.Context, ref console.Reference) error {
	u, err := ref.GetFor(ctx, s.client, "sync")
	if err != nil {
		return err
	}
	if s.Catalogue.StateOf(u).Suspended {
		return console.Hint(fmt.Errorf("%s is suspended", ref), "headgate resume %s/%s -n %s", ref.Aliases[0], ref.Name, ref.Namespace)
	}
	s.add(ref, u).named = true
	return nil
}

func (s *syncer) add(ref console.Reference, u *unstructured.Unstructured) *turn {
	t := &turn{Reference: ref, object: u, over: make(chan struct{})}
	s.turns[ref.ID()] = t
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
	id, err := s.SourceOf(u)
	if err != nil || id == (engine.SourceID{}) {
		return nil, err
	}
	ref, err := s.ReferenceTo(engine.UnitID(id))
	if err != nil {
		// Another controller fetches it.
		return nil, nil
	}
	if t := s.turns[ref.ID()]; t != nil {
		return t.object, nil
	}
	source, err := ref.Get(ctx, s.client)
	switch {
	case apierrors.IsNotFound(err):
		return nil, s.print("· %s does not exist", ref)
	case err != nil:
		return nil, err
	case s.Catalogue.StateOf(source).Suspended:
		return nil, s.print("· %s is suspended: its objects are kept", ref)
	}
	s.add(ref, source)
	return source, nil
}

// addDependents adds what needs what is there, and so on down.
func (s *syncer) addDependents(ctx context.Context) error {
	all, err := s.ListUnits(ctx, s.client)
	if err != nil {
		return err
	}
	for _, kind := range s.Kinds(func(k dialect.Kind) bool { return k.Derived }) {
		derived, err := kind.List(ctx, s.client, metav1.NamespaceAll, true)
		if err != nil {
			return err
		}
		all = append(all, derived...)
	}
	for grown := true; grown; {
		grown = false
		for _, u := range all {
			if s.turns[console.IdOf(u)] != nil || s.Catalogue.StateOf(u).Suspended {
				continue
			}
			needs, err := s.NeedsOf(u)
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(needs, func(id engine.UnitID) bool { return s.turns[id] != nil }) {
				continue
			}
			ref, err := s.ReferenceTo(console.IdOf(u))
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
		needs, err := s.NeedsOf(t.object)
		errs = append(errs, err)
		s.graph[id] = slices.DeleteFunc(needs, func(need engine.UnitID) bool { return s.turns[need] == nil })
	}
	return errors.Join(errs...)
}
