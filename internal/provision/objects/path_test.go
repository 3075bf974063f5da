package objects

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestParsePath reads field paths as Crossplane has them.
func TestParsePath(t *testing.T) {
	for text, want := range map[string]path{
		"data":                    {"data"},
		"data.image":              {"data", "image"},
		"spec.containers[0].name": {"spec", "containers", 0, "name"},
		"metadata.annotations[crossplane.io/external-name]": {"metadata", "annotations", "crossplane.io/external-name"},
		"data['a.b']":             {"data", "a.b"},
		`data["a.b"].c`:           {"data", "a.b", "c"},
		"list[1][2]":              {"list", 1, 2},
		"":                        nil,
		"a..b":                    nil,
		".a":                      nil,
		"a.":                      nil,
		"a[":                      nil,
		"a[]":                     nil,
		"a.[b]":                   nil,
		"a]b[":                    nil,
		"spec.containers[*].name": nil,
	} {
		got, err := parsePath(text)
		if diff := cmp.Diff(want, got); diff != "" || (err != nil) != (want == nil) {
			t.Errorf("%q: %v: %s", text, err, diff)
		}
	}
}

// FuzzParsePath has a path that was read set what it gets.
func FuzzParsePath(f *testing.F) {
	for _, seed := range []string{"a.b[0].c", "a['x.y']", "[3]", "a[99999999999]", "a.b.", "[[]]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parsePath(text)
		if err != nil {
			return
		}
		in, err := p.set(map[string]any{}, "value")
		if err != nil {
			return
		}
		if got, has := p.get(in); !has || got != "value" {
			t.Errorf("%q: got %v, %v in %v", text, got, has, in)
		}
	})
}

// TestSet makes what is on the way to a field, and refuses what cannot be.
func TestSet(t *testing.T) {
	for name, tc := range map[string]struct {
		in   map[string]any
		path string
		want map[string]any
		bad  bool
	}{
		"Field":    {map[string]any{}, "data.k", map[string]any{"data": map[string]any{"k": "v"}}, false},
		"Element":  {map[string]any{"l": []any{"a"}}, "l[0]", map[string]any{"l": []any{"v"}}, false},
		"Beyond":   {map[string]any{}, "l[1].k", map[string]any{"l": []any{nil, map[string]any{"k": "v"}}}, false},
		"TooFar":   {map[string]any{}, "l[5000]", nil, true},
		"Text":     {map[string]any{"data": "text"}, "data.k", nil, true},
		"NotIndex": {map[string]any{"l": []any{}}, "l.k", nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := parsePath(tc.path)
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.set(tc.in, "v")
			if (err != nil) != tc.bad {
				t.Fatalf("the error is %v", err)
			}
			if diff := cmp.Diff(any(tc.want), got); !tc.bad && diff != "" {
				t.Error(diff)
			}
		})
	}
}
