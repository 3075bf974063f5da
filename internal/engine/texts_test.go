package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStrings(t *testing.T) {
	labels := func(of map[string]any) map[string]any {
		return map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "1"}, "annotations": of}}
	}
	cases := map[string]struct {
		reason string
		object map[string]any
		want   string
	}{
		"None":    {"nothing is said", map[string]any{}, ""},
		"Strings": {"a digit in quotes is a string", labels(map[string]any{"a": "1"}), ""},
		"Null":    {"the server reads null as an empty string", labels(map[string]any{"a": nil}), ""},
		"Number":  {"the first by its name is reported", labels(map[string]any{"b": int64(1), "a": true}), `metadata.annotations: the value of "a" is not a string; quote it`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := Strings(c.object); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}
