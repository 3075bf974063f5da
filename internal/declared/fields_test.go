package declared

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type fields = map[string]any

func TestDifference(t *testing.T) {
	cases := map[string]struct {
		reason              string
		before, after, want fields
	}{
		"nothing":         {"the same differs in nothing", fields{"a": "b", "l": []any{"x"}}, fields{"a": "b", "l": []any{"x"}}, fields{}},
		"nothing, deeper": {"a map that is the same is left out", fields{"m": fields{"a": 1.0}}, fields{"m": fields{"a": 1.0}}, fields{}},
		"from nothing":    {"all of it is new", nil, fields{"a": "b"}, fields{"a": "b"}},
		"to nothing":      {"all of it goes", fields{"a": "b", "c": fields{}}, nil, fields{"a": nil, "c": nil}},
		"a value":         {"what differs is said", fields{"a": 1.0, "b": 2.0}, fields{"a": 1.0, "b": 3.0}, fields{"b": 3.0}},
		"deeper":          {"what goes at a depth is said there", fields{"m": fields{"a": 1.0, "b": 2.0}}, fields{"m": fields{"a": 1.0, "c": 3.0}}, fields{"m": fields{"b": nil, "c": 3.0}}},
		"a list":          {"lists are replaced as a whole", fields{"l": []any{"a", "b"}}, fields{"l": []any{"a"}}, fields{"l": []any{"a"}}},
		"a list of maps":  {"so are lists of maps", fields{"l": []any{fields{"a": 1.0}}}, fields{"l": []any{fields{"a": 2.0}}}, fields{"l": []any{fields{"a": 2.0}}}},
		"a map to a text": {"a value of another kind takes the place", fields{"v": fields{"a": 1.0}}, fields{"v": "text"}, fields{"v": "text"}},
		"a text to a map": {"in both directions", fields{"v": "text"}, fields{"v": fields{"a": 1.0}}, fields{"v": fields{"a": 1.0}}},
		"false and zero":  {"empty values are values", fields{"a": true, "b": 1.0}, fields{"a": false, "b": 0.0}, fields{"a": false, "b": 0.0}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := Difference(c.before, c.after)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s: -want +got:\n%s", c.reason, diff)
			}
			after := c.after
			if after == nil {
				after = fields{}
			}
			if diff := cmp.Diff(after, merged(c.before, got)); diff != "" {
				t.Errorf("%s: merged it gives something else: -want +got:\n%s", c.reason, diff)
			}
		})
	}
}

// merged is what a server makes of a document and a merge patch.
func merged(document, patch fields) fields {
	out := maps.Clone(document)
	if out == nil {
		out = fields{}
	}
	for key, value := range patch {
		inner, is := value.(fields)
		switch {
		case value == nil:
			delete(out, key)
		case is:
			was, _ := out[key].(fields)
			out[key] = merged(was, inner)
		default:
			out[key] = value
		}
	}
	return out
}

func TestFields(t *testing.T) {
	type status struct {
		Phase string `json:"phase,omitempty"`
		Count int    `json:"count"`
	}
	cases := map[string]struct {
		value any
		want  fields
	}{
		"a value":   {status{Phase: "x", Count: 2}, fields{"phase": "x", "count": 2.0}},
		"a pointer": {&status{}, fields{"count": 0.0}},
		"nothing":   {nil, nil},
		"fields":    {fields{"a": fields{"b": "c"}}, fields{"a": fields{"b": "c"}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Fields(c.value)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	for name, value := range map[string]any{"a text": "text", "a list": []string{"a"}, "a channel": make(chan int)} {
		if got, err := Fields(value); err == nil {
			t.Errorf("%s has fields: %v", name, got)
		}
	}
}
