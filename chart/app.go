package chart

// Settings are what holds for a whole App. The zero value is a good start: readable names, validation against the newest
// Kubernetes that the SDK knows, nothing filled in.
type Settings struct {
	// Names says how objects without a name get theirs.
	Names NameMode
	// Labels are on every object that does not set them itself.
	Labels map[string]string
	// Resolvers replace values while an App is synthesized: see Resolver.
	Resolvers []Resolver
	// Checks judge what Synth is about to write: schemas (package chart/schema), lint rules (package chart/lint), rules of your own.
	Checks []Check
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
	errors   []*Error
}

// NewApp is an App without charts.
func NewApp(settings Settings) *App {
	a := &App{settings: settings}
	a.node = Node{scope: a, app: a, at: caller(), byID: map[string]*Node{}}
	return a
}

// Node is the root of the tree.
func (a *App) Node() *Node { return &a.node }

// Props are what a Chart gives to its objects.
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
