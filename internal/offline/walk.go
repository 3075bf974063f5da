package offline

import (
	"context"
	"slices"

	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

// Walk is a repository that is walked by all dialects as one.
type Walk struct {
	parts []dialect.Walk
	// Dir is the working copy, empty when there is none.
	Dir string
	// Units are in the order in which they were rendered.
	Units []dialect.OfflineUnit
}

// New begins to walk a repository. Close ends it.
func New(ctx context.Context, all dialect.Catalogue, r *dialect.Repository) (*Walk, error) {
	w := &Walk{Dir: r.Dir}
	for _, d := range all {
		var part dialect.Walk
		switch of := d.(type) {
		case dialect.Offline:
			var err error
			if part, err = of.Walk(ctx, r); err != nil {
				w.Close()
				return nil, err
			}
		case dialect.Renders:
			part = &plain{renders: of, kinds: dialect.Catalogue{d}, known: map[engine.UnitID]bool{}}
		default:
			continue
		}
		w.parts = append(w.parts, part)
	}
	return w, w.run(ctx, r)
}

// Again renders one object as a cluster has it now. Close ends it.
func Again(ctx context.Context, of dialect.Live, r *dialect.Repository, config *rest.Config) (*Walk, error) {
	part, err := of.WalkLive(ctx, r, config)
	if err != nil {
		return nil, err
	}
	w := &Walk{parts: []dialect.Walk{part}, Dir: r.Dir}
	return w, w.run(ctx, r)
}

// Close ends what was begun.
func (w *Walk) Close() {
	for _, part := range w.parts {
		part.Close()
	}
}

// run renders the units, from the roots on.
func (w *Walk) run(ctx context.Context, r *dialect.Repository) error {
	first := &dialect.OfflineUnit{Objects: slices.Clone(r.Objects)}
	for _, part := range w.parts {
		objects, err := part.Begin()
		if err != nil {
			return err
		}
		first.Objects = append(objects, first.Objects...)
	}
	w.take(ctx, first)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		part, turn := w.next()
		if turn == dialect.TurnOver {
			return nil
		}
		unit := part.Next(ctx)
		if !r.Alone {
			w.take(ctx, &unit)
		}
		w.Units = append(w.Units, unit)
	}
}

func (w *Walk) take(ctx context.Context, of *dialect.OfflineUnit) {
	for _, part := range w.parts {
		part.Take(ctx, of)
	}
}

// next is the part whose turn it is: the first one of those with the soonest.
func (w *Walk) next() (dialect.Walk, dialect.Turn) {
	var best dialect.Walk
	soonest := dialect.TurnOver
	for _, part := range w.parts {
		if turn := part.Turn(); turn > soonest {
			best, soonest = part, turn
		}
	}
	return best, soonest
}

// Broken are the objects that fail to give what they should.
func (w *Walk) Broken() []dialect.Broken {
	var all []dialect.Broken
	for _, part := range w.parts {
		all = append(all, part.Broken()...)
	}
	return all
}

// Findings are what is wrong with the units. Without kinds, nothing is said of namespaces.
func (w *Walk) Findings(kinds dialect.Scopes) []dialect.Finding {
	var all []dialect.Finding
	for _, part := range w.parts {
		all = append(all, part.Findings(w.Units, kinds)...)
	}
	return append(all, w.dependencies(kinds)...)
}

// Unread are problems of files that nothing leads to.
func (w *Walk) Unread() ([]string, error) {
	var all []string
	for _, part := range w.parts {
		some, err := part.Unread()
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// Find is a unit by its identity.
func (w *Walk) Find(id engine.UnitID) (*dialect.OfflineUnit, bool) {
	at := slices.IndexFunc(w.Units, func(u dialect.OfflineUnit) bool { return u.Unit.ID == id })
	if at < 0 {
		return nil, false
	}
	return &w.Units[at], true
}
