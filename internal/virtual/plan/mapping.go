// Package plan decides what a virtual cluster is given: which Secrets of the host are copied into it, under which names, and which
// Secrets make it known to users and to Argo CD. It takes values and returns values.
//
// It refuses clients, clocks, mappings that name something else than Secrets by namespace and name, and sources that the caller does
// not permit.
package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// MaxMappings is how many mappings one virtual cluster can have.
const MaxMappings = 256

// every stands for all names of a namespace.
const every = "*"

// Name is the namespace and the name of a Secret.
type Name struct {
	Namespace string
	Name      string
}

// String is the name as mappings and messages have it.
func (n Name) String() string { return n.Namespace + "/" + n.Name }

// Mapping has Secrets of the host appear in the virtual cluster. Names of "*" on both sides mean all Secrets of the namespace, each
// under its own name.
type Mapping struct {
	Host    Name
	Virtual Name
}

// all reports whether a mapping is of a whole namespace.
func (m Mapping) all() bool { return m.Host.Name == every }

// Problem is a mapping that has no effect, and why.
type Problem struct {
	// Key is the mapping as it is declared.
	Key string
	// Reason says what is wrong with it.
	Reason string
}

// Error names the mapping and what is wrong with it.
func (p Problem) Error() string { return fmt.Sprintf("mapping %q: %s", p.Key, p.Reason) }

// Mappings reads sync.fromHost.secrets.mappings.byName of the values of the vcluster chart: "namespace/name" to "namespace/name",
// "namespace/*" to "namespace/*", and, where the namespace of the host is that of the virtual cluster, "/name" to "namespace/name" and
// "" to "namespace". Those in error are returned as problems, and do not affect the others. Both results are in the order of the keys.
func Mappings(byName map[string]string, own string) ([]Mapping, []Problem) {
	var read []Mapping
	var problems []Problem
	for i, key := range slices.Sorted(maps.Keys(byName)) {
		if i == MaxMappings {
			return read, append(problems, Problem{Key: key, Reason: fmt.Sprintf("there are %d mappings; at most %d are supported", len(byName), MaxMappings)})
		}
		mapping, err := parse(key, byName[key], own)
		if err != nil {
			problems = append(problems, Problem{Key: key, Reason: err.Error()})
			continue
		}
		read = append(read, mapping)
	}
	return read, problems
}

// parse reads one mapping.
func parse(from, to, own string) (Mapping, error) {
	if from == "" {
		if err := label("the target", to); err != nil {
			return Mapping{}, err
		}
		return Mapping{Host: Name{own, every}, Virtual: Name{to, every}}, nil
	}
	host, err := split("the source", from)
	if err != nil {
		return Mapping{}, err
	}
	if host.Namespace == "" {
		host.Namespace = own
	}
	virtual, err := split("the target", to)
	if err != nil {
		return Mapping{}, err
	}
	m := Mapping{Host: host, Virtual: virtual}
	if m.all() != (virtual.Name == every) {
		return Mapping{}, fmt.Errorf("%q maps to %q: either both name all Secrets of a namespace with *, or neither", from, to)
	}
	if err := label("the target", virtual.Namespace); err != nil {
		return Mapping{}, err
	}
	return m, label("the source", host.Namespace)
}

// split reads a namespace and a name. The namespace may be empty.
func split(side, text string) (Name, error) {
	namespace, name, found := strings.Cut(text, "/")
	switch {
	case !found:
		return Name{}, fmt.Errorf("%s %q is not namespace/name or namespace/*", side, text)
	case name == every:
		return Name{namespace, name}, nil
	}
	if bad := validation.IsDNS1123Subdomain(name); len(bad) > 0 {
		return Name{}, fmt.Errorf("%s has %q as name of a Secret: %s", side, name, bad[0])
	}
	return Name{namespace, name}, nil
}

// label refuses what is not a namespace.
func label(side, namespace string) error {
	if bad := validation.IsDNS1123Label(namespace); len(bad) > 0 {
		return fmt.Errorf("%s has %q as namespace: %s", side, namespace, bad[0])
	}
	return nil
}
