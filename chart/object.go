package chart

// Object is one Kubernetes object of a Chart.
type Object struct {
	node    *Node
	value   any
	patches []Patch
}

// Add puts a Kubernetes object below scope. The object is a pointer to its Go type, a map[string]any or an *unstructured.Unstructured;
// it is read when the App is synthesized. A type of k8s.io/api, of Headgate's API or of "headgate import" needs no apiVersion and
// kind. Without metadata.name it gets one from its path, and the namespace of its chart if its kind is namespaced.
func Add(scope Scope, id string, object any) *Object {
	o := &Object{value: object}
	o.node = join(scope, id, o)
	return o
}

// Node is the object's place.
func (o *Object) Node() *Node { return o.node }

// DependsOn says that the object comes after everything at and below the others, and returns the object.
func (o *Object) DependsOn(others ...Scope) *Object {
	o.node.DependsOn(others...)
	return o
}

// Patch changes what the object is converted to, after everything else: nothing filters what a patch wrote. A patch that does not
// apply is an error of Synth.
func (o *Object) Patch(patches ...Patch) *Object {
	o.patches = append(o.patches, patches...)
	return o
}

// Patch is a change to a converted object: JSONPatch or Merge.
type Patch interface {
	apply(o *Manifest) error
}

// Manifest is an object as it is written, with where it comes from.
type Manifest struct {
	// Object is the object: maps, slices, strings, bools, int64 and float64.
	Object map[string]any
	// Path is the path of its construct, and At the line of Go that made it.
	Path string
	At   Position
}

// Resolver replaces a value of an object while it is converted: names with a prefix, secrets that are injected, waves by kind.
// The first that answers wins, and what it answers is resolved again.
type Resolver interface {
	// Resolve is asked for every value of an object, from the outside in: path is empty for the object itself. ok says that the
	// value is replaced by the answer.
	Resolve(o *Object, path []string, value any) (replaced any, ok bool, err error)
}

// Check judges objects that are about to be written.
type Check interface {
	// Check is asked once for each App with all of its objects, in the order in which they are written.
	Check(manifests []Manifest) []Finding
}

// Finding is what a Check has to say of one object.
type Finding struct {
	// Manifest is the index of the object in what was checked.
	Manifest int
	// Rule is the name of the rule, Field the field that it is about ("spec.replicas"), Message what is wrong and what to write instead.
	Rule, Field, Message string
	// Severity of the finding; Synth fails for an Error only.
	Severity Severity
}

// Severity is how grave a Finding is.
type Severity int

const (
	// SeverityError keeps Synth from writing.
	SeverityError Severity = iota
	// SeverityWarning is printed.
	SeverityWarning
	// SeverityInfo is printed when asked for.
	SeverityInfo
)
