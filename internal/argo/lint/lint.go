// Package lint finds what is wrong with the Applications of a repository before any of them is synced: waits that never
// end, because waves or dependencies contradict each other, names that collide, and Applications that nothing leads to.
//
// It takes values and returns values. It knows nothing of files, and refuses to guess: of an Application that could not
// be rendered, nothing is said that would need its objects.
package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/engine"
)

// App is an Application of a repository.
type App struct {
	ID engine.UnitID
	// Parent declares it, zero for a root; Wave is its wave there.
	Parent engine.UnitID
	Wave   int
	// Depends are what it waits for by its own word.
	Depends []engine.Dependency
	// Objects are what it declares, hooks and children among them.
	Objects []Object
	// Namespace is one that its sync makes before anything else; zero when it makes none.
	Namespace engine.ObjectID
}

// Object is one that an Application declares.
type Object struct {
	ID engine.ObjectID
	// Defines is the kind that it defines, if it is a definition.
	Defines schema.GroupKind
	// Hook is set for hooks, of which several syncs may declare the same.
	Hook bool
	// Phase and Wave are when it is applied, within its Application. A negative Phase is not part of a sync.
	Phase, Wave int
	// Needs is the namespace that it is applied to; zero if it has none, or that is unknown.
	Needs engine.ObjectID
}

// Finding is one thing that is wrong. Text says what, and what to change.
type Finding struct {
	// Never is set for a wait that never ends.
	Never bool
	// Perhaps is set for what the sync here continues with, and the one of Argo CD may not.
	Perhaps bool
	// Declared is set where dependencies alone make it so.
	Declared bool
	Text     string
	// App is the one to change, and About the object of it that it is about, if that is not the Application itself.
	App   engine.UnitID
	About engine.ObjectID
}

// Check finds what is wrong, in a fixed order.
func Check(apps []App) []Finding {
	c := &checker{apps: map[engine.UnitID]*App{}}
	for i := range apps {
		if c.apps[apps[i].ID] == nil {
			c.apps[apps[i].ID] = &apps[i]
			c.order = append(c.order, &apps[i])
		}
	}
	var all []Finding
	all = append(all, c.definitions()...)
	all = append(all, c.namespaces()...)
	all = append(all, c.cycles()...)
	all = append(all, c.unknown()...)
	return append(all, c.doubles()...)
}

type checker struct {
	apps  map[engine.UnitID]*App
	order []*App
}

// path are an Application and those above it, the root first.
func (c *checker) path(a *App) []*App {
	way := []*App{a}
	for a.Parent != (engine.UnitID{}) && len(way) <= len(c.apps) {
		parent := c.apps[a.Parent]
		if parent == nil || slices.Contains(way, parent) {
			break
		}
		way = append(way, parent)
		a = parent
	}
	slices.Reverse(way)
	return way
}

// fork is where the ways to two Applications part: the members of one parent through which they lead. It is false when one leads
// to the other, or no parent leads to both.
func (c *checker) fork(a, b *App) (overA, overB *App, found bool) {
	wayA, wayB := c.path(a), c.path(b)
	for i := range min(len(wayA), len(wayB)) {
		if wayA[i] != wayB[i] {
			return wayA[i], wayB[i], i > 0
		}
	}
	return nil, nil, false
}

// kindAt is a kind in a cluster.
type kindAt struct {
	schema.GroupKind

	cluster string
}

// definitions finds objects that come in an earlier wave than the definition of their kind. Within one Application, the
// definition is moved before them.
func (c *checker) definitions() []Finding {
	defined := map[kindAt][]*App{}
	for _, a := range c.order {
		for _, o := range a.Objects {
			if at := (kindAt{o.Defines, o.ID.Cluster}); o.Defines.Kind != "" {
				defined[at] = append(defined[at], a)
			}
		}
	}
	var all []Finding
	for _, a := range c.order {
		told := map[kindAt]bool{}
		for _, o := range a.Objects {
			gk := kindAt{schema.GroupKind{Group: o.ID.Group, Kind: o.ID.Kind}, o.ID.Cluster}
			if told[gk] || len(defined[gk]) == 0 {
				continue
			}
			if text := c.late(a, o.ID, defined[gk]); text != "" {
				told[gk] = true
				all = append(all, Finding{Perhaps: true, Text: text, App: a.ID, About: o.ID})
			}
		}
	}
	return all
}

// late reports whether all who define the kind of an object come after it; empty when one does not.
func (c *checker) late(a *App, id engine.ObjectID, definers []*App) string {
	text := ""
	for _, d := range definers {
		overA, overD, found := c.fork(a, d)
		if d == a || !found || overA.Wave >= overD.Wave {
			return ""
		}
		text = fmt.Sprintf("%s, in %s, needs the definition of its kind in %s, which comes later: %s; the sync continues without waiting for that, which Argo CD may not; move the definition to an earlier wave, or %s to a later one",
			id, a.ID, d.ID, waves(overA, overD), a.ID)
	}
	return text
}

// waves words in which waves two members of a sync are.
func waves(a, b *App) string {
	return fmt.Sprintf("in the sync of %s, %s is in wave %d and %s in wave %d", a.Parent, a.ID, a.Wave, b.ID, b.Wave)
}

// cycles finds waits for each other: by dependencies, by waves, and by parents that wait for their children.
func (c *checker) cycles() []Finding {
	graph, why := engine.Graph{}, map[[2]engine.UnitID]reason{}
	enter := func(from, on engine.UnitID, r reason) {
		if key := [2]engine.UnitID{from, on}; why[key].text == "" {
			why[key] = r
			graph[from] = append(graph[from], on)
		}
	}
	wait := func(from, on engine.UnitID, text string) { enter(from, on, reason{text: text}) }
	for _, a := range c.order {
		graph[a.ID] = append(graph[a.ID], nil...)
		for _, d := range a.Depends {
			if c.apps[d.Unit] != nil {
				enter(a.ID, d.Unit, reason{fmt.Sprintf("%s depends on %s", a.ID, d.Unit), true})
			}
		}
		if c.apps[a.Parent] != nil {
			wait(a.Parent, a.ID, fmt.Sprintf("%s waits for its member %s", a.Parent, a.ID))
		}
	}
	for _, members := range c.members() {
		c.sequence(members, wait)
	}
	var all []Finding
	for _, cycle := range graph.Cycles() {
		if text, declared := reasons(cycle, why); text != "" {
			all = append(all, Finding{Never: true, Declared: declared, Text: text, App: cycle[0]})
		}
	}
	return all
}

// members are the children of each Application, by their waves.
func (c *checker) members() []map[int][]*App {
	by := map[engine.UnitID]map[int][]*App{}
	var all []map[int][]*App
	for _, a := range c.order {
		if c.apps[a.Parent] == nil {
			continue
		}
		if by[a.Parent] == nil {
			by[a.Parent] = map[int][]*App{}
			all = append(all, by[a.Parent])
		}
		by[a.Parent][a.Wave] = append(by[a.Parent][a.Wave], a)
	}
	return all
}

// sequence has the members of each wave wait for those of the one before.
func (c *checker) sequence(members map[int][]*App, wait func(from, on engine.UnitID, text string)) {
	sorted := slices.Sorted(maps.Keys(members))
	for i := 1; i < len(sorted); i++ {
		for _, later := range members[sorted[i]] {
			for _, earlier := range members[sorted[i-1]] {
				wait(later.ID, earlier.ID, fmt.Sprintf("%s, in wave %d, waits for %s, in wave %d", later.ID, later.Wave, earlier.ID, earlier.Wave))
			}
		}
	}
}

// reason is why an Application waits for another one; declared is set for a dependency that it declares.
type reason struct {
	text     string
	declared bool
}

// reasons words a cycle, step by step, and reports whether all of them are declared. A cycle begins and ends with the same one.
func reasons(cycle []engine.UnitID, why map[[2]engine.UnitID]reason) (text string, declared bool) {
	var steps []string
	declared = true
	for i := 1; i < len(cycle); i++ {
		step := why[[2]engine.UnitID{cycle[i-1], cycle[i]}]
		steps, declared = append(steps, step.text), declared && step.declared
	}
	return strings.Join(steps, "; "), declared
}

// unknown finds dependencies on Applications that there are not.
func (c *checker) unknown() []Finding {
	var all []Finding
	for _, a := range c.order {
		for _, d := range a.Depends {
			if d.Unit.GroupKind() == a.ID.GroupKind() && c.apps[d.Unit] == nil {
				all = append(all, Finding{Never: true, App: a.ID, Text: fmt.Sprintf(
					"%s depends on %s, which the repository does not declare; name one that it does in headgate.dev/depends-on", a.ID, d.Unit)})
			}
		}
	}
	return all
}

// doubles finds objects that several Applications declare.
func (c *checker) doubles() []Finding {
	by := map[engine.ObjectID][]engine.UnitID{}
	for _, a := range c.order {
		for _, o := range a.Objects {
			if !o.Hook && o.ID.Name != "" && !slices.Contains(by[o.ID], a.ID) {
				by[o.ID] = append(by[o.ID], a.ID)
			}
		}
	}
	var all []Finding
	for _, id := range slices.SortedFunc(maps.Keys(by), engine.ObjectID.Compare) {
		if owners := by[id]; len(owners) > 1 {
			slices.SortFunc(owners, engine.UnitID.Compare)
			names := make([]string, len(owners))
			for i, owner := range owners {
				names[i] = owner.String()
			}
			all = append(all, Finding{
				App: owners[0], About: id, Text: fmt.Sprintf("%s is declared by %s: remove it from all but one", id, strings.Join(names, " and by ")),
			})
		}
	}
	return all
}
