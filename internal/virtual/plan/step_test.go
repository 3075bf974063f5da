package plan

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
)

func TestNext(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		s      Standing
		want   Step
	}{
		"New":      {"nothing is made for an object that could disappear at once", Standing{}, Keep},
		"Running":  {"also one that runs already is kept first", Standing{Served: true}, Keep},
		"Kept":     {"the control plane begins once it is kept", Standing{Kept: true}, Begin},
		"Served":   {"one that runs is supplied", Standing{Kept: true, Served: true}, Supply},
		"Deleted":  {"one that is deleted leaves nothing behind", Standing{Deleted: true, Kept: true, Served: true}, End},
		"Stopped":  {"it is ended without being started for that", Standing{Deleted: true, Kept: true}, End},
		"Finished": {"others may keep it longer", Standing{Deleted: true}, Rest},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Next(tc.s); got != tc.want {
				t.Errorf("%s: step %d, want %d", tc.reason, got, tc.want)
			}
		})
	}
}

func TestControlPlane(t *testing.T) {
	names := map[string]Name{}
	for _, n := range []Name{
		{"a-b", "c"},
		{"a", "b-c"},
		{"dev-vcluster", "vcluster-dev-helm"},
		{"dots", "a.b"},
		{"dots", "a-b"},
		{"x", strings.Repeat("y", 53)},
		{strings.Repeat("long", 15), "first"},
		{strings.Repeat("long", 15), "second"},
		{"a12345678901234567890", "b.c"},
	} {
		got := ControlPlane(n)
		if bad := validation.IsDNS1123Label(got); len(bad) > 0 {
			t.Errorf("%s has %q: %s", n, got, bad[0])
		}
		if other, taken := names[got]; taken {
			t.Errorf("%s and %s both have %q", n, other, got)
		}
		names[got] = n
		if again := ControlPlane(n); again != got {
			t.Errorf("%s has %q, and then %q", n, got, again)
		}
	}
}
