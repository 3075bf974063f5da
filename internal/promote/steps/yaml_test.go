package steps

import "testing"

// TestSetScalar sets values by keys in the syntax of the upstream.
func TestSetScalar(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, content, key string
		value                any
		want                 string
	}{
		"Colon":       {"a colon within a name belongs to it", "a:\n  b:c: 1\n", "a.b:c", 2.0, "a:\n  b:c: 2\n"},
		"Quoted":      {"also in quotes", "\"x: y\": 1 # why\n", "x: y", "z", "\"x: y\": z # why\n"},
		"Begins":      {"also at its begin", "\":x\": 1\n", ":x", 2.0, "\":x\": 2\n"},
		"Number":      {"a number with a colon before it is a name", "a:\n  80: old\n", "a.:80", "new", "a:\n  80: new\n"},
		"NumberPlain": {"as it is without one, in an object", "a:\n  80: old\n", "a.80", "new", "a:\n  80: new\n"},
		"Both":        {"the name as it is written comes first", "\":80\": a\n80: b\n", ":80", "c", "\":80\": c\n80: b\n"},
		"Escaped":     {"a colon behind a backslash is one", "\":80\": a\n80: b\n", "\\:80", "c", "\":80\": c\n80: b\n"},
		"Image":       {"with dots and slashes", "images:\n  example.org/web:1.0: {tag: old}\n", "images.example\\.org/web:1\\.0.tag", "new", "images:\n  example.org/web:1.0: {tag: new}\n"},
		"Value":       {"a value may have one", "a: b:1\n", "a", "c: d", "a: 'c: d'\n"},
		"Flow":        {"in braces", "{\"a\":1, b: 2}\n", "a", 3.0, "{\"a\":3, b: 2}\n"},
		"Plain":       {"in braces, after a colon in a name", "{a:b: 1}\n", "a:b", 3.0, "{a:b: 3}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := setScalar([]byte(tc.content), tc.key, tc.value)
			if err != nil || string(got) != tc.want {
				t.Errorf("%s: %q %v, want %q", tc.reason, got, err, tc.want)
			}
		})
	}
	if got, err := setScalar([]byte("a:\n- x\n"), "a.:0", "y"); err == nil {
		t.Errorf("the item of a list is found by a name: %q", got)
	}
}
