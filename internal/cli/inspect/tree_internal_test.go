package inspect

import (
	"bytes"
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/engine"
)

// TestTreeMarks puts the mark of an object behind its line, and asks for none in another cluster.
func TestTreeMarks(t *testing.T) {
	gone := engine.ObjectID{Kind: "Service", Namespace: "n", Name: "gone"}
	plain := engine.ObjectID{Kind: "ConfigMap", Namespace: "n", Name: "plain"}
	with := map[engine.ObjectID][]engine.UnitID{gone: {ks("b")}}
	cases := map[string]struct {
		reason string
		crown  crown
		want   string
	}{
		"here":      {"one that does not exist is marked", crown{holds: []engine.ObjectID{gone, plain}, with: with}, "├── Service/n/gone  (with Kustomization/f/b)  ✗ missing\n└── ConfigMap/n/plain\n"},
		"elsewhere": {"no other cluster is read", crown{holds: []engine.ObjectID{gone}, cluster: "far", away: true}, "└── Service/n/gone  @ far\n"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			p := &treePrinter{Globals: &console.Globals{IO: console.IO{Out: &out}}, marks: func(context.Context, []engine.ObjectID, []engine.HealthExpr) map[engine.ObjectID]string {
				return map[engine.ObjectID]string{gone: (&marker{}).mark(nil, nil)}
			}}
			if err := p.children(t.Context(), c.crown, "", true); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, out.String()); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", c.reason, diff)
			}
		})
	}
}
