package dialect

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ErrGroup is returned for an API group that no dialect has.
var ErrGroup = errors.New("unknown API group")

// Groups are the API groups that are served, with the dialects that they are of. The zero value is none.
type Groups struct{ all []served }

type served struct {
	Group
	of Dialect
}

// All are the groups of all dialects.
func (c Catalogue) All() Groups {
	var g Groups
	for _, d := range c {
		for _, one := range d.Groups() {
			g.all = append(g.all, served{one, d})
		}
	}
	return g
}

// Parse reads the names of API groups; the name of a dialect stands for all of its groups. No names are all groups.
func (c Catalogue) Parse(names []string) (Groups, error) {
	if len(names) == 0 {
		return c.All(), nil
	}
	var words, groups []string
	for _, d := range c {
		words = append(words, d.Name())
	}
	for _, g := range c.All().all {
		groups = append(groups, g.Name)
	}
	wanted := map[string]bool{}
	for _, name := range names {
		switch at := slices.Index(words, name); {
		case at >= 0:
			for _, g := range c[at].Groups() {
				wanted[g.Name] = true
			}
		case slices.Contains(groups, name):
			wanted[name] = true
		default:
			return Groups{}, fmt.Errorf("%w %q: use %s, or any of %s", ErrGroup, name, strings.Join(words, ", "), strings.Join(groups, ", "))
		}
	}
	return Groups{slices.DeleteFunc(c.All().all, func(g served) bool { return !wanted[g.Name] })}, nil
}

// Names are the API groups, in the order of the catalogue.
func (g Groups) Names() []string {
	names := make([]string, len(g.all))
	for i, one := range g.all {
		names[i] = one.Name
	}
	return names
}

// Serves reports whether an API group is served.
func (g Groups) Serves(name string) bool {
	return slices.ContainsFunc(g.all, func(one served) bool { return one.Name == name })
}

// ServesKind reports whether a kind of a dialect is served.
func (g Groups) ServesKind(d Dialect, k Kind) bool {
	return slices.ContainsFunc(g.all, func(one served) bool { return one.of == d && one.Has(k.Group) })
}

// Dialects are those of which a group is served.
func (g Groups) Dialects() []Dialect {
	var all []Dialect
	for _, one := range g.all {
		if !slices.Contains(all, one.of) {
			all = append(all, one.of)
		}
	}
	return all
}

// Delivering are the groups of dialects that declare units or sources, which nothing can begin without. Others are those of dialects
// that take their objects as the cluster has them: these may be served a moment later.
func (g Groups) Delivering() (delivering, others Groups) {
	for _, one := range g.all {
		if slices.ContainsFunc(one.of.Kinds(), func(k Kind) bool { return k.Role != Input }) {
			delivering.all = append(delivering.all, one)
		} else {
			others.all = append(others.all, one)
		}
	}
	return delivering, others
}

// Knows reports whether objects of a kind are served.
func (g Groups) Knows(gk schema.GroupKind) bool {
	return slices.ContainsFunc(g.Dialects(), func(d Dialect) bool {
		return slices.ContainsFunc(d.Kinds(), func(k Kind) bool { return k.GroupKind == gk && g.ServesKind(d, k) })
	})
}

// Units are the kinds of the served groups that declare units.
func (g Groups) Units() map[schema.GroupKind]bool {
	kinds := map[schema.GroupKind]bool{}
	for _, d := range g.Dialects() {
		for _, k := range d.Kinds() {
			if k.Role == Unit && g.ServesKind(d, k) {
				kinds[k.GroupKind] = true
			}
		}
	}
	return kinds
}

// Finalizers are those that each object of a kind has while it is served.
func (g Groups) Finalizers() map[schema.GroupKind]string {
	finalizers := map[schema.GroupKind]string{}
	for _, d := range g.Dialects() {
		for _, k := range d.Kinds() {
			if k.Finalizer != "" && g.ServesKind(d, k) {
				finalizers[k.GroupKind] = k.Finalizer
			}
		}
	}
	return finalizers
}

// Resource is how objects of a kind of the served groups are reached; false for any other kind.
func (g Groups) Resource(gvk schema.GroupVersionKind) (schema.GroupVersionResource, bool) {
	for _, d := range g.Dialects() {
		for _, k := range d.Kinds() {
			if k.WithVersion(k.Version) == gvk && g.ServesKind(d, k) {
				return k.GroupVersionResource(), true
			}
		}
	}
	return schema.GroupVersionResource{}, false
}

// ServedBy names the first served group that a controller of an upstream serves as well.
func (g Groups) ServedBy(controller string) (group string, is bool) {
	for _, one := range g.all {
		if one.ServedBy(controller) {
			return one.Name, true
		}
	}
	return "", false
}

// ServedUpstream is an upstream with those of its groups that are served.
type ServedUpstream struct {
	Upstream
	Serve Groups
}

// Upstreams are those of the dialects that have one, in the order of the catalogue.
func (g Groups) Upstreams() []ServedUpstream {
	var all []ServedUpstream
	for _, d := range g.Dialects() {
		if of, has := d.(Upstreamed); has {
			all = append(all, ServedUpstream{of.Upstream(), g.Only(d)})
		}
	}
	return all
}

// Only are the served groups of one dialect.
func (g Groups) Only(d Dialect) Groups {
	return Groups{slices.DeleteFunc(slices.Clone(g.all), func(one served) bool { return one.of != d })}
}

// Definitions are the CustomResourceDefinitions of the groups, and the namespaces that installations of their dialects
// need.
func (g Groups) Definitions() (definitions []*unstructured.Unstructured, namespaces []string, err error) {
	for _, d := range g.Dialects() {
		some, where, err := d.Definitions(g)
		if err != nil {
			return nil, nil, fmt.Errorf("reading the definitions of %s: %w", d.Name(), err)
		}
		definitions, namespaces = append(definitions, some...), append(namespaces, where...)
	}
	return definitions, namespaces, nil
}

// Controllers are those of upstreams that serve the groups.
func (g Groups) Controllers() []string {
	var names []string
	for _, one := range g.all {
		names = append(names, one.Group.Controllers...)
	}
	return names
}
