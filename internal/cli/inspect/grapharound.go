package inspect

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

// graphQuery is what the command is to show: the graph of a repository or, without a directory, of the cluster, around one unit if that is named.
type graphQuery struct {
	dir, unit, namespace, format string
	check, stages                bool
}

// invalid is why it cannot be answered.
func (q *graphQuery) invalid() error {
	switch {
	case q.stages && (q.dir+q.unit != "" || q.check):
		return console.Hint(errors.New("--stages is about a cluster, and takes no repository and no unit"), "headgate graph --stages")
	case q.stages:
		return nil
	case q.unit == "" && q.namespace != "":
		return console.Hint(errors.New("--namespace is for --stages, and for a unit that is named"), "headgate graph --stages --namespace %s", q.namespace)
	case q.unit != "" && q.check:
		return console.Hint(fmt.Errorf("--check is about a whole repository, and not about %s alone", q.unit), "headgate graph %s --check", cmp.Or(q.dir, "PATH"))
	case q.dir == "" && q.check:
		return console.Hint(errors.New("--check requires a repository"), "headgate graph PATH --check")
	}
	return nil
}

// narrow leaves of a graph what is around the unit.
func (q *graphQuery) narrow(g *unitGraph, catalogue dialect.Catalogue) error {
	if q.unit == "" {
		return nil
	}
	id, err := q.find(g, catalogue)
	if err != nil {
		return err
	}
	g.around(id)
	return nil
}

// unitName is how a person names a unit of a graph: [KIND/][NAMESPACE/]NAME.
type unitName struct {
	kind            schema.GroupKind
	namespace, name string
}

// unitNames are the ways to read a text: its first part may be a kind or a namespace.
func unitNames(catalogue dialect.Catalogue, text, namespace string) ([]unitName, error) {
	parts := strings.Split(text, "/")
	kind, err := catalogue.Find(parts[0])
	switch len(parts) {
	case 1:
		return []unitName{{namespace: namespace, name: text}}, nil
	case 2:
		all := []unitName{{namespace: parts[0], name: parts[1]}}
		if err == nil {
			all = append([]unitName{{kind: kind.GroupKind, namespace: namespace, name: parts[1]}}, all...)
		}
		return all, nil
	case 3:
		return []unitName{{kind.GroupKind, parts[1], parts[2]}}, err
	}
	return nil, fmt.Errorf("%q: want NAME, KIND/NAME or KIND/NAMESPACE/NAME", text)
}

func (n unitName) is(id engine.UnitID) bool {
	return id.Name == n.name && (n.namespace == "" || n.namespace == id.Namespace) && (n.kind == (schema.GroupKind{}) || n.kind == id.GroupKind())
}

// find is the unit that is requested.
func (q *graphQuery) find(g *unitGraph, catalogue dialect.Catalogue) (engine.UnitID, error) {
	ways, err := unitNames(catalogue, q.unit, q.namespace)
	if err != nil {
		return engine.UnitID{}, err
	}
	verb := strings.Join(strings.Fields("headgate graph "+q.dir), " ")
	for _, way := range ways {
		var found []string
		var at engine.UnitID
		for id := range g.units {
			if way.is(id) {
				at, found = id, append(found, id.String())
			}
		}
		if len(found) == 1 {
			return at, nil
		}
		if len(found) > 1 {
			slices.Sort(found)
			return engine.UnitID{}, console.Hint(fmt.Errorf("several units are named %q: %s", q.unit, engine.First(found, 5)), "%s %s", verb, found[0])
		}
	}
	none := fmt.Sprintf("%s has no unit %q", cmp.Or(q.dir, "the cluster"), q.unit)
	ids := slices.SortedFunc(maps.Keys(g.units), engine.UnitID.Compare)
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = id.Name
	}
	if at := slices.Index(names, console.Nearest(ways[0].name, names)); at >= 0 {
		return engine.UnitID{}, console.Hint(fmt.Errorf("%s; did you mean %s?", none, ids[at]), "%s %s", verb, ids[at])
	}
	return engine.UnitID{}, console.Hint(errors.New(none), "%s", verb)
}

// around leaves of the graph a unit, what it waits for, what waits for it, and what makes the one or is made by the other; directly or not.
func (g *unitGraph) around(id engine.UnitID) {
	g.shown = map[engine.UnitID]bool{}
	g.spread(id, func(of engine.UnitID) []engine.UnitID {
		before := g.leadsTo(of)
		if maker := g.maker(g.units[of]); maker != nil {
			before = append(before, maker.Unit.ID)
		}
		return before
	})
	after := map[engine.UnitID][]engine.UnitID{}
	for other, u := range g.units {
		for _, on := range g.leadsTo(other) {
			after[on] = append(after[on], other)
		}
		if maker := g.maker(u); maker != nil {
			after[maker.Unit.ID] = append(after[maker.Unit.ID], other)
		}
	}
	g.spread(id, func(of engine.UnitID) []engine.UnitID { return after[of] })

	hidden := func(id engine.UnitID) bool { return !g.shown[id] }
	g.gated = slices.DeleteFunc(g.gated, hidden)
	g.trees = slices.DeleteFunc(g.trees, func(u *dialect.OfflineUnit) bool { return hidden(u.Unit.ID) })
	g.cycles = slices.DeleteFunc(g.cycles, func(cycle []engine.UnitID) bool { return slices.ContainsFunc(cycle, hidden) })
}

// spread shows a unit and all that can be reached from it.
func (g *unitGraph) spread(from engine.UnitID, further func(engine.UnitID) []engine.UnitID) {
	seen, rest := map[engine.UnitID]bool{from: true}, []engine.UnitID{from}
	for len(rest) > 0 {
		id := rest[0]
		rest = rest[1:]
		g.shown[id] = true
		for _, next := range further(id) {
			if g.units[next] != nil && !seen[next] {
				seen[next], rest = true, append(rest, next)
			}
		}
	}
}

// shows reports whether a unit is part of what is printed.
func (g *unitGraph) shows(id engine.UnitID) bool { return g.shown == nil || g.shown[id] }

// completeGraph completes PATH, and units of it or, without one, of the cluster.
func completeGraph(o *console.OfflineOptions) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		kind, _, named := strings.Cut(append(slices.Clone(args), typed)[0], "/")
		if _, err := o.Catalogue.Find(kind); err == nil && (named || len(args) > 0) {
			return o.CompleteObject(cmd, args, typed)
		}
		return o.CompleteRepository(cmd, args, typed)
	}
}
