package simulate_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/simulate"
)

func TestOverrides(t *testing.T) {
	overrides, err := simulate.ParseOverrides([]byte(`
- group: e.io
  kind: X
  status: {phase: Broken, replicas: 3, part: [{observedGeneration: 1}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	h := healer(t, overrides)
	for _, generation := range []int64{4, 5} {
		o := object(t, "{apiVersion: e.io/v1, kind: X, metadata: {name: a}}")
		o.SetGeneration(generation)
		status, ok, err := h.Status(o, nil, []simulate.Check{{Current: "status.phase == 'Up'"}})
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		want := map[string]any{"phase": "Broken", "replicas": int64(3), "part": []any{map[string]any{"observedGeneration": generation}}}
		if diff := cmp.Diff(want, status); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

func TestOverridesThatAreWrong(t *testing.T) {
	for text, want := range map[string]string{
		"kind: X":                                "line 1: not a list",
		"- a":                                    "item 0: line 1: not a map",
		"- group: e.io\n  kind: 3\n  status: {}": `item 0: line 2: field "kind": not a string`,
		"- group: e.io\n  kind: X\n  status: Up": `item 0: line 3: field "status": not a map`,
		"- group: e.io\n  kind: X":               `item 0: line 1: field "status": missing`,
		"- kind: X\n  status: {}":                `item 0: line 1: field "group": missing`,
		"- group: e.io\n  Kind: X":               `item 0: line 2: field "Kind": unknown field`,
		"- {group: e.io, kind: X, status: {}}\n- {group: e.io, kind: X, status: {}}": "item 1: line 2: duplicate X.e.io",
		"- {": "parsing statuses: yaml: line 1",
	} {
		if _, err := simulate.ParseOverrides([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
	if got, err := simulate.ParseOverrides(nil); err != nil || len(got) != 0 {
		t.Errorf("an empty file is %v (%v)", got, err)
	}
}
