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
			p := &treeBuilder{Globals: &console.Globals{}, marks: func(context.Context, []engine.ObjectID, []engine.HealthExpr) map[engine.ObjectID]standing {
				return map[engine.ObjectID]standing{gone: (&marker{}).mark(nil, nil)}
			}}
			objects, err := p.objects(t.Context(), c.crown, true)
			if err != nil {
				t.Fatal(err)
			}
			(&branch{Objects: objects}).print(&out, "")
			if diff := cmp.Diff(c.want, out.String()); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", c.reason, diff)
			}
		})
	}
}

// TestTreeOutputs writes one tree in each form.
func TestTreeOutputs(t *testing.T) {
	root, child := branchOf(ks("a").Object()), branchOf(engine.ObjectID{Group: "apps", Kind: "Deployment", Namespace: "n", Name: "web"})
	root.about = about{standing: badStanding("DependencyNotReady"), Chart: "chart of x", After: []string{"Kustomization/f/b (missing)"}}
	child.standing, child.With, child.Cluster = goodStanding(""), []string{"Kustomization/f/c"}, "far"
	root.Objects = []*branch{child}
	for output, want := range map[string]string{
		"": "Kustomization/f/a  ✗ DependencyNotReady  (chart of x)  waits for Kustomization/f/b (missing)\n" +
			"└── Deployment/n/web  (with Kustomization/f/c)  @ far  ✓\n",
		"name": "Kustomization/f/a\nDeployment/n/web\n",
		"yaml": `after:
- Kustomization/f/b (missing)
chart: chart of x
group: kustomize.toolkit.fluxcd.io
id: Kustomization/f/a
kind: Kustomization
name: a
namespace: f
objects:
- cluster: far
  group: apps
  id: Deployment/n/web
  kind: Deployment
  name: web
  namespace: "n"
  ready: true
  with:
  - Kustomization/f/c
ready: false
state: DependencyNotReady
`,
	} {
		var out bytes.Buffer
		if err := printBranches(console.IO{Out: &out}, output, []*branch{root}, true); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("-o %s: (-want +got)\n%s", output, diff)
		}
	}
}
