package images

import (
	"slices"
	"strings"
	"testing"
)

// FuzzLatest selects of any tags by any policy: one of them, and the same one in whatever order they come.
func FuzzLatest(f *testing.F) {
	f.Add(">=1.0.0-0", "", "", "", "", "1.0.0 1.0.1-rc.1 v2 latest")
	f.Add("", "asc", "", "^main-(?P<ts>[0-9]+)$", "$ts", "main-1 main-20 main-3")
	f.Add("", "", "desc", "", "", "10 9 1e3 0x10 NaN -1")
	f.Add("~1 || ^2", "", "", "(a*)*b", "$1", "1.2.3+a 1.2.3+b")
	f.Fuzz(func(t *testing.T, semver, alphabetical, numerical, pattern, extract, list string) {
		p, tags := Policy{Pattern: pattern, Extract: extract}, strings.Fields(list)
		switch {
		case semver != "":
			p.SemVer = &semver
		case alphabetical != "":
			order := Order(alphabetical)
			p.Alphabetical = &order
		default:
			order := Order(numerical)
			p.Numerical = &order
		}
		got, err := p.Latest(slices.Clone(tags))
		slices.Reverse(tags)
		again, failed := p.Latest(tags)
		if (err == nil) != (failed == nil) || got != again {
			t.Errorf("%q (%v), in the other order %q (%v)", got, err, again, failed)
		}
		if err == nil && !slices.Contains(tags, got) {
			t.Errorf("%q is none of the tags", got)
		}
	})
}
