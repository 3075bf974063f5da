package dialect_test

import (
	"testing"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

func TestGrants(t *testing.T) {
	var g dialect.Grants
	one, other := engine.ObjectID{Kind: "VirtualCluster", Name: "one"}, engine.ObjectID{Kind: "VirtualCluster", Name: "other"}
	if g.Permit(one, "team") {
		t.Error("without a unit, something is permitted")
	}
	told := 0
	g.OnChange(func() { told++ })
	g.Add(func(engine.ObjectID, string) bool { return false })
	g.Add(func(object engine.ObjectID, namespace string) bool { return object == one && namespace == "team" })
	g.Changed()
	for name, tc := range map[string]struct {
		object    engine.ObjectID
		namespace string
		want      bool
	}{
		"Granted": {one, "team", true}, "Namespace": {one, "kube-system", false}, "Object": {other, "team", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := g.Permit(tc.object, tc.namespace); got != tc.want {
				t.Errorf("%t", got)
			}
		})
	}
	if told != 1 {
		t.Errorf("a change was told %d times", told)
	}
}
