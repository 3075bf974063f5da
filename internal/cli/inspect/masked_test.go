package inspect

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

// TestDifferenceOf compares objects that hold something of a Secret: it differs, and is not shown.
func TestDifferenceOf(t *testing.T) {
	read := func(fields string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte("{apiVersion: example.com/v1, kind: X, metadata: {name: a}, "+fields+"}"), &o.Object); err != nil {
			t.Fatal(err)
		}
		return o
	}
	declared, shown := read("spec: {host: app.hunter2, plain: p, list: [{name: s, k: hunter2}, {name: t, k: v}]}"), read("spec: {host: app.**, plain: p, list: [{name: s, k: '**'}, {name: t, k: v}]}")
	unit := &dialect.OfflineUnit{Shown: map[engine.ObjectID]*unstructured.Unstructured{engine.IDOf(declared): shown}}
	for name, c := range map[string]struct{ reason, before, after, want string }{
		"same":        {"nothing differs", "spec: {host: app.hunter2}", "spec: {host: app.hunter2}", ""},
		"secret":      {"that a secret value differs is all that is said", "spec: {host: app.hunter1}", "spec: {host: app.hunter2}", "    values differ"},
		"plain":       {"what is not secret is shown", "spec: {host: app.hunter2, plain: o}", "spec: {host: app.hunter2, plain: p}", "    -   plain: o\n    +   plain: p"},
		"in a list":   {"so it is in lists", "spec: {list: [{name: s, k: hunter1}, {name: t, k: w}]}", "spec: {list: [{name: s, k: hunter2}, {name: t, k: v}]}", "    -   - k: w\n    +   - k: v"},
		"other order": {"of a list in another order nobody knows which item is secret", "spec: {list: [{name: t, k: v}, {name: s, k: hunter1}]}", "spec: {list: [{name: s, k: hunter2}, {name: t, k: v}]}", "    -   list: '**'\n    +   list:\n    +   - k: '**'\n    +     name: s\n    +   - k: v\n    +     name: t"},
	} {
		got := differenceOf(unit, declared, read(c.before), read(c.after))
		if strings.Contains(got, "hunter") || got != c.want {
			t.Errorf("%s: %s: got\n%s\nwant\n%s", name, c.reason, got, c.want)
		}
	}
}
