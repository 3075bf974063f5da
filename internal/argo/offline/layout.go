package offline

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/render"
)

// Layouts finds where repositories of Argo CD begin.
type Layouts struct{}

// Roots are the files with an Application that leads to others and that no other one leads to. Where there is none, it
// is the topmost directories with Applications and ApplicationSets that nothing leads to, or whose kustomization lists them.
func (Layouts) Roots(dir, _ string) ([]dialect.Root, error) {
	found, err := Scan(dir)
	if err != nil {
		return nil, err
	}
	base := baseOf(dir, found)
	holds := make([]map[int]bool, len(found))
	for i, d := range found {
		holds[i] = held(dir, base, d, found)
	}
	tops := uncontained(found, holds)
	files, dirs := map[string]bool{}, map[string]bool{}
	for _, i := range tops {
		if d := found[i]; d.Object.GetKind() == applicationKind && (len(holds[i]) > 0 || templates(dir, base, d)) {
			files[d.File] = true
		}
		dirs[listing(dir, found[i].File)] = true
	}
	names := slices.Sorted(maps.Keys(files))
	if len(names) == 0 {
		names = topmost(dirs)
	}
	roots := make([]dialect.Root, len(names))
	for i, name := range names {
		roots[i] = rootAt(name, dir, base, found, holds)
	}
	return roots, nil
}

// listing is the directory that a file is applied with: the topmost one whose kustomization leads to it, or its own.
func listing(dir, file string) string {
	own := path.Dir(file)
	best := own
	for at := own; ; at = path.Dir(at) {
		if abs := filepath.Join(dir, filepath.FromSlash(at)); kustomization(abs) != "" && filesOf(abs, false)[filepath.Join(dir, filepath.FromSlash(file))] {
			best = at
		}
		if at == "." || at == "/" {
			return best
		}
	}
}

// rootAt is the root in a file or a directory, with what it leads to.
func rootAt(name, dir, base string, found []Declaration, holds []map[int]bool) dialect.Root {
	root := dialect.Root{Path: name, Reads: map[string]bool{}}
	reach := map[int]bool{}
	at := filepath.Join(dir, filepath.FromSlash(name))
	var listed map[string]bool
	if kustomization(at) != "" {
		listed = filesOf(at, false)
	}
	for i, d := range found {
		if d.File != name && name != "." && !strings.HasPrefix(d.File, name+"/") || listed != nil && !listed[filepath.Join(dir, filepath.FromSlash(d.File))] {
			continue
		}
		root.Declares = append(root.Declares, d.File)
		reach[i] = true
		below(holds, i, reach)
	}
	for i := range reach {
		for _, s := range found[i].sources() {
			maps.Copy(root.Reads, filesOf(filepath.Join(base, filepath.FromSlash(s.Path)), s.Directory != nil && s.Directory.Recurse))
		}
	}
	return root
}

// RootWord is what errors say when there is no root.
func (Layouts) RootWord() string { return "no file is a root Application of Argo CD" }

// Top are the objects at the top of a directory, if Applications are among them.
func (Layouts) Top(dir string) ([]*unstructured.Unstructured, error) {
	objects, err := top(dir)
	if err != nil || !isRoot(objects) {
		return nil, err
	}
	return objects, nil
}

// Repositories are the URLs of the repositories that root objects read and whose paths there are in a directory.
func (Layouts) Repositories(objects []*unstructured.Unstructured, dir string) []string {
	return repositories(objects, dir)
}

// Scan returns the Applications and ApplicationSets that files below a directory hold.
func (Layouts) Scan(dir string) ([]*unstructured.Unstructured, error) {
	found, err := Scan(dir)
	objects := make([]*unstructured.Unstructured, len(found))
	for i, d := range found {
		objects[i] = d.Object
	}
	return objects, err
}

// topmost are the directories that lie in none of the others.
func topmost(dirs map[string]bool) []string {
	var top []string
	for dir := range dirs {
		above := false
		for other := range dirs {
			above = above || other != dir && (other == "." || strings.HasPrefix(dir, other+"/"))
		}
		if !above {
			top = append(top, dir)
		}
	}
	slices.Sort(top)
	return top
}

// Paths are those of the sources of Applications, and those below which generators look.
func (Layouts) Paths(dir string) ([]string, error) {
	found, err := Scan(dir)
	if err != nil {
		return nil, err
	}
	return paths(found), nil
}

func paths(found []Declaration) []string {
	var all []string
	for _, d := range found {
		for _, s := range d.sources() {
			if p := path.Join(".", s.Path); p != "." {
				all = append(all, p)
			}
		}
	}
	return all
}

// baseOf is the directory that paths are relative to: dir, or the working copy that it lies in.
func baseOf(dir string, found []Declaration) string {
	top := dir
	for {
		if _, err := os.Stat(filepath.Join(top, ".git")); err == nil {
			break
		}
		parent := filepath.Dir(top)
		if parent == top {
			return dir
		}
		top = parent
	}
	here, there := 0, 0
	for _, p := range paths(found) {
		if isDir(filepath.Join(dir, filepath.FromSlash(p))) {
			here++
		} else if isDir(filepath.Join(top, filepath.FromSlash(p))) {
			there++
		}
	}
	if there > here {
		return top
	}
	return dir
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// held are the declarations that an Application leads to.
func held(dir, base string, d Declaration, found []Declaration) map[int]bool {
	all := map[int]bool{}
	for _, s := range d.sources() {
		if d.Object.GetKind() == applicationSetKind {
			generated(dir, base, s.Path, found, all)
			continue
		}
		recurse := s.Directory != nil && s.Directory.Recurse
		files := filesOf(filepath.Join(base, filepath.FromSlash(s.Path)), recurse)
		for i, other := range found {
			if files[filepath.Join(dir, filepath.FromSlash(other.File))] && !same(other, d) {
				all[i] = true
			}
		}
	}
	return all
}

// generated are the declarations in the directories that a generator goes through.
func generated(dir, base, p string, found []Declaration, into map[int]bool) {
	if p == "." {
		return
	}
	at := filepath.Join(base, filepath.FromSlash(p)) + string(filepath.Separator)
	for i, other := range found {
		file := filepath.Join(dir, filepath.FromSlash(other.File))
		if rest, below := strings.CutPrefix(file, at); below && strings.ContainsRune(rest, filepath.Separator) {
			into[i] = true
		}
	}
}

func same(a, b Declaration) bool {
	return a.Object.GetKind() == b.Object.GetKind() && a.Object.GetName() == b.Object.GetName() && a.Object.GetNamespace() == b.Object.GetNamespace()
}

// filesOf are the files of a directory that a source takes objects from.
func filesOf(dir string, recurse bool) map[string]bool {
	files := map[string]bool{}
	if kustomization(dir) != "" {
		closure(dir, files, map[string]bool{})
		return files
	}
	if _, err := os.Stat(filepath.Join(dir, "Chart.yaml")); err == nil {
		dir, recurse = filepath.Join(dir, "templates"), true
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return files
	}
	for _, entry := range entries {
		name := filepath.Join(dir, entry.Name())
		switch {
		case entry.IsDir() && recurse:
			maps.Copy(files, filesOf(name, true))
		case isYAML(name):
			files[name] = true
		}
	}
	return files
}

// kustomization is the name of the kustomization of a directory, or empty.
func kustomization(dir string) string {
	for _, base := range []string{"kustomization.yaml", "kustomization.yml", "Kustomization"} {
		name := filepath.Join(dir, base)
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			return name
		}
	}
	return ""
}

// closure gathers the files that a kustomization takes resources from.
func closure(dir string, files, seen map[string]bool) {
	named, is := render.Entries(dir)
	if !is || seen[dir] {
		return
	}
	seen[dir] = true
	for _, entry := range named {
		at := filepath.Join(dir, filepath.FromSlash(entry))
		if isDir(at) {
			closure(at, files, seen)
			continue
		}
		files[at] = true
	}
}

// templates reports whether the chart of an Application makes Applications.
func templates(dir, base string, d Declaration) bool {
	for _, s := range d.sources() {
		at := filepath.Join(base, filepath.FromSlash(s.Path))
		if _, err := os.Stat(filepath.Join(at, "Chart.yaml")); err != nil {
			continue
		}
		for name := range filesOf(at, true) {
			if data, err := os.ReadFile(name); err == nil && strings.Contains(string(data), Group+"/") && strings.Contains(string(data), "kind: "+applicationKind) {
				return true
			}
		}
	}
	return false
}

// uncontained are the declarations that no other one leads to. Of those that lead to each other, and that nothing else
// leads to, it is the Application that leads to the most.
func uncontained(found []Declaration, holds []map[int]bool) []int {
	reach := make([]map[int]bool, len(holds))
	for i := range holds {
		reach[i] = map[int]bool{}
		below(holds, i, reach[i])
	}
	var tops []int
	for i := range holds {
		top := true
		for j := range holds {
			if i == j || !reach[j][i] {
				continue
			}
			set, other := found[i].Object.GetKind() == applicationSetKind, found[j].Object.GetKind() == applicationSetKind
			if !reach[i][j] || set && !other || set == other && len(holds[j]) > len(holds[i]) {
				top = false
			}
		}
		if top {
			tops = append(tops, i)
		}
	}
	return tops
}

func below(holds []map[int]bool, i int, into map[int]bool) {
	for j := range holds[i] {
		if !into[j] {
			into[j] = true
			below(holds, j, into)
		}
	}
}

// isRoot reports whether objects of Argo CD are among some, so that they are applied as they are.
func isRoot(objects []*unstructured.Unstructured) bool {
	return slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool {
		gvk := o.GroupVersionKind()
		return gvk.Group == Group && (gvk.Kind == applicationKind || gvk.Kind == applicationSetKind)
	})
}

// top returns the objects at the top of a directory, with whatever is beside Applications; none when a kustomization or a
// chart says what the directory is.
func top(dir string) ([]*unstructured.Unstructured, error) {
	if _, err := os.Stat(filepath.Join(dir, "Chart.yaml")); err == nil || kustomization(dir) != "" {
		return nil, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []*unstructured.Unstructured
	for _, entry := range entries {
		if entry.IsDir() || !isYAML(entry.Name()) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		for _, o := range Documents(data) {
			if o.GetAPIVersion() != "" && o.GetKind() != "" && o.GetName() != "" {
				all = append(all, o)
			}
		}
	}
	return all, nil
}

// repositories are the URLs of the repositories that root objects read and that a directory is: it has more of the paths that they read there
// than it lacks, since one path may be misspelled. The directory itself is the path of an Application that is alone.
func repositories(objects []*unstructured.Unstructured, dir string) []string {
	var urls []string
	has := map[string]int{}
	objects = slices.DeleteFunc(slices.Clone(objects), func(o *unstructured.Unstructured) bool { return !isRoot([]*unstructured.Unstructured{o}) })
	for _, o := range objects {
		for _, s := range (Declaration{Object: o}).sources() {
			switch {
			case s.RepoURL == "":
				continue
			case !isDir(filepath.Join(dir, filepath.FromSlash(s.Path))):
				has[s.RepoURL]--
			case path.Join(".", s.Path) != "." || len(objects) == 1:
				has[s.RepoURL]++
			}
			if !slices.Contains(urls, s.RepoURL) {
				urls = append(urls, s.RepoURL)
			}
		}
	}
	if urls = slices.DeleteFunc(urls, func(url string) bool { return has[url] <= 0 }); len(urls) == 0 {
		return nil
	}
	return urls
}
