package schema

import (
	"bytes"
	"compress/gzip"
	_ "embed" // the schemas are a file
	"io"
	"strings"
	"sync"
)

//go:embed schemas.gz
var published []byte

// archive is what the file has; it is read once in a process, when the first object is validated.
var archive = sync.OnceValues(func() (*releases, error) { return unpack(published) })

// releases are the minor versions of Kubernetes, the newest last.
type releases struct {
	versions []string
	each     []*release
}

// release is one minor version.
type release struct {
	version     string
	kinds       map[string]*kind
	definitions map[string]*definition
}

// kind is a kind whose objects can be created.
type kind struct {
	apiVersion, name string
	namespaced       bool
	definition       string
}

// unpack reads the file that hack/schemas writes.
func unpack(file []byte) (*releases, error) {
	r, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	all := &releases{versions: strings.Fields(string(first))[1:]}
	for _, version := range all.versions {
		all.each = append(all.each, &release{version: version, kinds: map[string]*kind{}, definitions: map[string]*definition{}})
	}
	for line := range bytes.Lines(rest) {
		in, entry, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
		all.add(in, entry)
	}
	return all, nil
}

// add puts a line into the releases that it is for: a digit for each.
func (all *releases) add(in, entry []byte) {
	what, rest, _ := bytes.Cut(entry, []byte(" "))
	if string(what) == "kind" {
		fields := strings.Fields(string(rest))
		k := &kind{apiVersion: fields[0], name: fields[1], namespaced: fields[2] == "namespaced", definition: fields[3]}
		for i, r := range all.each {
			if in[i] == '1' {
				r.kinds[k.apiVersion+" "+k.name] = k
			}
		}
		return
	}
	name, schema, _ := bytes.Cut(rest, []byte(" "))
	d := &definition{name: string(name), raw: schema}
	for i, r := range all.each {
		if in[i] == '1' {
			r.definitions[d.name] = d
		}
	}
}

// find is a release, the newest for an empty version; a patch version counts as its minor one.
func (all *releases) find(version string) (*release, bool) {
	if version == "" {
		return all.each[len(all.each)-1], true
	}
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	for _, r := range all.each {
		if len(parts) > 1 && r.version == parts[0]+"."+parts[1] {
			return r, true
		}
	}
	return nil, false
}

// Versions are the minor versions of Kubernetes whose schemas the SDK has, the newest last.
func Versions() []string {
	all, err := archive()
	if err != nil {
		return nil
	}
	return append([]string(nil), all.versions...)
}
