package lint

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

// Index is the objects of files, for what is rendered from them.
type Index struct {
	byName map[string][]Document
	near   string
}

// NewIndex is an Index of documents.
func NewIndex(documents []Document) *Index {
	x := &Index{byName: map[string][]Document{}}
	for _, d := range documents {
		key := keyOf(d.Object)
		x.byName[key] = append(x.byName[key], d)
	}
	return x
}

// Near is the Index with a directory whose files come before others that say as much.
func (x *Index) Near(dir string) *Index { return &Index{byName: x.byName, near: filepath.Clean(dir)} }

// compare orders documents by how near they are, and by their files.
func (x *Index) compare(a, b Document) int {
	far := func(d Document) int {
		if x.near == "" || x.near != "." && !strings.HasPrefix(filepath.Clean(d.File), x.near+string(filepath.Separator)) {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(far(a), far(b)), cmp.Compare(a.File, b.File))
}

// Find is where an object that was rendered is written, and the line of a field of it. Of several documents for one object, such as a base
// and a patch of it, it is the one that has the most of the field, then the first by its file. An object whose name was
// changed while it was rendered, or that a chart gave, is in none.
func (x *Index) Find(object map[string]any, field string) (file string, line int, found bool) {
	return x.best(x.of(object), field)
}

// FindBelow is Find among several documents in a directory, such as that of one cluster of several that have a unit of the same name. What is
// in one document alone is found wherever that is.
func (x *Index) FindBelow(object map[string]any, dir string) (file string, line int, found bool) {
	all := x.of(object)
	if len(all) > 1 {
		all = slices.DeleteFunc(all, func(d Document) bool { return dir != "" && !strings.HasPrefix(d.File, strings.Trim(dir, "/")+"/") })
	}
	return x.best(all, "")
}

func (x *Index) of(object map[string]any) []Document {
	return slices.DeleteFunc(slices.Clone(x.byName[keyOf(object)]), func(d Document) bool {
		own, wanted := namespaceOf(d.Object), namespaceOf(object)
		return own != "" && wanted != "" && own != wanted
	})
}

func (x *Index) best(all []Document, field string) (file string, line int, found bool) {
	if len(all) == 0 {
		return "", 0, false
	}
	chosen := slices.MinFunc(all, func(a, b Document) int {
		_, first := a.Line(field)
		_, second := b.Line(field)
		return cmp.Or(cmp.Compare(second, first), x.compare(a, b))
	})
	line, _ = chosen.Line(field)
	return chosen.File, line, true
}

// Named is where an object is written of which KIND/NAME or KIND/NAMESPACE/NAME is known; the line is the first one in it that has one of
// some texts, or its own. Of several documents it is the first that has a text, and then the first by its file.
func (x *Index) Named(name string, texts []string) (file string, line int, found bool) {
	parts := strings.Split(name, "/")
	var all []Document
	for _, documents := range x.byName {
		for _, d := range documents {
			own := namespaceOf(d.Object)
			if d.Object["kind"] == parts[0] && nameOf(d.Object) == parts[len(parts)-1] && (len(parts) < 3 || own == "" || own == parts[1]) {
				all = append(all, d)
			}
		}
	}
	if len(all) == 0 {
		return "", 0, false
	}
	slices.SortFunc(all, func(a, b Document) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.node.Line, b.node.Line))
	})
	for _, d := range all {
		if line := d.lineWith(texts); line > 0 {
			return d.File, line, true
		}
	}
	return all[0].File, all[0].node.Line, true
}

// keyOf is the group, the kind and the name of an object.
func keyOf(object map[string]any) string {
	apiVersion, _ := object["apiVersion"].(string)
	group, _, _ := strings.Cut(apiVersion, "/")
	kind, _ := object["kind"].(string)
	return group + " " + kind + " " + nameOf(object)
}

func nameOf(object map[string]any) string {
	metadata, _ := object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	return name
}

func namespaceOf(object map[string]any) string {
	metadata, _ := object["metadata"].(map[string]any)
	namespace, _ := metadata["namespace"].(string)
	return namespace
}
