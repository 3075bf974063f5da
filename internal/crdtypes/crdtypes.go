// Package crdtypes writes Go types for CustomResourceDefinitions, for descriptions with the SDK (package chart).
//
// It is pure: definitions in, files out, the same bytes for the same input. A package is written for each version of a group. Schemas
// that are structurally equal become one type, those that equal a well-known type of Kubernetes become that type, and enums become
// constants. The names of types are recorded beside them, so that they stay when a definition gains a field.
//
// Optional fields follow one rule. Objects are pointers, since an empty object is not an absent one. Strings are values: the empty string
// is an absent one. Numbers and booleans are pointers unless the schema says that zero is what absence means, or that zero is not
// permitted: "replicas: 0" and "enabled: false" are written when they are said. Since Go 1.26, new(3) and new(false) make them.
//
// It refuses files, networks and clusters: commands gather definitions, and store what it returns.
package crdtypes

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Options say what is written.
type Options struct {
	// Status writes the types of statuses too.
	Status bool
	// Name is that of the packages; without one, packages have the name of their version.
	Name string
	// Command is what the header of each file says.
	Command string
	// Names are the names of types that were written before, by the directory of their package: the contents of NamesFile.
	Names map[string][]byte
}

// Names of files that every package has.
const (
	// NamesFile has the names of types, so that they stay.
	NamesFile = "names.txt"
	// DefinitionsFile has the definitions without their descriptions, for validation.
	DefinitionsFile = "definitions.json"
)

// Package is the Go package of one version of a group.
type Package struct {
	// Dir is where it goes, below the directory of imports, with slashes.
	Dir string
	// Name is its name in Go.
	Name string
	// Kinds are its kinds.
	Kinds []string
	// Files are the contents of its files, by their names.
	Files map[string][]byte
	// Types is how many types were written, Lines how many lines of Go.
	Types, Lines int
}

// Generate writes the packages for definitions, in the order of their directories. Definitions of one kind that differ are an error.
func Generate(definitions []Definition, o Options) ([]Package, error) {
	groups, err := byPackage(definitions)
	if err != nil {
		return nil, err
	}
	var packages []Package
	for _, of := range slices.SortedFunc(maps.Keys(groups), func(a, b groupVersion) int {
		return cmp.Or(strings.Compare(a.group, b.group), strings.Compare(a.version, b.version))
	}) {
		p, err := generate(of, groups[of], o, len(groups) == 1)
		if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
	return packages, nil
}

// groupVersion is a version of a group.
type groupVersion struct{ group, version string }

func (g groupVersion) String() string { return g.group + "/" + g.version }

// byPackage are the served versions of definitions, each kind once, in the order of kinds.
func byPackage(definitions []Definition) (map[groupVersion][]kindVersion, error) {
	groups := map[groupVersion][]kindVersion{}
	for _, d := range definitions {
		for _, v := range d.Versions {
			if !v.Served {
				continue
			}
			of := groupVersion{d.Group, v.Name}
			same := slices.IndexFunc(groups[of], func(k kindVersion) bool { return k.Kind == d.Kind })
			if same < 0 {
				groups[of] = append(groups[of], kindVersion{Definition: d, Version: v})
				continue
			}
			if first := groups[of][same]; first.Version.text != v.text {
				return nil, fmt.Errorf("%s: the definition of %s %s differs from that in %s; name one of them", d.Source, of, d.Kind, first.Source)
			}
		}
	}
	for _, kinds := range groups {
		slices.SortFunc(kinds, func(a, b kindVersion) int { return strings.Compare(a.Kind, b.Kind) })
		nameKinds(kinds)
	}
	return groups, nil
}

// kindVersion is a kind in one version.
type kindVersion struct {
	Definition
	Version Version
	// typeName is the name of its type, which no other kind of the package has.
	typeName string
}

// nameKinds gives the types of kinds their names: those of the kinds as Go writes them, which may be in lower case or have hyphens. Those that are
// names in Go already come first, so that none of them changes for another one.
func nameKinds(kinds []kindVersion) {
	taken := map[string]bool{"Definitions": true, "GroupVersion": true}
	for _, plain := range []bool{true, false} {
		for i := range kinds {
			if typeKind.MatchString(kinds[i].Kind) != plain {
				continue
			}
			name := kinds[i].Kind
			if !plain {
				name = exported(name)
			}
			for taken[name] {
				name += "Kind"
			}
			kinds[i].typeName, taken[name] = name, true
		}
	}
}

// typeKind is a kind that is the name of a type as well.
var typeKind = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)

// place is the directory and the name of a package.
func place(of groupVersion, o Options, single bool) (dir, name string) {
	switch {
	case o.Name == "":
		return path.Join(of.group, of.version), identifierOf(of.version)
	case single:
		return o.Name, o.Name
	}
	return path.Join(o.Name, of.group, of.version), o.Name + identifierOf(of.version)
}

// identifierOf is a version as the name of a package.
func identifierOf(version string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(version))
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		return "v" + name
	}
	return name
}

func generate(of groupVersion, kinds []kindVersion, o Options, single bool) (Package, error) {
	dir, name := place(of, o, single)
	t := &types{byKey: map[string]*structure{}, enums: map[string]*enum{}, known: wellKnown()}
	for _, k := range kinds {
		t.addKind(k, o.Status)
	}
	names, err := parseNames(o.Names[dir])
	if err != nil {
		return Package{}, fmt.Errorf("%s: %w", path.Join(dir, NamesFile), err)
	}
	table := t.name(names)
	p := Package{Dir: dir, Name: name, Files: map[string][]byte{NamesFile: table}}
	for _, k := range kinds {
		p.Kinds = append(p.Kinds, k.typeName)
	}
	if err := t.write(&p, of, kinds, o); err != nil {
		return Package{}, err
	}
	return p, nil
}
