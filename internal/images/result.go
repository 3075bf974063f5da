package images

import (
	"cmp"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Change is a value that changed.
type Change struct {
	OldValue, NewValue string
	// Setter is what the marker says.
	Setter string
}

// ObjectID is the object of a file that a value is in. A document that is not a Kubernetes object has an empty
// one.
type ObjectID struct{ APIVersion, Kind, Name, Namespace string }

// ObjectChanges are changes by the objects that they are in.
type ObjectChanges map[ObjectID][]Change

// Result is what changed in a repository, as templates of commit messages see it.
type Result struct {
	// FileChanges are changes by the files that they are in.
	FileChanges map[string]ObjectChanges
}

// Add enters what changed in a file.
func (r *Result) Add(file string, changes ObjectChanges) {
	if r.FileChanges == nil {
		r.FileChanges = map[string]ObjectChanges{}
	}
	r.FileChanges[file] = changes
}

// Changes are all changes, each once.
func (r Result) Changes() []Change {
	var all []Change
	for _, objects := range r.FileChanges {
		for _, changes := range objects {
			all = append(all, changes...)
		}
	}
	slices.SortFunc(all, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Setter, b.Setter), cmp.Compare(a.OldValue, b.OldValue), cmp.Compare(a.NewValue, b.NewValue))
	})
	return slices.Compact(all)
}

// Objects are the changes by object, whatever file they are in.
func (r Result) Objects() ObjectChanges {
	all := ObjectChanges{}
	for _, file := range slices.Sorted(maps.Keys(r.FileChanges)) {
		for id, changes := range r.FileChanges[file] {
			all[id] = append(all[id], changes...)
		}
	}
	return all
}

// identify reads what object a document is.
func identify(document *yaml.Node) ObjectID {
	var read struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string `yaml:"kind"`
		Metadata   struct {
			Name      string `yaml:"name"`
			Namespace string `yaml:"namespace"`
		} `yaml:"metadata"`
	}
	if document.Decode(&read) != nil {
		return ObjectID{}
	}
	return ObjectID{read.APIVersion, read.Kind, read.Metadata.Name, read.Metadata.Namespace}
}
