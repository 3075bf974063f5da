package settings

import (
	"slices"

	"github.com/headgate-dev/headgate/internal/patterns"
)

// Filter says which kinds are watched.
type Filter struct{ Exclusions, Inclusions []Kinds }

// Kinds are kinds of some clusters. An empty list means all.
type Kinds struct {
	// APIGroups and Clusters are patterns; a cluster is named by its URL.
	APIGroups []string `json:"apiGroups,omitempty"`
	Kinds     []string `json:"kinds,omitempty"`
	Clusters  []string `json:"clusters,omitempty"`
}

// never are kinds that no installation watches.
func never() []Kinds {
	return []Kinds{
		{APIGroups: []string{"events.k8s.io", "metrics.k8s.io"}},
		{APIGroups: []string{""}, Kinds: []string{"Event"}},
		{APIGroups: []string{"coordination.k8s.io"}, Kinds: []string{"Lease"}},
	}
}

// Excludes says whether objects of a kind are passed over in a cluster. Where anything is included, all else is not.
func (f Filter) Excludes(group, kind, cluster string) bool {
	matches := func(k Kinds) bool { return k.matches(group, kind, cluster) }
	switch {
	case slices.ContainsFunc(never(), matches), slices.ContainsFunc(f.Exclusions, matches):
		return true
	case slices.ContainsFunc(f.Inclusions, matches):
		return false
	}
	return slices.ContainsFunc(f.Inclusions, func(k Kinds) bool { return anyOf(k.Clusters, cluster) })
}

func (k Kinds) matches(group, kind, cluster string) bool {
	named := len(k.Kinds) == 0 || slices.Contains(k.Kinds, "*") || slices.Contains(k.Kinds, kind)
	return named && anyOf(k.APIGroups, group) && anyOf(k.Clusters, cluster)
}

// anyOf is true when a pattern matches, or when there is none. Patterns were read once, and are good.
func anyOf(globs []string, text string) bool {
	return len(globs) == 0 || slices.ContainsFunc(globs, func(pattern string) bool {
		compiled, err := patterns.NewGlob(pattern)
		return err == nil && compiled.Match(text)
	})
}

func (r *reader) filter(key string, into *[]Kinds) {
	var read []Kinds
	if !r.document(key, &read) {
		return
	}
	for _, k := range read {
		for _, pattern := range slices.Concat(k.APIGroups, k.Clusters) {
			if _, err := patterns.NewGlob(pattern); err != nil {
				r.problems.add(r.object, key, pattern, "is not a pattern: "+err.Error())
				return
			}
		}
	}
	*into = read
}

// MatchesAny reports whether a name matches one of several patterns.
func MatchesAny(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(p string) bool {
		g, err := patterns.NewGlob(p)
		return err == nil && g.Match(name)
	})
}
