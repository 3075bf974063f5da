package images_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/images"
)

func of[T any](v T) *T { return &v }

func TestLatest(t *testing.T) {
	cases := map[string]struct {
		reason string
		policy images.Policy
		tags   []string
		want   string
		// invalid tells a fault of the policy from one of the tags.
		invalid, fails bool
	}{
		"semver":            {"the highest in the range", images.Policy{SemVer: of("1.x")}, []string{"1.0.0", "1.10.0", "1.9.0", "2.0.0"}, "1.10.0", false, false},
		"semver v":          {"a v may come first, and stays", images.Policy{SemVer: of(">=1.0.0")}, []string{"v1.0.0", "v1.2.0", "latest"}, "v1.2.0", false, false},
		"semver strict":     {"a version has three numbers", images.Policy{SemVer: of("*")}, []string{"1.0.0", "7", "8.1"}, "1.0.0", false, false},
		"semver pre":        {"pre-releases are taken when the range names one", images.Policy{SemVer: of(">=1.0.0-0")}, []string{"1.0.0", "1.1.0-rc.1"}, "1.1.0-rc.1", false, false},
		"semver no pre":     {"and not otherwise", images.Policy{SemVer: of(">=1.0.0")}, []string{"1.0.0", "1.1.0-rc.1"}, "1.0.0", false, false},
		"semver tie":        {"always the same of two builds", images.Policy{SemVer: of("*")}, []string{"1.0.0", "v1.0.0"}, "v1.0.0", false, false},
		"semver none":       {"nothing is in the range", images.Policy{SemVer: of(">=3.0.0")}, []string{"1.0.0"}, "", false, true},
		"semver bad":        {"the range is no range", images.Policy{SemVer: of("one")}, []string{"1.0.0"}, "", true, true},
		"alphabetical":      {"ascending takes the last", images.Policy{Alphabetical: of(images.Ascending)}, []string{"a", "c", "b"}, "c", false, false},
		"alphabetical desc": {"descending takes the first", images.Policy{Alphabetical: of(images.Descending)}, []string{"b", "a", "c"}, "a", false, false},
		"alphabetical none": {"ascending is the default", images.Policy{Alphabetical: of(images.Order(""))}, []string{"a", "b"}, "b", false, false},
		"order":             {"there are two orders", images.Policy{Alphabetical: of(images.Order("up"))}, []string{"a"}, "", true, true},
		"numerical":         {"numbers, not texts", images.Policy{Numerical: of(images.Ascending)}, []string{"9", "10", "1.5"}, "10", false, false},
		"numerical desc":    {"the lowest", images.Policy{Numerical: of(images.Descending)}, []string{"9", "10", "1.5"}, "1.5", false, false},
		"numerical text":    {"a tag that is no number", images.Policy{Numerical: of(images.Ascending)}, []string{"9", "nine"}, "", false, true},
		"numerical filter":  {"is left out by a filter", images.Policy{Numerical: of(images.Ascending), Pattern: `^\d+$`}, []string{"9", "nine"}, "9", false, false},
		"extract": {
			"a group is compared, the tag is taken",
			images.Policy{Numerical: of(images.Ascending), Pattern: `^main-[a-f0-9]+-(?P<ts>[0-9]+)$`, Extract: "$ts"},
			[]string{"main-aa-100", "main-bb-99", "dev-cc-200"},
			"main-aa-100", false, false,
		},
		"extract semver": {
			"several groups",
			images.Policy{SemVer: of("*"), Pattern: `^v(\d+)_(\d+)_(\d+)$`, Extract: "$1.$2.$3"},
			[]string{"v1_2_0", "v1_10_0"},
			"v1_10_0", false, false,
		},
		"extract tie": {"the same every time", images.Policy{Numerical: of(images.Ascending), Pattern: `^(\d)`, Extract: "$1"}, []string{"1-a", "1-b"}, "1-b", false, false},
		"bad pattern": {"a pattern that is none", images.Policy{SemVer: of("*"), Pattern: "("}, []string{"1.0.0"}, "", true, true},
		"no match":    {"a pattern that nothing matches", images.Policy{SemVer: of("*"), Pattern: "^x"}, []string{"1.0.0"}, "", false, true},
		"no tags":     {"nothing to choose from", images.Policy{SemVer: of("*")}, nil, "", false, true},
		"none":        {"no policy", images.Policy{}, []string{"1.0.0"}, "", true, true},
		"two":         {"two policies", images.Policy{SemVer: of("*"), Numerical: of(images.Ascending)}, []string{"1.0.0"}, "", true, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := tc.policy.Latest(tc.tags)
			if got != tc.want || (err != nil) != tc.fails || errors.Is(err, images.ErrPolicy) != tc.invalid {
				t.Errorf("%s: got %q, %v; want %q", tc.reason, got, err, tc.want)
			}
		})
	}
}

func TestWithout(t *testing.T) {
	tags, err := images.Without([]string{"a", "sha256-1.sig", "c", "b", "b"}, []string{`^.*\.sig$`, "^c"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(images.Tags{"b", "a"}, tags); diff != "" {
		t.Error(diff)
	}
	again, err := images.Without([]string{"b", "a"}, nil)
	if err != nil || again.Revision() != tags.Revision() {
		t.Errorf("the same tags have the revisions %q and %q, %v", tags.Revision(), again.Revision(), err)
	}
	if _, err := images.Without(nil, []string{"a", "("}); err == nil {
		t.Error("an expression that cannot be read was taken")
	}
	many := images.Tags(make([]string, 30))
	if got := len(many.Sample()); got != 10 {
		t.Errorf("the sample has %d tags", got)
	}
}
