package walk

import (
	"bytes"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/render"
)

// written is a Kustomization as a file has it.
type written struct {
	// file is relative to the directory that is looked through, dir the path that the unit builds.
	file, dir string
	// system is set for the root of a cluster that was bootstrapped; source is what the unit reads, complete is set when
	// its file declares that too.
	system   bool
	source   string
	complete bool
}

// writtenUnits are the Kustomizations that the files below dir hold, as far as these can be read without building them.
func writtenUnits(dir string) ([]written, error) {
	var all []written
	err := manifests(dir, func(name string, data []byte) {
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return
		}
		var units []written
		sources := map[string]bool{}
		for decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096); ; {
			u := &unstructured.Unstructured{}
			if decoder.Decode(&u.Object) != nil {
				break
			}
			switch u.GroupVersionKind().GroupKind() {
			case toolkit.GitRepositoryKind:
				sources[u.GetName()] = true
			case toolkit.KustomizationKind:
				units = append(units, writtenUnit(u, filepath.ToSlash(rel)))
			}
		}
		for _, u := range units {
			u.complete = sources[u.source]
			all = append(all, u)
		}
	})
	return all, err
}

func writtenUnit(u *unstructured.Unstructured, file string) written {
	w := written{file: file, system: u.GetName() == toolkit.System && u.GetNamespace() == toolkit.Namespace}
	if kind, _, _ := unstructured.NestedString(u.Object, "spec", "sourceRef", "kind"); kind == sourcev1.GitRepositoryKind {
		w.source, _, _ = unstructured.NestedString(u.Object, "spec", "sourceRef", "name")
	}
	w.dir, _, _ = unstructured.NestedString(u.Object, "spec", "path")
	return w
}

// leader is the root that leads to all others, relative to dir; paths of units are relative to base. It is empty when there
// is no such one, or several.
func leader(dir, base string, units []written) string {
	own := commonest(units)
	holds := make([]map[int]bool, len(units))
	for i, u := range units {
		holds[i] = map[int]bool{}
		if u.source != own {
			continue
		}
		files := builtFrom(filepath.Join(base, filepath.FromSlash(path.Clean("/"+u.dir))))
		for j, other := range units {
			if files[filepath.Join(dir, filepath.FromSlash(other.file))] {
				holds[i][j] = true
			}
		}
	}
	found := -1
	for i := range units {
		others := len(holds[i])
		if holds[i][i] {
			others--
		}
		if others == 0 || isLed(i, holds) {
			continue
		}
		if found >= 0 {
			return ""
		}
		found = i
	}
	if found < 0 {
		return ""
	}
	return rootOf(dir, base, units[found], holds[found][found])
}

// rootOf is where a cluster begins with a unit. One that declares itself is applied as it is, since a root beside it would
// declare all the same objects.
func rootOf(dir, base string, u written, itself bool) string {
	switch rel, err := filepath.Rel(dir, filepath.Join(base, filepath.FromSlash(path.Clean("/"+u.dir)))); {
	case u.system && err == nil && !strings.HasPrefix(rel, ".."):
		return filepath.ToSlash(rel)
	case itself && u.complete && !u.system:
		return u.file
	default:
		return strings.TrimSuffix(path.Dir(u.file), "/flux-system")
	}
}

// commonest is the source that most units read: the repository itself.
func commonest(units []written) string {
	count := map[string]int{}
	for _, u := range units {
		if u.source != "" {
			count[u.source]++
		}
	}
	names := slices.Sorted(maps.Keys(count))
	if len(names) == 0 {
		return ""
	}
	return slices.MaxFunc(names, func(a, b string) int { return count[a] - count[b] })
}

// isLed reports whether another unit leads to one. Of those that lead to each other, the one that leads to the most is led by none.
func isLed(i int, holds []map[int]bool) bool {
	mine := reached(i, holds)
	for j := range holds {
		if j == i {
			continue
		}
		if others := reached(j, holds); others[i] && (!mine[j] || len(holds[j]) > len(holds[i]) || len(holds[j]) == len(holds[i]) && j < i) {
			return true
		}
	}
	return false
}

// reached are those that a unit leads to, by others or without.
func reached(i int, holds []map[int]bool) map[int]bool {
	all, queue := map[int]bool{}, []int{i}
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		for j := range holds[next] {
			if !all[j] {
				all[j] = true
				queue = append(queue, j)
			}
		}
	}
	return all
}

// builtFrom are the files that a directory is built from: by its kustomization, or without one by those in it.
func builtFrom(dir string) map[string]bool {
	files := map[string]bool{}
	gather(dir, files, map[string]bool{})
	return files
}

func gather(dir string, files, seen map[string]bool) {
	if seen[dir] {
		return
	}
	seen[dir] = true
	if named, is := render.Entries(dir); is {
		for _, entry := range named {
			at := filepath.Join(dir, filepath.FromSlash(entry))
			if info, err := os.Stat(at); err == nil && info.IsDir() {
				gather(at, files, seen)
			} else {
				files[at] = true
			}
		}
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		at := filepath.Join(dir, entry.Name())
		switch {
		case entry.IsDir() && !strings.HasPrefix(entry.Name(), "."):
			gather(at, files, seen)
		case slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(at)):
			files[at] = true
		}
	}
}

// repositories are the URLs of the GitRepositories among root objects that Kustomizations among them read, and whose paths
// there are in a directory.
func repositories(objects []*unstructured.Unstructured, dir string) []string {
	var urls []string
	for _, o := range objects {
		if o.GroupVersionKind().GroupKind() != toolkit.KustomizationKind {
			continue
		}
		u := writtenUnit(o, "")
		if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(path.Clean("/"+u.dir)))); err != nil || !info.IsDir() {
			continue
		}
		for _, source := range objects {
			if source.GroupVersionKind().GroupKind() != toolkit.GitRepositoryKind || source.GetName() != u.source || source.GetNamespace() != o.GetNamespace() {
				continue
			}
			if url, _, _ := unstructured.NestedString(source.Object, "spec", "url"); url != "" && !slices.Contains(urls, url) {
				urls = append(urls, url)
			}
		}
	}
	return urls
}
