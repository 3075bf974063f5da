package document_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/chart/internal/document"
)

func TestWrite(t *testing.T) {
	type m = map[string]any
	for name, tc := range map[string]struct {
		reason string
		value  any
		want   string
	}{
		"Order":    {"the keys that name an object come first, whole numbers before other keys", m{"spec": 1, "metadata": m{"metadata": m{}, "apiVersion": "x", "a": 1, "10": 1, "9": 1, "09": 1}, "kind": "K", "apiVersion": "v1", "a": nil}, "apiVersion: v1\nkind: K\nmetadata:\n  \"9\": 1\n  \"10\": 1\n  \"09\": 1\n  a: 1\n  apiVersion: x\n  metadata: {}\na: null\nspec: 1\n"},
		"Lists":    {"lists in lists, and mappings in them", m{"a": []any{[]any{1, []any{}}, m{"b": []any{m{}, m{"c": 1, "d": []any{2}}}, "e": 1}}}, "a:\n  - - 1\n    - []\n  - b:\n      - {}\n      - c: 1\n        d:\n          - 2\n    e: 1\n"},
		"Numbers":  {"numbers as JavaScript writes them", []any{int64(-5), uint64(math.MaxUint64), 1.5, 3.0, 1e21, 1.5e-7, 123456789012.0, math.Copysign(0, -1), true}, "- -5\n- 18446744073709551615\n- 1.5\n- 3\n- 1e+21\n- 1.5e-7\n- 123456789012\n- 0\n- true\n"},
		"Go":       {"numbers of other Go types", []any{7, int32(-7), uint8(7), float32(0.1)}, "- 7\n- -7\n- 7\n- 0.1\n"},
		"Block":    {"texts of several lines", m{"a": "x\ny\n", "b": []any{"x\n\n  y"}, "c": "x\n\n", "d": "  x\ny", "e": "x\n \n"}, "a: |\n  x\n  y\nb:\n  - |-\n    x\n\n      y\nc: |+\n  x\n\nd: |2-\n    x\n  y\ne: |+\n  x\n   \n"},
		"Quotes":   {"what is ambiguous is in double quotes, single quotes are for double ones", m{"a": "it's", "b": "say: \"x\"", "c": "yes", "n": "0755", "d": "a: b", "e": "#x", "f": "x #y", "g": "-", "h": "", "i": "{x}", "j": "2024-01-01", "": 1}, "\"\": 1\na: it's\nb: 'say: \"x\"'\nc: \"yes\"\nd: \"a: b\"\ne: \"#x\"\nf: \"x #y\"\ng: \"-\"\nh: \"\"\ni: \"{x}\"\nj: \"2024-01-01\"\n\"n\": \"0755\"\n"},
		"Document": {"a string that would begin a document", "---", "\"---\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, string(document.Append(nil, tc.value))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestMap(t *testing.T) {
	given := map[string]any{"b": map[string]any{"x": "y"}, "a": []any{map[string]any{"k": "v"}}}
	ordered, ok := document.New(given).(*document.Map)
	if !ok {
		t.Fatal("a mapping is no Map")
	}
	ordered.Set("0new", "1")
	ordered.Set("a", "changed")
	ordered.Delete("none")
	below, _ := ordered.Get("b")
	below.(*document.Map).Set("x", "z")
	if diff := cmp.Diff([]string{"a", "b", "0new"}, ordered.Keys()); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"b": map[string]any{"x": "y"}, "a": []any{map[string]any{"k": "v"}}}, given); diff != "" {
		t.Errorf("what was given has changed (-before +after):\n%s", diff)
	}
	ordered.Delete("b")
	if diff := cmp.Diff(map[string]any{"a": "changed", "0new": "1"}, document.Plain(ordered)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
