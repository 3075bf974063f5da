package factory

import (
	"fmt"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/chart/similar"
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
		d := similar.Edits(strings.ToLower(name), strings.ToLower(candidate), max(len(name), len(candidate)))
		if d < least && d*3 <= max(len(name), len(candidate)) {
			best, least = candidate, d
		}
	}
	return best
}
