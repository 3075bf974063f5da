package dialect

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/chart/similar"
	"github.com/headgate-dev/headgate/internal/engine"
)

// Role is what objects of a kind declare.
type Role int

// The roles.
const (
	// Input is anything that is neither a unit nor a source.
	Input Role = iota
	// Source declares something that units are rendered from.
	Source
	// Unit declares a unit of delivery.
	Unit
)

// Kind is a kind of objects that a dialect serves.
type Kind struct {
	schema.GroupKind
	// Version is the one that commands ask for, Resource the plural of the kind in lower case.
	Version, Resource string
	// Aliases are what commands call the kind, in lower case; the first one is what messages suggest.
	Aliases []string
	Role    Role
	// Generates is set when units are generated from objects of the kind.
	Generates bool
	// Namespace is where objects are that name none; empty for that of Headgate.
	Namespace string
	// Static objects have no status to read; ClusterScoped ones are in no namespace.
	Static, ClusterScoped bool
	// Category is a name of several kinds together, such as "images"; Derived sources are taken from other ones.
	Category string
	Derived  bool
	// Finalizer is on each object for as long as its kind is served; empty where that depends on the object.
	Finalizer string
}

// GroupVersionResource is how objects of the kind are reached.
func (k Kind) GroupVersionResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: k.Group, Version: k.Version, Resource: k.Resource}
}

// Plural is the short name of several objects: the first alias, or that with an s where this is one too.
func (k Kind) Plural() string {
	if len(k.Aliases) == 0 {
		return k.Resource
	}
	if several := k.Aliases[0] + "s"; slices.Contains(k.Aliases, several) {
		return several
	}
	return k.Aliases[0]
}

// Group is an API group that can be served, or the part of one that a dialect has.
type Group struct {
	// Name is the word of --serve.
	Name string
	// API is the API group where several dialects have kinds of it, and Name is not its name.
	API string
	// Controllers are those of the upstream that serve the group; that of a shard has the name of the shard behind its
	// own.
	Controllers []string
}

// Has reports whether objects of an API group are of the group.
func (g Group) Has(api string) bool { return cmp.Or(g.API, g.Name) == api }

// ServedBy reports whether a controller of the upstream serves the group.
func (g Group) ServedBy(controller string) bool {
	return slices.ContainsFunc(g.Controllers, func(name string) bool {
		return controller == name || strings.HasPrefix(controller, name+"-")
	})
}

// Catalogue is what can be served, in the order in which it is listed.
type Catalogue []Dialect

// Kinds are those of all dialects.
func (c Catalogue) Kinds() []Kind {
	var all []Kind
	for _, d := range c {
		all = append(all, d.Kinds()...)
	}
	return all
}

// Units are the kinds that declare units.
func (c Catalogue) Units() []Kind {
	return slices.DeleteFunc(c.Kinds(), func(k Kind) bool { return k.Role != Unit })
}

// Default is the kind of what is named without one: the first that declares units.
func (c Catalogue) Default() Kind {
	if units := c.Units(); len(units) > 0 {
		return units[0]
	}
	return Kind{}
}

// Of is the dialect of a kind: that which has it, or the first that has something of its API group; false when there is none.
func (c Catalogue) Of(gk schema.GroupKind) (Dialect, bool) {
	for _, d := range c {
		if slices.ContainsFunc(d.Kinds(), func(k Kind) bool { return k.GroupKind == gk }) {
			return d, true
		}
	}
	for _, d := range c {
		if slices.ContainsFunc(d.Groups(), func(g Group) bool { return g.Has(gk.Group) }) {
			return d, true
		}
	}
	return nil, false
}

// Kind is the kind of a group and a name.
func (c Catalogue) Kind(gk schema.GroupKind) (Kind, bool) {
	for _, k := range c.Kinds() {
		if k.GroupKind == gk {
			return k, true
		}
	}
	return Kind{}, false
}

// IsUnit reports whether an object declares a unit.
func (c Catalogue) IsUnit(id engine.ObjectID) bool {
	k, known := c.Kind(id.GroupKind())
	return known && k.Role == Unit && id.Cluster == ""
}

// ErrKind is returned for a name that no kind has, or several have.
var ErrKind = errors.New("unknown kind")

// Find is the kind that commands call by a name: an alias, or the resource or the kind with its group behind a dot. An
// alias of several kinds is an error that names them.
func (c Catalogue) Find(name string) (Kind, error) {
	name = strings.ToLower(name)
	var found []Kind
	for _, k := range c.Kinds() {
		full := []string{k.Resource + "." + k.Group, strings.ToLower(k.GroupKind.Kind) + "." + k.Group}
		if slices.Contains(full, name) {
			return k, nil
		}
		if slices.Contains(k.Aliases, name) {
			found = append(found, k)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return Kind{}, c.unknown(name)
	}
	names := make([]string, len(found))
	for i, k := range found {
		names[i] = k.Resource + "." + k.Group
	}
	return Kind{}, fmt.Errorf("%w %q: it is the name of several; use %s", ErrKind, name, strings.Join(names, " or "))
}

// FindAll are the kinds that commands call by a name, in every API group: an alias, the resource or the kind. With its group behind a
// dot it is one.
func (c Catalogue) FindAll(name string) []Kind {
	name = strings.ToLower(name)
	var found []Kind
	for _, k := range c.Kinds() {
		kind := strings.ToLower(k.GroupKind.Kind)
		if slices.Contains(append([]string{k.Resource, kind, k.Resource + "." + k.Group, kind + "." + k.Group}, k.Aliases...), name) {
			found = append(found, k)
		}
	}
	return found
}

// maxSuggested is how many kinds an error names.
const maxSuggested = 8

// unknown is the error for a name that no kind has: with the one that was probably meant, or else the first that there are.
func (c Catalogue) unknown(name string) error {
	all := c.Suggestions()
	if near := similar.Closest(name, all); near != "" {
		return fmt.Errorf("%w %q; did you mean %q?", ErrKind, name, near)
	}
	return fmt.Errorf("%w %q: it is neither a source nor a unit, such as %s", ErrKind, name, engine.First(all, maxSuggested))
}

// Suggestions are the first alias of each kind.
func (c Catalogue) Suggestions() []string {
	var names []string
	for _, k := range c.Kinds() {
		if len(k.Aliases) > 0 {
			names = append(names, k.Aliases[0])
		}
	}
	return names
}
