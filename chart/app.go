package chart

import (
	"maps"
	"slices"
	"strings"
)

// Settings are what holds for a whole App. The zero value is a good start: readable names, validation against the newest
// Kubernetes that the SDK knows, nothing filled in.
type Settings struct {
	// Names says how objects without a name get theirs.
	Names NameMode
	// Labels are on every object that does not set them itself.
	Labels map[string]string
	// Resolvers replace values while an App is synthesized: see Resolver.
	Resolvers []Resolver
	// ClusterScoped are kinds without a namespace that the SDK does not know: "Tenant.capsule.clastix.io". Kinds of Kubernetes, of
	// types that implement Kinded and of CustomResourceDefinitions in the App need no mention.
	ClusterScoped []string
	// Checks judge what Synth is about to write: schemas (package chart/schema), lint rules (package chart/lint), rules of your own.
	Checks []Check
	// Arrangement says which files Main writes: a Layout, or one of your own. Without it, there is one file per chart.
	Arrangement Arrangement
}

// NameMode says how objects without a name get theirs.
type NameMode int

const (
	// PlainNames join the names on the path of an object: "web-server". Two objects of one kind, namespace and name are an error.
	PlainNames NameMode = iota
	// CDK8sNames are those of cdk8s 2: the path with a hash of it, "web-server-c8feaf05".
	CDK8sNames
)

// App is the root of a description.
type App struct {
	node     Node
	settings Settings
	errors   Errors
	// cluster are the kinds without a namespace whose definitions are in the App.
	cluster map[string]bool
}

// NewApp is an App without charts.
func NewApp(settings Settings) *App {
	a := &App{settings: settings, cluster: map[string]bool{}}
	a.node = Node{scope: a, app: a, at: caller(), byID: map[string]*Node{}}
	return a
}

// Node is the root of the tree.
func (a *App) Node() *Node { return &a.node }

// Props are what a Chart gives to its objects, and to the charts below it that do not say otherwise.
type Props struct {
	// Namespace is that of every namespaced object of the chart which has none of its own.
	Namespace string
	// Labels are on every object of the chart that does not set them itself.
	Labels map[string]string
	// NoNameHashes leaves the hash out of names in the mode CDK8sNames.
	NoNameHashes bool
}

// Chart is a set of objects that are written together. Charts nest; an object belongs to the nearest.
type Chart struct {
	node  *Node
	props Props
}

// New is a Chart without objects below scope.
func New(scope Scope, id string, props Props) *Chart {
	c := &Chart{props: props}
	c.node = join(scope, id, c)
	return c
}

// Node is the chart's place.
func (c *Chart) Node() *Node { return c.node }

// Namespace is that of the chart's objects which have none of their own; it may be empty.
func (c *Chart) Namespace() string { return c.node.namespace() }

// Group is a name for some of a chart's objects.
type Group struct{ node *Node }

// NewGroup is a Group without objects below scope.
func NewGroup(scope Scope, id string) *Group {
	g := &Group{}
	g.node = join(scope, id, g)
	return g
}

// Node is the group's place.
func (g *Group) Node() *Node { return g.node }

// clusterScoped reports whether the settings or a definition in the App say that a kind has no namespace.
func (a *App) clusterScoped(group, kind string) bool {
	id := strings.TrimSuffix(kind+"."+group, ".")
	return a.cluster[id] || slices.Contains(a.settings.ClusterScoped, id)
}

// define notes the kind without a namespace that a CustomResourceDefinition defines.
func (a *App) define(definition any) {
	converted, _ := plain(definition) // Synth converts the object as well, and reports errors
	object, _ := converted.(map[string]any)
	spec, _ := object["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	if text(spec, "scope") == "Cluster" {
		a.cluster[text(names, "kind")+"."+text(spec, "group")] = true
	}
}

// namespace is that of the nearest chart with one.
func (n *Node) namespace() string {
	for place := n; place != nil; place = place.parent {
		if c, ok := place.scope.(*Chart); ok && c.props.Namespace != "" {
			return c.props.Namespace
		}
	}
	return ""
}

// labels are those of the App and of the charts around a place; the nearest wins.
func (n *Node) labels() map[string]string {
	if n.parent == nil {
		labels := map[string]string{}
		maps.Copy(labels, n.app.settings.Labels)
		return labels
	}
	labels := n.parent.labels()
	if c, ok := n.scope.(*Chart); ok {
		maps.Copy(labels, c.props.Labels)
	}
	return labels
}
