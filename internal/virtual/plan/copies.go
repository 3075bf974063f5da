package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// Copies is what is to be done so that a virtual cluster has the Secrets that its mappings name.
type Copies struct {
	// Write has, for each Secret of the virtual cluster to create or change, the one of the host that it is a copy of.
	Write map[Name]Name
	// Delete are the copies that have no source anymore, in order.
	Delete []Name
	// Problems are mappings that have no effect, and Secrets that are in the way of a copy, in order.
	Problems []Problem
}

// Facts are the Secrets that there are, as digests of what is copied of them.
type Facts struct {
	// Host are the Secrets of the host, of the namespaces that the mappings name.
	Host map[Name]string
	// Copied are the Secrets of the virtual cluster that are copies made by a previous pass.
	Copied map[Name]string
	// Others are the Secrets of the virtual cluster that are not copies. They are never written.
	Others map[Name]bool
	// Permitted reports whether Secrets of a namespace of the host can be copied into this virtual cluster.
	Permitted func(namespace string) bool
}

// Copy decides which Secrets are written and deleted. A mapping of a single Secret precedes one of its namespace, and among those the
// first one in order is taken. Where a namespace is not permitted, copies of its Secrets are deleted.
func Copy(mappings []Mapping, f Facts) Copies {
	c := Copies{Write: map[Name]Name{}}
	wanted := map[Name]Name{}
	ordered := slices.SortedStableFunc(slices.Values(mappings), func(a, b Mapping) int { return cmp.Compare(rank(a), rank(b)) })
	hosts := slices.SortedFunc(maps.Keys(f.Host), compare)
	for _, m := range ordered {
		if !f.Permitted(m.Host.Namespace) {
			c.refuse(m.Host.String(), "Secrets of namespace %q of the host are not permitted in this virtual cluster", m.Host.Namespace)
			continue
		}
		for _, host := range hosts {
			target, is := m.of(host)
			if _, taken := wanted[target]; is && !taken {
				wanted[target] = host
			}
		}
	}
	for _, target := range slices.SortedFunc(maps.Keys(wanted), compare) {
		host := wanted[target]
		if f.Others[target] {
			c.refuse(host.String(), "Secret %s of the virtual cluster is not a copy, and is left as it is", target)
			continue
		}
		if digest, is := f.Copied[target]; !is || digest != f.Host[host] {
			c.Write[target] = host
		}
	}
	for _, copied := range slices.SortedFunc(maps.Keys(f.Copied), compare) {
		if _, is := wanted[copied]; !is {
			c.Delete = append(c.Delete, copied)
		}
	}
	return c
}

// refuse records what is not done.
func (c *Copies) refuse(key, format string, args ...any) {
	c.Problems = append(c.Problems, Problem{Key: key, Reason: fmt.Sprintf(format, args...)})
}

// of is the name in the virtual cluster of a Secret of the host, where the mapping is of it.
func (m Mapping) of(host Name) (Name, bool) {
	switch {
	case host.Namespace != m.Host.Namespace:
		return Name{}, false
	case m.all():
		return Name{m.Virtual.Namespace, host.Name}, true
	}
	return m.Virtual, host.Name == m.Host.Name
}

// rank has mappings of single Secrets come first.
func rank(m Mapping) int {
	if m.all() {
		return 1
	}
	return 0
}

// compare is the order of names.
func compare(a, b Name) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}
