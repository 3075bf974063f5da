package chart

import (
	"fmt"
	"slices"
	"strings"
)

// A place is three vertices of the graph: it begins, it is written, it ends. Whatever is below it is between the first and the last, so
// that a dependency among places of many objects is a single edge.
const (
	begins = iota
	writes
	ends
	// firsts comes after the places below one that it depends on itself, and before all others below it.
	firsts
	// lasts comes after all places below one but those that depend on it, and before these.
	lasts
)

type vertex struct {
	node *Node
	part int
}

// edge leads to a vertex that comes before; need is nil where the tree says so.
type edge struct {
	to   vertex
	need *need
}

// graph is a tree of places with its dependencies.
type graph struct {
	// top is the place that the graph is of.
	top *Node
	// charts says that the vertices are charts, and what is below a chart counts as the chart; otherwise they are the objects of
	// the chart at the top.
	charts bool
	edges  map[vertex][]edge
	// first are the places below one that it depends on, last those that depend on it.
	first, last bounds
	state       map[vertex]int
	path        []edge
	order       []*Node
}

const (
	unseen = iota
	open
	done
)

// orderCharts is the charts of an App, each after what it depends on and after the charts below it, in the order of making otherwise.
func orderCharts(a *App) ([]*Chart, error) {
	g := newGraph(&a.node, true)
	for _, n := range a.node.all(nil) {
		for i := range n.needs {
			g.addChartNeed(n, &n.needs[i])
		}
	}
	g.addRests()
	if err := g.visit(edge{to: vertex{&a.node, ends}}); err != nil {
		return nil, err
	}
	charts := make([]*Chart, 0, len(g.order))
	for _, n := range g.order {
		if c, ok := n.scope.(*Chart); ok {
			charts = append(charts, c)
		}
	}
	return charts, nil
}

// orderObjects is the objects of a chart, each after what it depends on, in the order of making otherwise.
func orderObjects(c *Chart) ([]*Object, error) {
	g := newGraph(c.node, false)
	for _, n := range c.node.ours(nil) {
		for i := range n.needs {
			if need := &n.needs[i]; need.on.Chart() == c {
				g.addNeed(n, need.on, need)
			}
		}
	}
	g.addRests()
	if err := g.visit(edge{to: vertex{c.node, ends}}); err != nil {
		return nil, err
	}
	var objects []*Object
	for _, n := range g.order {
		if o, ok := n.scope.(*Object); ok {
			objects = append(objects, o)
		}
	}
	return objects, nil
}

func newGraph(top *Node, charts bool) *graph {
	return &graph{top: top, charts: charts, edges: map[vertex][]edge{}, state: map[vertex]int{}, first: bounds{of: map[*Node][]*Node{}}, last: bounds{of: map[*Node][]*Node{}}}
}

// addChartNeed adds a dependency as one of the charts that its ends belong to, and of groups of charts.
func (g *graph) addChartNeed(n *Node, need *need) {
	from, to := n.Chart(), need.on.Chart()
	if from != to && from != nil && to != nil && !from.node.holds(to.node) {
		g.add(vertex{from.node, writes}, vertex{to.node, ends}, need)
	}
	if _, ok := n.scope.(*Group); ok && from == to && from != nil && !n.holds(need.on) {
		// Charts of a group cannot come after objects of the chart around them, which comes after all charts below it.
		for _, below := range n.all(nil) {
			if _, ok := below.scope.(*Chart); ok {
				g.add(vertex{below, begins}, vertex{from.node, writes}, need)
			}
		}
	}
	if _, ok := n.scope.(*Object); !ok {
		if _, ok := need.on.scope.(*Object); !ok {
			g.addNeed(n, need.on, need)
		} else if from != to && to != nil {
			g.addNeed(n, to.node, need)
		}
	}
}

// addNeed adds a dependency among two places.
func (g *graph) addNeed(n, on *Node, need *need) {
	switch {
	case n.holds(on):
		g.first.add(n, on)
		g.add(vertex{n, firsts}, vertex{on, ends}, need)
		g.add(vertex{n, writes}, vertex{n, firsts}, nil)
	case on.holds(n):
		g.last.add(on, n)
		g.add(vertex{n, begins}, vertex{on, lasts}, need)
		g.add(vertex{on, lasts}, vertex{on, writes}, nil)
	default:
		g.add(vertex{n, begins}, vertex{on, ends}, need)
	}
}

// addRests adds what the others below a place depend on, if it depends on some of them or some of them on it.
func (g *graph) addRests() {
	for _, n := range g.first.places {
		for _, other := range n.rest(g.first.of[n]) {
			g.add(vertex{other, begins}, vertex{n, firsts}, nil)
		}
	}
	for _, on := range g.last.places {
		for _, other := range on.rest(g.last.of[on]) {
			g.add(vertex{on, lasts}, vertex{other, ends}, nil)
		}
	}
}

// bounds are places, in the order in which they were added, with some of those below them.
type bounds struct {
	places []*Node
	of     map[*Node][]*Node
}

func (b *bounds) add(place, below *Node) {
	if len(b.of[place]) == 0 {
		b.places = append(b.places, place)
	}
	b.of[place] = append(b.of[place], below)
}

// rest is what is below a place but for some of it: the highest places that neither are nor hold one of those.
func (n *Node) rest(some []*Node) []*Node {
	marked := map[*Node]bool{}
	for _, one := range some {
		for place := one; place != n; place = place.parent {
			marked[place] = true
		}
	}
	var rest []*Node
	var visit func(place *Node)
	visit = func(place *Node) {
		for _, child := range place.children {
			switch {
			case !marked[child]:
				rest = append(rest, child)
			case !slices.Contains(some, child):
				visit(child)
			}
		}
	}
	visit(n)
	return rest
}

func (g *graph) add(from, to vertex, need *need) {
	g.edges[from] = append(g.edges[from], edge{to: to, need: need})
}

// before are the vertices that come before one: those that the tree says, and those that dependencies say.
func (g *graph) before(v vertex) []edge {
	var edges []edge
	switch v.part {
	case begins:
		if v.node != g.top && v.node.parent != nil {
			edges = append(edges, edge{to: vertex{v.node.parent, begins}})
		}
	case writes:
		edges = append(edges, edge{to: vertex{v.node, begins}})
		if _, ok := v.node.scope.(*Chart); ok && g.charts {
			// What is below a chart comes first, as its objects are written with it.
			for _, child := range v.node.children {
				edges = append(edges, g.ending(child)...)
			}
		}
	case ends:
		edges = append(edges, edge{to: vertex{v.node, writes}})
		for _, child := range v.node.children {
			edges = append(edges, g.ending(child)...)
		}
	}
	return append(edges, g.edges[v]...)
}

// ending is the edge to the end of a place, if the graph has it.
func (g *graph) ending(n *Node) []edge {
	switch n.scope.(type) {
	case *Object:
		if g.charts && len(n.children) == 0 {
			return nil
		}
	case *Chart:
		if !g.charts {
			return nil
		}
	}
	return []edge{{to: vertex{n, ends}}}
}

// visit appends what comes before a vertex, and the vertex.
func (g *graph) visit(along edge) error {
	v := along.to
	switch g.state[v] {
	case done:
		return nil
	case open:
		return g.cycle(along)
	}
	g.state[v] = open
	g.path = append(g.path, along)
	for _, next := range g.before(v) {
		if err := g.visit(next); err != nil {
			return err
		}
	}
	g.path = g.path[:len(g.path)-1]
	g.state[v] = done
	if v.part == writes {
		g.order = append(g.order, v.node)
	}
	return nil
}

// cycle spells out the cycle that an edge closes.
func (g *graph) cycle(closing edge) error {
	start := len(g.path) - 1
	for start > 0 && g.path[start].to != closing.to {
		start--
	}
	from := closing.to
	var steps []string
	for _, one := range append(g.path[start+1:len(g.path):len(g.path)], closing) {
		switch _, chart := from.node.scope.(*Chart); {
		case one.need != nil:
			steps = append(steps, fmt.Sprintf("%s depends on %s (%s)", name(one.need.of), name(one.need.on), one.need.at))
		case chart && from.part == writes && one.to.part == ends:
			steps = append(steps, fmt.Sprintf("%s comes after %s, which is below it (%s)", name(from.node), name(one.to.node), one.to.node.at))
		}
		from = one.to
	}
	first := closing.to.node
	return &Error{Path: first.Path(), At: first.at, Err: fmt.Errorf("a cycle of dependencies: %s", strings.Join(steps, "; "))}
}

// name is the path of a place, for messages.
func name(n *Node) string {
	if n.parent == nil {
		return "the App"
	}
	return n.Path()
}

// all appends the place and everything below it, in the order of making.
func (n *Node) all(places []*Node) []*Node {
	places = append(places, n)
	for _, child := range n.children {
		places = child.all(places)
	}
	return places
}

// ours appends the place and everything below it but what belongs to a chart below.
func (n *Node) ours(places []*Node) []*Node {
	places = append(places, n)
	for _, child := range n.children {
		if _, ok := child.scope.(*Chart); !ok {
			places = child.ours(places)
		}
	}
	return places
}
