package inspect

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/dialects"
	"github.com/headgate-dev/headgate/internal/engine"
)

func ks(name string) engine.UnitID {
	return engine.UnitID{Group: "kustomize.toolkit.fluxcd.io", Kind: "Kustomization", Namespace: "f", Name: name}
}

func app(name string) engine.UnitID {
	return engine.UnitID{Group: "argoproj.io", Kind: "Application", Namespace: "a", Name: name}
}

func on(ids ...engine.UnitID) engine.Unit {
	var u engine.Unit
	for _, id := range ids {
		u.Dependencies = append(u.Dependencies, engine.Dependency{Unit: id})
	}
	return u
}

// plantedGraph is the graph of units; the names of Kustomizations have no kind.
func plantedGraph(units ...dialect.OfflineUnit) *unitGraph {
	g := newUnitGraph(nil)
	g.plain = ks("").GroupKind()
	for i := range units {
		g.plant(&units[i])
	}
	g.link()
	return g
}

func unit(id, parent engine.UnitID, of engine.Unit) dialect.OfflineUnit {
	of.ID = id
	return dialect.OfflineUnit{Unit: of, Parent: parent}
}

func wave(id, parent engine.UnitID, number int, of engine.Unit) dialect.OfflineUnit {
	u := unit(id, parent, of)
	u.Tree, u.Wave = true, number
	return u
}

func deployment(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"namespace": "shop", "name": name},
	}}
}

func onWeb(ids ...engine.UnitID) engine.Unit {
	u := on(ids...)
	u.Dependencies = append(u.Dependencies, engine.DependencyOn(engine.ObjectID{Kind: "Deployment", Namespace: "shop", Name: "web"}))
	return u
}

func holding(u dialect.OfflineUnit, objects ...*unstructured.Unstructured) dialect.OfflineUnit {
	u.Objects = objects
	return u
}

func TestGraphText(t *testing.T) {
	none := engine.UnitID{}
	skipped := unit(ks("skipped"), none, engine.Unit{})
	skipped.Skipped = true
	cases := map[string]struct {
		reason string
		units  []dialect.OfflineUnit
		want   string
		errs   string
	}{
		"object": {
			"a dependency on an object leads to the unit that declares it, one gate later",
			[]dialect.OfflineUnit{
				unit(ks("certs"), none, engine.Unit{}), holding(unit(ks("shop"), none, on(ks("certs"))), deployment("web")),
				unit(ks("blog"), none, onWeb(ks("certs"))),
			},
			"gate 0\n  f/certs\ngate 1\n  f/shop  waits for f/certs\ngate 2\n  f/blog  waits for f/certs, Deployment/shop/web of f/shop\n", "",
		},
		"object of no unit": {
			"it is named all the same, and stands behind a gate",
			[]dialect.OfflineUnit{unit(ks("blog"), none, onWeb())},
			"gate 1\n  f/blog  waits for Deployment/shop/web\n", "",
		},
		"made": {
			"what a unit makes comes not before it; that a root makes something is not worth a word",
			[]dialect.OfflineUnit{
				unit(ks("root"), none, engine.Unit{}), unit(ks("base"), ks("root"), engine.Unit{}),
				unit(ks("home"), ks("root"), on(ks("base"))), unit(ks("echo"), ks("home"), engine.Unit{}),
			},
			"gate 0\n  f/base\n  f/root\ngate 1\n  f/echo  (of f/home)\n  f/home  waits for f/base\n", "",
		},
		"missing": {
			"what does not exist is not shown as if it did",
			[]dialect.OfflineUnit{unit(ks("a"), none, engine.Unit{}), unit(ks("b"), none, on(ks("a"), ks("databse")))},
			"gate 0\n  f/a\ngate 1\n  f/b  waits for f/a, and for f/databse, which does not exist\n", "",
		},
		"perhaps missing": {
			"what was not rendered may declare it",
			[]dialect.OfflineUnit{skipped, unit(ks("b"), none, on(ks("x"), ks("y")))},
			"gate 0\n  f/skipped\ngate 1\n  f/b  waits for f/x and f/y, which nothing that is rendered here declares\n", "",
		},
		"cycle": {
			"its members are marked, and what waits for them is not",
			[]dialect.OfflineUnit{unit(ks("a"), none, on(ks("b"))), unit(ks("b"), none, on(ks("a"))), unit(ks("c"), none, on(ks("a")))},
			"gate 0\n  f/a  waits for f/b  (in a cycle)\n  f/b  waits for f/a  (in a cycle)\ngate 1\n  f/c  waits for f/a\n",
			"✗ dependency cycle: Kustomization/f/a -> Kustomization/f/b -> Kustomization/f/a\n",
		},
		"cycle by an object": {
			"one that waits for an object waits for the unit that applies it",
			[]dialect.OfflineUnit{holding(unit(ks("a"), none, on(ks("b"))), deployment("web")), unit(ks("b"), none, onWeb())},
			"gate 0\n  f/a  waits for f/b  (in a cycle)\n  f/b  waits for Deployment/shop/web of f/a  (in a cycle)\n",
			"✗ dependency cycle: Kustomization/f/a -> Kustomization/f/b -> Kustomization/f/a\n",
		},
		"cycle by its maker": {
			"a unit that waits for one that it makes never begins",
			[]dialect.OfflineUnit{unit(ks("a"), none, on(ks("b"))), unit(ks("b"), ks("a"), engine.Unit{})},
			"gate 0\n  f/a  waits for f/b  (in a cycle)\n  f/b  (in a cycle)\n",
			"✗ dependency cycle: Kustomization/f/a -> Kustomization/f/b -> Kustomization/f/a\n",
		},
		"cycle of waves": {
			"one of an earlier wave that depends on one of a later wave",
			[]dialect.OfflineUnit{
				wave(app("root"), none, 0, engine.Unit{}), wave(app("early"), app("root"), 0, on(app("late"))),
				wave(app("late"), app("root"), 5, engine.Unit{}), wave(app("last"), app("root"), 7, engine.Unit{}),
			},
			"Application/a/root  0 objects\n  wave 0\n    Application/a/early  waits for Application/a/late  (in a cycle)  0 objects\n" +
				"  wave 5\n    Application/a/late  (in a cycle)  0 objects\n  wave 7\n    Application/a/last  0 objects\n",
			"✗ dependency cycle: Application/a/early -> Application/a/late -> Application/a/early\n",
		},
		"cycle with the maker of a tree": {
			"what makes a tree is ready after all of it",
			[]dialect.OfflineUnit{wave(app("root"), none, 0, engine.Unit{}), wave(app("m"), app("root"), 0, on(app("root")))},
			"Application/a/root  (in a cycle)  0 objects\n  wave 0\n    Application/a/m  waits for Application/a/root  (in a cycle)  0 objects\n",
			"✗ dependency cycle: Application/a/m -> Application/a/root -> Application/a/m\n",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			out, errs := printed(t, plantedGraph(c.units...), "text")
			if diff := cmp.Diff(c.want, out) + cmp.Diff(c.errs, errs); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", c.reason, diff)
			}
		})
	}
}

func printed(t *testing.T, g *unitGraph, format string) (out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	if err := printGraph(console.IO{Out: &o, Err: &e}, g, format); (err != nil) != (len(g.cycles) > 0) {
		t.Errorf("printing as %s: %v, with %d cycles", format, err, len(g.cycles))
	}
	return o.String(), e.String()
}

func TestGraphPictures(t *testing.T) {
	none := engine.UnitID{}
	units := []dialect.OfflineUnit{
		unit(ks("a"), none, on(ks("b"))), unit(ks("b"), none, on(ks("a"))), unit(ks("c"), none, on(ks("databse"))),
		holding(unit(ks("shop"), none, engine.Unit{}), deployment("web")), unit(ks("blog"), ks("shop"), onWeb()),
		wave(app("root"), none, 0, engine.Unit{}), wave(app("early"), app("root"), 0, on(app("late"))),
		wave(app("late"), app("root"), 5, engine.Unit{}),
	}
	cases := map[string]struct {
		reason, format string
		want           []string
	}{
		"dot": {"cycles are red, as is what is missing", "dot", []string{
			`"f/a" [color=red];`, `"f/b" -> "f/a" [color=red];`, `"f/databse" [label="f/databse (missing)", color=red, style=dashed];`,
			`"f/databse" -> "f/c";`, `"f/shop" -> "f/blog" [label="Deployment/shop/web"];`, `"f/shop" -> "f/blog" [style=dotted, label="makes"];`,
			`"Application/a/early" [label="early (wave 0)", color=red];`, `"Application/a/late" -> "Application/a/early" [style=dashed, color=red];`,
		}},
		"mermaid": {"the same by classes", "mermaid", []string{
			"f_databse[f/databse missing]", "f_shop -->|Deployment/shop/web| f_blog", "f_shop -. makes .-> f_blog",
			"class f_a,f_b,Application_a_early,Application_a_late cycle", "class f_databse missing", "linkStyle 0,1,6 stroke:red",
		}},
		"json": {"machines get all of it", "json", []string{
			`"missing": [ "Kustomization/f/databse" ]`, `"objects": [ { "id": "Deployment/shop/web", "unit": "Kustomization/f/shop" } ]`,
			`"parent": "Kustomization/f/shop", "dependsOn": [ "Kustomization/f/shop" ]`, `"inCycle": true`,
			`"cycles": [ [ "Application/a/early", "Application/a/late", "Application/a/early" ], [ "Kustomization/f/a",`,
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			out, _ := printed(t, plantedGraph(units...), c.format)
			if c.format == "json" {
				out = strings.Join(strings.Fields(out), " ")
			}
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("%s: there is no %q in\n%s", c.reason, want, out)
				}
			}
		})
	}
}

// TestGraphAround prints of a graph what has to do with one unit.
func TestGraphAround(t *testing.T) {
	none := engine.UnitID{}
	units := func() []dialect.OfflineUnit {
		return []dialect.OfflineUnit{
			unit(ks("root"), none, engine.Unit{}), unit(ks("certs"), ks("root"), engine.Unit{}), unit(ks("db"), ks("root"), engine.Unit{}),
			unit(ks("shop"), ks("root"), on(ks("certs"))), unit(ks("blog"), ks("root"), on(ks("shop"), ks("db"))), unit(ks("other"), ks("root"), on(ks("db"))),
			wave(app("top"), none, 0, engine.Unit{}), wave(app("one"), app("top"), 1, engine.Unit{}), wave(app("two"), app("top"), 2, on(app("one"))),
			unit(ks("x"), none, on(ks("y"))), unit(ks("y"), none, on(ks("x"))),
		}
	}
	cases := map[string]struct {
		reason, name, namespace, format, want, errs string
	}{
		"both ways": {
			"what it waits for, what makes these, and what waits for it", "shop", "", "text",
			"gate 0\n  f/certs\n  f/root\ngate 1\n  f/shop  waits for f/certs\ngate 2\n  f/blog  waits for f/shop, f/db\n", "",
		},
		"picture": {
			"no arrow comes from what is not shown", "ks/shop", "", "dot",
			"digraph headgate {\n  \"f/blog\";\n  \"f/certs\";\n  \"f/root\";\n  \"f/shop\";\n" +
				"  \"f/shop\" -> \"f/blog\";\n  \"f/root\" -> \"f/blog\" [style=dotted, label=\"makes\"];\n" +
				"  \"f/root\" -> \"f/certs\" [style=dotted, label=\"makes\"];\n" +
				"  \"f/certs\" -> \"f/shop\";\n  \"f/root\" -> \"f/shop\" [style=dotted, label=\"makes\"];\n}\n", "",
		},
		"tree": {
			"a member is shown below its parent", "app/one", "", "text",
			"Application/a/top  0 objects\n  wave 1\n    Application/a/one  0 objects\n  wave 2\n    Application/a/two  waits for Application/a/one  0 objects\n", "",
		},
		"namespace":       {"as graphs name it", "f/other", "", "text", "gate 0\n  f/db\n  f/root\ngate 1\n  f/other  waits for f/db\n", ""},
		"kind in full":    {"KIND/NAMESPACE/NAME", "Kustomization/f/other", "", "text", "gate 0\n  f/db\n  f/root\ngate 1\n  f/other  waits for f/db\n", ""},
		"wrong namespace": {"a namespace that is given counts", "other", "g", "text", "", "the cluster has no unit \"other\"; did you mean Kustomization/f/other?"},
		"near miss":       {"what was meant is named", "shpo", "", "text", "", "the cluster has no unit \"shpo\"; did you mean Kustomization/f/shop?"},
		"cycle of others": {"a cycle that has nothing to do with it is not reported", "certs", "", "json", "", ""},
		"own cycle":       {"its own is", "x", "", "text", "gate 0\n  f/x  waits for f/y  (in a cycle)\n  f/y  waits for f/x  (in a cycle)\n", "✗ dependency cycle: "},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := plantedGraph(units()...)
			q := graphQuery{unit: c.name, namespace: c.namespace}
			err := q.narrow(g, dialects.All())
			var out, said string
			if err != nil {
				said = err.Error()
			} else {
				out, said = printed(t, g, c.format)
			}
			if c.format != "json" && out != c.want {
				t.Errorf("%s (-want +got):\n%s", c.reason, cmp.Diff(c.want, out))
			}
			if (c.errs == "") != (said == "") || !strings.HasPrefix(said, c.errs) {
				t.Errorf("%s: it says %q, want %q", c.reason, said, c.errs)
			}
		})
	}
}
