package factory

import (
	"fmt"
	"slices"
	"strings"
)

// unknown says that a name is not one of those that there are, with the one that was probably meant, or with all of them.
func unknown(what, name string, known []string) string {
	if near := nearest(name, known); near != "" {
		return fmt.Sprintf("unknown %s %q; did you mean %q?", what, name, near)
	}
	if len(known) == 0 {
		return fmt.Sprintf("unknown %s %q; there are none", what, name)
	}
	known = slices.Sorted(slices.Values(known))
	return fmt.Sprintf("unknown %s %q; there are: %s", what, name, strings.Join(known, ", "))
}

// nearest is the known name that differs least, if it differs by a third of its letters at most.
func nearest(name string, known []string) string {
	best, least := "", len(name)
	for _, candidate := range slices.Sorted(slices.Values(known)) {
		d := distance(strings.ToLower(name), strings.ToLower(candidate))
		if d < least && d*3 <= max(len(name), len(candidate)) {
			best, least = candidate, d
		}
	}
	return best
}

// distance is how many letters have to be changed, added, removed or swapped with their neighbour.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(x)][len(y)]
}
