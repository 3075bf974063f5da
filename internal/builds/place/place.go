// Package place finds where a repository declares an object: the file, and the line of a field.
//
// It reads YAML files as they are written. It refuses to render: what only a kustomization or a chart gives its name is not found.
package place

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// The bounds of what is read.
const (
	maxFiles = 20_000
	maxBytes = 1 << 20
)

// Index knows the documents of a repository.
type Index struct{ documents map[string][]document }

// document is an object in a file: its lines from a number on.
type document struct {
	path  string
	first int
	lines []string
}

// Find reads the files below a directory; with a list, those of it. Files that cannot be read declare nothing.
func Find(dir string, only map[string]bool) *Index {
	x := &Index{documents: map[string][]document{}}
	if dir == "" {
		return x
	}
	files := 0
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // what cannot be read declares nothing
		case entry.IsDir() && entry.Name() == ".git":
			return filepath.SkipDir
		case !entry.Type().IsRegular() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)):
			return nil
		}
		name, err := filepath.Rel(dir, path)
		if name = filepath.ToSlash(name); err != nil || only != nil && !only[name] {
			return nil //nolint:nilerr // it is not below the directory
		}
		if files++; files > maxFiles {
			return filepath.SkipAll
		}
		if info, err := entry.Info(); err == nil && info.Size() <= maxBytes {
			x.read(path, name)
		}
		return nil
	})
	return x
}

// read enters the documents of a file.
func (x *Index) read(path, name string) {
	data, err := os.ReadFile(path)
	if err != nil {
		return
	}
	lines := strings.Split(string(data), "\n")
	first := 0
	for i := 0; i <= len(lines); i++ {
		if i == len(lines) || strings.HasPrefix(lines[i], "---") {
			x.enter(document{name, first + 1, lines[first:i]})
			first = i + 1
		}
	}
}

func (x *Index) enter(d document) {
	var head struct {
		Kind     string `json:"kind"`
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	if err := yaml.Unmarshal([]byte(strings.Join(d.lines, "\n")), &head); err != nil || head.Kind == "" {
		return
	}
	key := head.Kind + "/" + head.Metadata.Name
	x.documents[key] = append(x.documents[key], d)
}

// Of is where an object has a field, as "FILE:LINE: "; the line of its kind where the field is missing, and empty where no file declares
// it.
func (x *Index) Of(kind, name, field string) string {
	all := x.documents[kind+"/"+name]
	if len(all) == 0 {
		return ""
	}
	for _, word := range []string{field, "kind"} {
		at := regexp.MustCompile(`(^|[\s{,"'-])` + regexp.QuoteMeta(word) + `["']?\s*:`)
		for _, d := range all {
			if i := slices.IndexFunc(d.lines, at.MatchString); i >= 0 {
				return fmt.Sprintf("%s:%d: ", d.path, d.first+i)
			}
		}
	}
	return fmt.Sprintf("%s:%d: ", all[0].path, all[0].first)
}
