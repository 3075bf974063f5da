// Package managed is the contract of managed resources as Crossplane has it: an object of the cluster declares something outside
// the cluster, which is observed, created, updated and deleted until both agree.
//
// Next decides, as a pure function of facts; a Reconciler gathers them and carries out what was decided, one pass at a time for
// each resource. What is outside is a provider's: it describes its kinds, and brings an External for each pass. The package
// refuses to know any kind. It writes managed resources, their connection Secrets and the records of who uses a provider
// configuration, and reads no Secret but those that a resource or its configuration names.
//
// A creation is recorded before it is requested, under a number that no other creation of the resource has. When its
// result is lost, what it created is searched for and adopted, or waited for until it is certain that there is nothing.
package managed

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/dialect"
)

// Provider is what one provider brings to the dialect: its groups and kinds, and how what they declare is reached.
type Provider interface {
	// Groups are its API groups, in the order in which they are listed.
	Groups() []dialect.Group
	// Kinds are its managed resources.
	Kinds() []Kind
	// Definitions are the CustomResourceDefinitions of all of its groups, those of provider configurations and their
	// usages included.
	Definitions() ([]*unstructured.Unstructured, error)
	// Serve puts together what reaches external resources from one cluster, until ctx ends. It makes no requests.
	Serve(ctx context.Context, to Tools) (Connector, error)
}

// Tools are what a provider is served with.
type Tools struct {
	*dialect.Host
	// Edges follow objects of the home cluster.
	Edges *Edges
}

// Kind describes a kind of managed resources.
type Kind struct {
	// Kind is how commands know it. Its version is the one that is watched and written.
	dialect.Kind
	Namespaced bool
	// Policies are those that its objects can declare.
	Policies Policies
	// Deletion is set when there is spec.deletionPolicy. Namespaced kinds have none.
	Deletion bool
	// Naming says where external names come from.
	Naming Naming
	// Repeatable creations have the same result however often they are requested, so that an interrupted one is repeated: the
	// name of what they create is known before.
	Repeatable bool
	// Configurations are the kinds of provider configurations that a resource can name, the default first. DefaultName is
	// the one that is used when a resource names none; empty when it has to.
	Configurations []Configuration
	DefaultName    string
	// References are fields that can be taken from other managed resources.
	References []Reference
	// Poll is how often what is up to date is observed; zero for the interval of the engine, less than zero for never, since
	// changes are watched.
	Poll time.Duration
	// ShowsDifference is set when the kind has the condition UpToDate.
	ShowsDifference bool
}

// Policies are the spellings of management policies.
type Policies int

// The spellings.
const (
	// NoPolicies have no field: everything is managed.
	NoPolicies Policies = iota
	// ManagementPolicies is the list spec.managementPolicies.
	ManagementPolicies
	// BothPolicies is that list, and the older spec.managementPolicy of provider-kubernetes beside it.
	BothPolicies
)

// Naming says where the external name of a resource comes from.
type Naming int

// Where names come from.
const (
	// ByObject: it is the name of the object, unless the annotation has another one.
	ByObject Naming = iota
	// ByProvider: a creation returns it. A resource without the annotation has not been created yet.
	ByProvider
)

// Configuration is a kind of provider configurations.
type Configuration struct {
	dialect.Kind
	Namespaced bool
	// Usage is the kind of the records of who uses one; Labelled when they have labels with the name and kind of it.
	Usage dialect.Kind
}

// Reference is a field that can be taken from another managed resource. Paths are below spec.forProvider.
type Reference struct {
	// To is the field that gets the external name of the other resource; a list of them when Many is set.
	To   string
	Many bool
	// Number is set when the field is a number.
	Number bool
	// Ref and Selector are the fields that name the other one.
	Ref, Selector string
	// Kind is that of the other resource, which may be of another provider; it is namespaced when the one that refers is.
	Kind dialect.Kind
	// From is the path of the value in the other object, such as "status.atProvider.id"; empty for its external name.
	From string
}
