package chart

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Layout says which objects share a file, and how the files are named. The zero value is one file per chart.
type Layout struct {
	// Split says what has a file of its own.
	Split Split
	// Extension of the files; ".k8s.yaml" if it is empty.
	Extension string
	// NoNumbers leaves the numbers out by which names of files say the order of dependencies.
	NoNumbers bool
	// Metadata adds the file construct-metadata.json, which says for each object where in the App it is from.
	Metadata bool
}

// Split says what has a file of its own.
type Split int

const (
	// PerChart is one file for each chart: web.k8s.yaml, or 0000-web.k8s.yaml where charts depend on each other.
	PerChart Split = iota
	// PerApp is the file app.k8s.yaml.
	PerApp
	// PerResource is one file for each object: Service.web.k8s.yaml, with numbers where objects or charts depend on each other, and
	// with the namespace, and if need be the group, where names would be the same.
	PerResource
	// FolderPerChart is a folder for each chart, and in it one file for each object.
	FolderPerChart
)

// File is a file of an App, by its path in the output directory, with slashes.
type File struct {
	Path string
	Data []byte
	// Chart is the path of the chart whose objects it has; empty for a file of several.
	Chart string
}

// Arrangement says which files a Result is written as: a Layout, or one of your own.
type Arrangement interface {
	// Files are in the order of dependencies, and no two have the same path.
	Files(r *Result) ([]File, error)
}

// Files are those of an arrangement; nil is the zero Layout.
func (r *Result) Files(as Arrangement) ([]File, error) {
	if as == nil {
		as = Layout{}
	}
	return as.Files(r)
}

// Files are those of the layout.
func (l Layout) Files(r *Result) ([]File, error) {
	l.Extension = cmp.Or(l.Extension, ".k8s.yaml")
	n := namer{layout: l, plain: r.names == PlainNames}
	switch l.Split {
	case PerApp:
		n.app(r)
	case PerResource:
		n.resources(r)
	case FolderPerChart:
		n.folders(r)
	case PerChart:
		n.charts(r)
	default:
		return nil, fmt.Errorf("the layout %d is unknown", l.Split)
	}
	if l.Metadata {
		n.metadata(r)
	}
	if err := n.collision(); err != nil {
		return nil, err
	}
	return n.files, nil
}

// namer makes files, and notes whose they are.
type namer struct {
	layout Layout
	plain  bool
	files  []File
	owners []string
}

func (n *namer) add(f File, owner string) {
	n.files = append(n.files, f)
	n.owners = append(n.owners, owner)
}

func (n *namer) app(r *Result) {
	if len(r.Charts) > 0 {
		n.add(File{Path: "app" + n.layout.Extension, Data: r.YAML()}, "the App")
	}
}

// number is the number before the name of a file, of several; their names sort as their numbers do.
func (n *namer) number(i, several int, needed bool) string {
	if !needed || n.layout.NoNumbers {
		return ""
	}
	return fmt.Sprintf("%0*d-", max(4, len(strconv.Itoa(several-1))), i)
}

func (n *namer) charts(r *Result) {
	for i, c := range r.Charts {
		if n.plain && len(c.Manifests) == 0 {
			continue // cdk8s writes an empty file, which kubectl refuses
		}
		name := n.number(i, len(r.Charts), r.Dependent) + c.Name + n.layout.Extension
		n.add(File{Path: name, Data: YAML(c.Manifests...), Chart: c.Path}, "the chart "+c.Path)
	}
}

func (n *namer) folders(r *Result) {
	for i, c := range r.Charts {
		folder := n.number(i, len(r.Charts), r.Dependent) + c.Name + "/"
		names := resourceNames(c.Manifests)
		for j, m := range c.Manifests {
			name := folder + n.number(j, len(c.Manifests), n.plain && c.dependent) + names[j] + n.layout.Extension
			n.add(File{Path: name, Data: m.YAML(), Chart: c.Path}, m.Path)
		}
	}
}

func (n *namer) resources(r *Result) {
	dependent := r.Dependent || slices.ContainsFunc(r.Charts, func(c Synthesized) bool { return c.dependent })
	names := resourceNames(r.Manifests())
	i := 0
	for _, c := range r.Charts {
		for _, m := range c.Manifests {
			name := n.number(i, len(names), n.plain && dependent) + names[i] + n.layout.Extension
			n.add(File{Path: name, Data: m.YAML(), Chart: c.Path}, m.Path)
			i++
		}
	}
}

var notInFile = regexp.MustCompile(`[^0-9a-zA-Z-_.]`)

// resourceNames are the names of the files of objects: the kind and the name, and more where two would be the same.
func resourceNames(manifests []Manifest) []string {
	names := make([]string, len(manifests))
	shapes := []func(Manifest) []string{
		func(m Manifest) []string { return []string{m.Kind(), m.fileName()} },
		func(m Manifest) []string { return []string{m.Kind(), m.Namespace(), m.fileName()} },
		func(m Manifest) []string {
			return []string{m.Kind(), groupOf(m.APIVersion()), m.Namespace(), m.fileName()}
		},
	}
	pending := make([]int, len(manifests))
	for i := range pending {
		pending[i] = i
	}
	for _, shape := range shapes {
		users := map[string][]int{}
		for _, i := range pending {
			parts := slices.DeleteFunc(shape(manifests[i]), func(part string) bool { return part == "" })
			names[i] = notInFile.ReplaceAllString(strings.Join(parts, "."), "")
			// Some file systems do not tell cases apart.
			folded := strings.ToLower(names[i])
			users[folded] = append(users[folded], i)
		}
		pending = nil
		for i := range manifests {
			if same := users[strings.ToLower(names[i])]; len(same) > 1 && slices.Contains(same, i) {
				pending = append(pending, i)
			}
		}
	}
	return names
}

// fileName is the name of an object in names of files.
func (m Manifest) fileName() string {
	if name := m.Name(); name != "" {
		return name
	}
	return strings.TrimSuffix(text(m.metadata(), "generateName"), "-")
}

// collision is an error if two files have the same name.
func (n *namer) collision() error {
	taken := map[string]int{}
	for i, f := range n.files {
		folded := strings.ToLower(f.Path)
		if first, is := taken[folded]; is {
			return fmt.Errorf("the file %s would have both %s and %s; give one of them another name", f.Path, n.owners[first], n.owners[i])
		}
		taken[folded] = i
	}
	return nil
}

// constructs is the file that says where objects are from.
type constructs struct {
	Version   string               `json:"version"`
	Resources map[string]construct `json:"resources"`
}

type construct struct {
	Path string `json:"path"`
}

// metadata adds the file of constructs. Its keys are names, as in cdk8s; without names of cdk8s they are kind, namespace and name, so
// that two kinds of one name do not share a key.
func (n *namer) metadata(r *Result) {
	all := constructs{Version: "1.0.0", Resources: map[string]construct{}}
	for _, m := range r.Manifests() {
		key := m.fileName()
		if n.plain {
			key = strings.ReplaceAll(m.Kind()+"/"+m.Namespace()+"/"+key, "//", "/")
		}
		all.Resources[key] = construct{Path: m.Path}
	}
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return // strings are always written
	}
	n.add(File{Path: "construct-metadata.json", Data: append(data, '\n')}, "the metadata of constructs")
}
