package cluster

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Alike is the served kind whose name is nearly that of one which is not, in the same group; false when there is none.
func (k *Kinds) Alike(gk schema.GroupKind) (schema.GroupKind, bool) {
	names := map[string]bool{}
	for served := range k.All() {
		if served.Group == gk.Group {
			names[served.Kind] = true
		}
	}
	name := nearest(gk.Kind, slices.Sorted(maps.Keys(names)))
	return schema.GroupKind{Group: gk.Group, Kind: name}, name != ""
}

// nearest is the name that differs least from a word, empty when all of them differ by more than a slip: two letters, or one
// of a short word.
func nearest(word string, names []string) string {
	best, least := "", 3
	if len(word) < 6 {
		least = 2
	}
	for _, name := range names {
		if d := distance(strings.ToLower(word), strings.ToLower(name)); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance is how many letters have to be inserted, removed or replaced to make one word of another.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
