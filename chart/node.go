package chart

import (
	"fmt"
	"strings"
)

// Scope is a place in the tree of an App: the App itself, a Chart, a Group or an Object.
type Scope interface {
	// Node is the place; it is never nil.
	Node() *Node
}

// Node is one place in the tree of an App: its name, its neighbours and the line of Go that made it.
type Node struct {
	id       string
	parent   *Node
	children []*Node
	byID     map[string]*Node
	scope    Scope
	app      *App
	at       Position
	needs    []need
}

// need is a dependency: of what, on what comes first, and the line of Go that says so.
type need struct {
	of, on *Node
	at     Position
}

// ID is the name of the place among its siblings.
func (n *Node) ID() string { return n.id }

// Path is the names from below the App to this place, joined by slashes; the App's own is empty.
func (n *Node) Path() string { return strings.Join(n.Components(), "/") }

// Components are the names from below the App to this place.
func (n *Node) Components() []string {
	if n.parent == nil {
		return nil
	}
	return append(n.parent.Components(), n.id)
}

// App is the root of the tree.
func (n *Node) App() *App { return n.app }

// At is the line of Go that made the place.
func (n *Node) At() Position { return n.at }

// Children are the places below this one, in the order in which they were made.
func (n *Node) Children() []Scope {
	scopes := make([]Scope, len(n.children))
	for i, child := range n.children {
		scopes[i] = child.scope
	}
	return scopes
}

// DependsOn says that everything at and below this place comes after everything at and below the others. If a place depends on some of
// those within it, they come before its others; if places depend on one around them, they come after its others.
func (n *Node) DependsOn(others ...Scope) {
	at := caller()
	for _, other := range others {
		on := other.Node()
		switch {
		case on.app != n.app:
			n.Errorf("it depends on %q (%s), which belongs to another App", on.Path(), on.at)
		case on == n:
			n.Errorf("it depends on itself")
		default:
			n.needs = append(n.needs, need{of: n, on: on, at: at})
		}
	}
}

// Chart is the nearest chart at or above this place, and nil if there is none.
func (n *Node) Chart() *Chart {
	for place := n; place != nil; place = place.parent {
		if c, ok := place.scope.(*Chart); ok {
			return c
		}
	}
	return nil
}

// holds reports whether another place is below this one.
func (n *Node) holds(other *Node) bool {
	for place := other.parent; place != nil; place = place.parent {
		if place == n {
			return true
		}
	}
	return false
}

// Errorf keeps an error of this place; Synth returns it with the path of the place and the line of the caller.
func (n *Node) Errorf(format string, args ...any) {
	n.app.errors = append(n.app.errors, &Error{Path: n.Path(), At: caller(), Err: fmt.Errorf(format, args...)})
}

// join makes a place below scope. A name that is taken or empty is an error of the App; the place is made all the same, under a
// name of its own, so that what follows is judged too.
func join(scope Scope, id string, self Scope) *Node {
	parent := scope.Node()
	n := &Node{id: strings.NewReplacer("/", "--", "\n", "--").Replace(id), parent: parent, scope: self, app: parent.app, at: caller(), byID: map[string]*Node{}}
	switch first, taken := parent.byID[n.id]; {
	case n.id == "":
		n.id = fmt.Sprintf("unnamed-%d", len(parent.children))
		n.Errorf("a name is missing below %q", parent.Path())
	case taken:
		n.id = fmt.Sprintf("%s-%d", n.id, len(parent.children))
		parent.Errorf("%q is there already, made at %s", first.id, first.at)
	}
	parent.byID[n.id] = n
	parent.children = append(parent.children, n)
	return n
}
