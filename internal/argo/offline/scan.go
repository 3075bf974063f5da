package offline

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
)

// Declaration is an Application or an ApplicationSet as a file has it.
type Declaration struct {
	// File is relative to the directory that was looked through.
	File   string
	Object *unstructured.Unstructured
}

// Scan finds the Applications and ApplicationSets that the files below a directory hold, as far as they can be read
// without being rendered. What is hidden is left out.
func Scan(dir string) ([]Declaration, error) {
	var found []Declaration
	err := eachFile(dir, func(file string, data []byte) {
		if !bytes.Contains(data, []byte(Group+"/")) {
			return
		}
		for _, o := range Documents(data) {
			if gvk := o.GroupVersionKind(); gvk.Group == Group && (gvk.Kind == applicationKind || gvk.Kind == applicationSetKind) && o.GetName() != "" {
				found = append(found, Declaration{File: file, Object: o})
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("searching for Applications: %w", err)
	}
	return found, nil
}

// eachFile visits the files of YAML below a directory, in order.
func eachFile(dir string, visit func(file string, data []byte)) error {
	return filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && name != dir:
			return filepath.SkipDir
		case !entry.Type().IsRegular() || !isYAML(name):
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		file, err := filepath.Rel(dir, name)
		if err == nil {
			visit(filepath.ToSlash(file), data)
		}
		return err
	})
}

func isYAML(name string) bool {
	return slices.Contains([]string{".yaml", ".yml"}, path.Ext(filepath.ToSlash(name)))
}

// Documents are the objects of a file, up to the first thing in it that is none: a template, for example.
func Documents(data []byte) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		u := &unstructured.Unstructured{}
		switch err := decoder.Decode(&u.Object); {
		case errors.Is(err, io.EOF), err != nil:
			return all
		case len(u.Object) == 0:
		case u.IsList():
			all = append(all, items(u)...)
		default:
			all = append(all, u)
		}
	}
}

func items(list *unstructured.Unstructured) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	found, _, _ := unstructured.NestedSlice(list.Object, "items")
	for _, item := range found {
		if o, ok := item.(map[string]any); ok {
			all = append(all, &unstructured.Unstructured{Object: o})
		}
	}
	return all
}

// sources are those of an Application in Git, and where the generators of an ApplicationSet look.
func (d Declaration) sources() []v1alpha1.ApplicationSource {
	var all []v1alpha1.ApplicationSource
	if d.Object.GetKind() == applicationSetKind {
		all = generatorSources(d.Object.Object["spec"])
	} else {
		app := &v1alpha1.Application{}
		if runtime.DefaultUnstructuredConverter.FromUnstructured(d.Object.Object, app) != nil {
			return nil
		}
		all = slices.Clone(sourcesOf(app))
	}
	return slices.DeleteFunc(all, func(s v1alpha1.ApplicationSource) bool { return s.Chart != "" || !isGit(s.RepoURL) })
}

// isGit reports whether a URL has a scheme that Git speaks. Tools that write Applications have schemes of their own, for
// places that only they know.
func isGit(url string) bool {
	scheme, _, found := strings.Cut(url, "://")
	return !found || slices.Contains([]string{"http", "https", "ssh", "git", "file"}, strings.ToLower(scheme))
}

// generatorSources are the repositories that generators of Git read, however deep they are.
func generatorSources(value any) []v1alpha1.ApplicationSource {
	var all []v1alpha1.ApplicationSource
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			all = append(all, generatorSources(item)...)
		}
	case map[string]any:
		if git, ok := value["git"].(map[string]any); ok {
			if url, ok := git["repoURL"].(string); ok {
				all = append(all, v1alpha1.ApplicationSource{RepoURL: url, Path: patternRoot(git)})
			}
		}
		for _, key := range []string{"generators", "matrix", "merge"} {
			all = append(all, generatorSources(value[key])...)
		}
	}
	return all
}

// patternRoot is the directory below which the first pattern of a generator looks.
func patternRoot(git map[string]any) string {
	for _, key := range []string{"directories", "files"} {
		list, _ := git[key].([]any)
		for _, item := range list {
			entry, _ := item.(map[string]any)
			if excluded, _ := entry["exclude"].(bool); excluded {
				continue
			}
			pattern, _ := entry["path"].(string)
			root := []string{}
			for part := range strings.SplitSeq(pattern, "/") {
				if strings.ContainsAny(part, "*?[{") {
					break
				}
				root = append(root, part)
			}
			return path.Join(append([]string{"."}, root...)...)
		}
	}
	return "."
}
