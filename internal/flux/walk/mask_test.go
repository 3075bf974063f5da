package walk

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func TestShownOf(t *testing.T) {
	for name, c := range map[string]struct{ reason, value, twin, want string }{
		"same":         {"nothing is secret", "{a: [1, {b: c}]}", "{a: [1, {b: c}]}", ""},
		"within":       {"what is around a value is shown", "{url: 'https://x.hunter2/y'}", "{url: 'https://x." + hidden + "/y'}", "{url: 'https://x.**/y'}"},
		"transformed":  {"a function may have made something else of it", "{url: HUN}", "{url: HID}", "{url: '**'}"},
		"number":       {"a number may come from one", "{n: 4711}", "{n: " + hidden + "}", "{n: '**'}"},
		"list":         {"items are compared by their places", "{l: [a, hunter2]}", "{l: [a, " + hidden + "]}", "{l: [a, '**']}"},
		"other length": {"a list that depends on one is not shown", "{l: [a, b]}", "{l: [a]}", "{l: '**'}"},
		"key":          {"nor is a key", "{a: b, hunter2: c}", "{a: b, " + hidden + ": c}", "{a: b, '**': '**'}"},
		"name":         {"the name of what is generated is none", "{ref: config-abc}", "{ref: config-def}", ""},
		"other kind":   {"what is something else with a mark is not shown", "{a: {b: c}}", "{a: " + hidden + "}", "{a: '**'}"},
	} {
		var value, twin, want any
		if c.want == "" {
			c.want = c.value
		}
		for i, text := range []string{c.value, c.twin, c.want} {
			if err := yaml.Unmarshal([]byte(text), []*any{&value, &twin, &want}[i]); err != nil {
				t.Fatal(err)
			}
		}
		got, differs := shownOf(value, twin, map[string]string{"config-def": "config-abc"})
		if diff := cmp.Diff(want, got); diff != "" || differs != (c.want != c.value) {
			t.Errorf("%s: %s: differs %v (-want +got):\n%s", name, c.reason, differs, diff)
		}
	}
}
