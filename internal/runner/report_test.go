package runner

import (
	"fmt"
	"testing"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/engine"
)

// TestSummary counts what was changed, and names the first objects that were deleted.
func TestSummary(t *testing.T) {
	results := func(action engine.Action, n int) (all []apply.Result) {
		for i := range n {
			all = append(all, apply.Result{Action: action, Entry: engine.Entry{ID: engine.ObjectID{Kind: "ConfigMap", Namespace: "ns", Name: fmt.Sprint(i)}}})
		}
		return all
	}
	for want, changes := range map[string][]apply.Result{
		"":                             nil,
		" (2 created, 1 configured)":   append(results(engine.Configure, 1), results(engine.Create, 2)...),
		" (1 deleted: ConfigMap/ns/0)": results(engine.Delete, 1),
		" (1 created, 5 deleted: ConfigMap/ns/0, ConfigMap/ns/1, ConfigMap/ns/2 and 2 more)": append(results(engine.Delete, 5), results(engine.Create, 1)...),
	} {
		if got := summary(changes); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
