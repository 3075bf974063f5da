package chart

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Source is where Include reads YAML from. Nothing is fetched: the same input gives the same bytes.
type Source struct {
	// Path of a file, or of a folder whose .yaml, .yml and .json files are read in the order of their names. In FS if it is set, such as
	// an embed.FS; else from the working directory, which is that of the module when headgate runs it.
	Path string
	FS   fs.FS
	// Text is YAML itself, instead of a file.
	Text string
	// URL says where the file at Path was downloaded from.
	URL string
	// Digest is "sha256:" and the digest of the file at Path, if that is to be checked.
	Digest string
}

// Included is the objects of an Include.
type Included struct{ node *Node }

// Node is the place of the objects.
func (i *Included) Node() *Node { return i.node }

// Include adds the objects of YAML files below scope: of several documents and of Lists, as kubectl reads them. Objects without a
// namespace get that of their chart. Their names on the path are name-kind-namespace. What cannot be read is an error of Synth.
func Include(scope Scope, id string, from Source) *Included {
	i := &Included{}
	i.node = join(scope, id, i)
	files, err := from.files()
	if err != nil {
		i.node.Errorf("including YAML: %w", err)
		return i
	}
	for _, one := range files {
		if err := i.add(one); err != nil {
			i.node.Errorf("including %s: %w", one.Path, err)
		}
	}
	return i
}

// Objects are the objects that were included, in their order.
func (i *Included) Objects() []*Object {
	var objects []*Object
	for _, child := range i.node.children {
		if o, ok := child.scope.(*Object); ok {
			objects = append(objects, o)
		}
	}
	return objects
}

// Object is the object of a kind and a name. If there is none, that is an error of Synth; the object that is returned then is written
// nowhere.
func (i *Included) Object(kind, name string) *Object {
	var others []string
	for _, o := range i.Objects() {
		if o.Kind() == kind && text(o.metadata(), "name") == name {
			return o
		}
		others = append(others, o.Kind()+"/"+o.Name())
	}
	i.node.Errorf("%s/%s is not among the included objects: %s", kind, name, strings.Join(others, ", "))
	return &Object{node: i.node}
}

// Patch patches the object of a kind and a name; see Object.Patch.
func (i *Included) Patch(kind, name string, patches ...Patch) *Included {
	i.Object(kind, name).Patch(patches...)
	return i
}

// add adds the objects of a file.
func (i *Included) add(file File) error {
	for _, one := range split(file.Data) {
		data, err := yaml.YAMLToJSONStrict(one.data)
		if err != nil {
			return fmt.Errorf("reading the document at line %d: %w", one.line, err)
		}
		value, err := fromJSON(data)
		if err == nil {
			err = i.addValue(value)
		}
		if err != nil {
			return fmt.Errorf("reading the document at line %d: %w", one.line, err)
		}
	}
	return nil
}

func (i *Included) addValue(value any) error {
	object, ok := value.(map[string]any)
	switch {
	case value == nil, ok && len(object) == 0:
		return nil
	case !ok:
		return fmt.Errorf("it is a %T, not an object", value)
	}
	if items, list := object["items"].([]any); list && strings.HasSuffix(text(object, "kind"), "List") {
		for n, item := range items {
			if err := i.addValue(item); err != nil {
				return in(fmt.Sprintf("items[%d]", n), err)
			}
		}
		return nil
	}
	kind := text(object, "kind")
	if kind == "" || text(object, "apiVersion") == "" {
		return errors.New("it has no apiVersion or no kind")
	}
	metadata, _ := object["metadata"].(map[string]any)
	parts := []string{text(metadata, "name"), strings.ToLower(kind), text(metadata, "namespace")}
	Add(i, strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "-"), object)
	return nil
}

// files are those that a source names.
func (s Source) files() ([]File, error) {
	switch {
	case s.Text != "" && s.Path == "":
		return []File{{Path: "the text", Data: []byte(s.Text)}}, nil
	case strings.Contains(s.Path, "://"), s.Path == "" && s.URL != "":
		url := s.URL
		if url == "" {
			url = s.Path
		}
		return nil, fmt.Errorf("%s is not fetched, so that the same input gives the same bytes; download it (curl -fsSL -o included.yaml %s), commit it, and set Path to the file", url, url)
	case s.Path == "":
		return nil, errors.New("set Path or Text of the Source")
	}
	read := func(name string) ([]byte, error) { return os.ReadFile(name) } //nolint:gosec // the description says which file
	list := os.ReadDir
	if s.FS != nil {
		read = func(name string) ([]byte, error) { return fs.ReadFile(s.FS, name) }
		list = func(name string) ([]os.DirEntry, error) { return fs.ReadDir(s.FS, name) }
	}
	entries, err := list(s.Path)
	if err != nil {
		data, err := read(s.Path)
		if err == nil {
			err = s.verify(data)
		}
		return []File{{Path: s.Path, Data: data}}, err
	}
	var files []File
	for _, entry := range entries {
		if !slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(entry.Name())) || entry.IsDir() {
			continue
		}
		name := path.Join(s.Path, entry.Name())
		data, err := read(name)
		if err != nil {
			return nil, err
		}
		files = append(files, File{Path: name, Data: data})
	}
	return files, nil
}

func (s Source) verify(data []byte) error {
	sum := sha256.Sum256(data)
	if got := "sha256:" + hex.EncodeToString(sum[:]); s.Digest != "" && got != s.Digest {
		return fmt.Errorf("%s has the digest %s, not %s", s.Path, got, s.Digest)
	}
	return nil
}

// part is a document of a stream, with the line that it begins in.
type part struct {
	data []byte
	line int
}

// split is the documents of a stream. What follows "---" in its line belongs to the document that it begins.
func split(stream []byte) []part {
	var parts []part
	current := part{line: 1}
	number := 0
	for line := range bytes.Lines(bytes.TrimPrefix(stream, []byte("\xef\xbb\xbf"))) {
		number++
		rest, marked := bytes.CutPrefix(line, []byte("---"))
		if !marked || (len(bytes.TrimRight(rest, "\r\n")) > 0 && rest[0] != ' ' && rest[0] != '\t') {
			current.data = append(current.data, line...)
			continue
		}
		parts = append(parts, current)
		current = part{line: number, data: append([]byte("   "), rest...)}
	}
	return append(parts, current)
}
