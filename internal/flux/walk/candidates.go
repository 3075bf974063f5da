package walk

import (
	"cmp"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// candidate is a directory that a cluster may begin with.
type candidate struct {
	path string
	// own are the units that are built from it, reach those that these lead to, with them.
	own, reach map[int]bool
	// layout is the rank of the known layout that it has.
	layout int
}

// ranked are the directories that hold units and that no other one leads to: those of a known layout first, then by how many units they
// lead to.
func ranked(dir, base string, holding map[string]bool, units []written) []string {
	holds := led(dir, base, units)
	seen := map[string]bool{}
	var all []candidate
	for _, rel := range slices.Sorted(maps.Keys(holding)) {
		if rel = strings.TrimSuffix(rel, "/flux-system"); seen[rel] {
			continue
		}
		seen[rel] = true
		c := candidate{path: rel, own: map[int]bool{}, reach: map[int]bool{}, layout: layoutRank(rel)}
		files := builtFrom(filepath.Join(dir, filepath.FromSlash(rel)))
		for i, u := range units {
			if files[filepath.Join(dir, filepath.FromSlash(u.file))] {
				c.own[i], c.reach[i] = true, true
				maps.Copy(c.reach, reached(i, holds))
			}
		}
		if len(c.own) > 0 {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, better)
	var paths []string
	for i, c := range all {
		if !slices.ContainsFunc(all, func(other candidate) bool { return other.path != c.path && leadsTo(other, c, all[:i]) }) {
			paths = append(paths, c.path)
		}
	}
	return paths
}

// better orders candidates.
func better(a, b candidate) int {
	return cmp.Or(cmp.Compare(a.layout, b.layout), cmp.Compare(len(b.reach), len(a.reach)), cmp.Compare(strings.Count(a.path, "/"), strings.Count(b.path, "/")), strings.Compare(a.path, b.path))
}

// leadsTo reports whether one candidate leads to all units of another. Of two that lead to each other, it is the one that leads to more, or
// comes before the other.
func leadsTo(a, b candidate, before []candidate) bool {
	if !within(b.own, a.reach) {
		return false
	}
	if !within(a.own, b.reach) || len(a.reach) > len(b.reach) {
		return true
	}
	return len(a.reach) == len(b.reach) && slices.ContainsFunc(before, func(c candidate) bool { return c.path == a.path })
}

func within(some, all map[int]bool) bool {
	for i := range some {
		if !all[i] {
			return false
		}
	}
	return true
}

// led are the units that each one leads to. Where a path is not in the base, it is relative to the directory of another repository that the
// file lies in.
func led(dir, base string, units []written) []map[int]bool {
	holds := make([]map[int]bool, len(units))
	for i, u := range units {
		holds[i] = map[int]bool{}
		if u.source == "" {
			continue
		}
		files := builtFrom(pathOf(dir, base, u))
		for j, other := range units {
			if files[filepath.Join(dir, filepath.FromSlash(other.file))] {
				holds[i][j] = true
			}
		}
	}
	return holds
}

// pathOf is the directory that a unit builds.
func pathOf(dir, base string, u written) string {
	rel := filepath.FromSlash(path.Clean("/" + u.dir))
	above := strings.Split(path.Dir(u.file), "/")
	for i := range above {
		if i == 0 {
			if isDir(filepath.Join(base, rel)) {
				return filepath.Join(base, rel)
			}
			continue
		}
		if at := filepath.Join(dir, filepath.FromSlash(path.Join(above[:i]...)), rel); isDir(at) {
			return at
		}
	}
	return filepath.Join(base, rel)
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// layoutRank is the place of the known layout that a directory has at any depth; a name alone counts near the top only.
func layoutRank(rel string) int {
	parts := strings.Split(rel, "/")
	for rank, layout := range layouts {
		n := strings.Count(layout, "/") + 1
		if len(parts) < n || n == 1 && len(parts) > 2 {
			continue
		}
		if ok, err := path.Match(layout, path.Join(parts[len(parts)-n:]...)); ok && err == nil {
			return rank
		}
	}
	return len(layouts)
}
