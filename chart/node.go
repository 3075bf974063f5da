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
	needs    []*Node
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

// DependsOn says that everything at and below this place comes after everything at and below the others.
func (n *Node) DependsOn(others ...Scope) {
	for _, other := range others {
		n.needs = append(n.needs, other.Node())
	}
}

// Errorf keeps an error of this place; Synth returns it with the path of the place and the line of the caller.
func (n *Node) Errorf(format string, args ...any) {
	n.app.errors = append(n.app.errors, &Error{Path: n.Path(), At: caller(), Err: fmt.Errorf(format, args...)})
}

// join makes a place below scope. A name that is taken or empty is an error of the App; the place is made all the same, under a
// name of its own, so that what follows is judged too.
func join(scope Scope, id string, self Scope) *Node {
	parent := scope.Node()
	n := &Node{id: strings.ReplaceAll(id, "/", "--"), parent: parent, scope: self, app: parent.app, at: caller(), byID: map[string]*Node{}}
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
