package engine

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// UnitID names a unit: the object of the engine's own cluster that declares it, whatever version of its API it was read in.
type UnitID struct {
	Group, Kind, Namespace, Name string
}

// UnitOf is the unit that an object declares.
func UnitOf(id ObjectID) UnitID {
	return UnitID{Group: id.Group, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}
}

// Object is the object that declares the unit.
func (u UnitID) Object() ObjectID {
	return ObjectID{Group: u.Group, Kind: u.Kind, Namespace: u.Namespace, Name: u.Name}
}

// GroupKind is the kind of the object that declares the unit.
func (u UnitID) GroupKind() schema.GroupKind { return schema.GroupKind{Group: u.Group, Kind: u.Kind} }

// String is Kind/namespace/name.
func (u UnitID) String() string { return u.Kind + "/" + u.Namespace + "/" + u.Name }

// Compare orders units by kind, namespace, name and group.
func (u UnitID) Compare(other UnitID) int {
	return cmp.Or(
		cmp.Compare(u.Kind, other.Kind), cmp.Compare(u.Namespace, other.Namespace), cmp.Compare(u.Name, other.Name),
		cmp.Compare(u.Group, other.Group),
	)
}

// SourceID names the object that declares a source.
type SourceID struct {
	Group, Kind, Namespace, Name string
}

// SourceOf is the source that an object declares.
func SourceOf(id ObjectID) SourceID {
	return SourceID{Group: id.Group, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}
}

// Object is the object that declares the source.
func (s SourceID) Object() ObjectID {
	return ObjectID{Group: s.Group, Kind: s.Kind, Namespace: s.Namespace, Name: s.Name}
}

// GroupKind is the kind of the object that declares the source.
func (s SourceID) GroupKind() schema.GroupKind { return schema.GroupKind{Group: s.Group, Kind: s.Kind} }

// String is Kind/namespace/name.
func (s SourceID) String() string { return s.Kind + "/" + s.Namespace + "/" + s.Name }

// Dependency is something that must be ready before the unit moves.
type Dependency struct {
	// Unit is set when the dependency is a unit that this engine runs.
	Unit UnitID
	// Object is set otherwise: any object of the cluster.
	Object ObjectID
	// Exists is set when the object only has to be there, and need not be ready.
	Exists bool
	// Expr, when not empty, is the CEL expression that decides: over dep and self for a unit, over the
	// fields of an object.
	Expr string
}

// String names the dependency.
func (d Dependency) String() string { return d.subject().String() }

func (d Dependency) subject() Subject {
	if d.Unit != (UnitID{}) {
		return d.Unit
	}
	return d.Object
}

// HealthPolicy says what the health of a unit is made of.
type HealthPolicy struct {
	// Wait counts every applied object.
	Wait bool
	// Checks are counted when Wait is off.
	Checks []Entry
	// Exprs replace the built-in rules for a kind.
	Exprs []HealthExpr
	// Once waits for health after something was done for the unit, and not when it is lost later.
	Once bool
	// Patient waits as long as it takes: what failed may recover, and nothing is done about it.
	Patient bool
}

// Checked reports whether the unit has any health to wait for.
func (h HealthPolicy) Checked() bool { return h.Wait || len(h.Checks) > 0 }

// HealthExpr holds the CEL expressions of one kind, or without a kind those of every kind of the group that has none
// of its own.
type HealthExpr struct {
	Group, Kind                 string
	Current, InProgress, Failed string
}

// ExprsFor are the expressions by which objects of a kind are judged.
func ExprsFor(exprs []HealthExpr, gk schema.GroupKind) []HealthExpr {
	var own, group []HealthExpr
	for _, e := range exprs {
		switch {
		case e.Group != gk.Group:
		case e.Kind == gk.Kind:
			own = append(own, e)
		case e.Kind == "":
			group = append(group, e)
		}
	}
	if len(own) > 0 {
		return own
	}
	return group
}

// DeletionPolicy says what becomes of a unit's objects when the unit is deleted.
type DeletionPolicy string

// The policies, by the names that Flux gives them.
const (
	DeletionMirrorPrune        DeletionPolicy = "MirrorPrune"
	DeletionDelete             DeletionPolicy = "Delete"
	DeletionWaitForTermination DeletionPolicy = "WaitForTermination"
	DeletionOrphan             DeletionPolicy = "Orphan"
)

// Target is where the objects of a unit are, and as whom they are read and written there.
type Target struct {
	// Cluster names another cluster than the engine's own, by what says how it is reached. It is
	// empty for the engine's own.
	Cluster string
	// User is who the engine acts as, empty for itself.
	User string
	// Owner names how the objects are marked as the unit's, empty for the dialect's first way.
	Owner string
}

// Invalid is why a declaration cannot be followed at all.
type Invalid struct {
	Reason  Reason
	Message string
}

// Unit is what a dialect's object declares, in the engine's terms.
type Unit struct {
	ID         UnitID
	UID        string
	Generation int64
	// Version is the resource version in which the declaration was read, zero if it does not matter.
	Version uint64
	// Requested is the token of the last pass that a user requested.
	Requested string
	Suspended bool
	Deleting  bool
	// Observed writes the state of the unit whenever one of its objects changes.
	Observed bool
	// FollowsDrift lets a driver check at once objects that another manager changed.
	FollowsDrift bool
	// Invalid is set when the declaration cannot be followed.
	Invalid Invalid
	Target  Target

	// Source is empty for a unit whose objects are given by its own declaration.
	Source       SourceID
	Dependencies []Dependency
	// Reads are the objects that the render reads beside its source.
	// They are in the engine's own cluster, whatever the target is.
	Reads []ObjectID

	Interval, RetryInterval, Timeout time.Duration

	Prune    bool
	Force    bool
	Deletion DeletionPolicy
	Health   HealthPolicy
	Ignore   []IgnoreRule
	// Inventory is what the unit had applied when its object was last read.
	Inventory []Entry
	// Applied is the revision that the unit had applied when its object was last read.
	Applied string
	// Handled is the token of the last request that was handled.
	Handled string
	// LetGo is what a person does to have the unit deleted without its objects.
	LetGo string
	// Steered is what annotations say by which a person answers its messages: another one begins a pass.
	Steered string
	// DeletionHold is how long its deletions wait for other units, as its annotation of that name says.
	DeletionHold string
	// Project is that of an Application, and Confined is set where the unit may refer to nothing in other namespaces.
	Project  string
	Confined bool
}

// Sourced reports whether the objects of the unit come from a source.
func (u *Unit) Sourced() bool { return u.Source != (SourceID{}) }

// IgnoreRule names fields that the unit leaves to others.
type IgnoreRule struct {
	Paths []Pointer
	// Match reports which objects are meant.
	Match func(ObjectView) bool `json:"-"`
}

// ObjectView is what an IgnoreRule may read.
type ObjectView interface {
	GetName() string
	GetNamespace() string
	GroupVersionKind() schema.GroupVersionKind
	GetLabels() map[string]string
	GetAnnotations() map[string]string
}
