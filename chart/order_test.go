package chart_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/chart"
)

func thing() map[string]any { return map[string]any{"apiVersion": "v1", "kind": "ConfigMap"} }

func paths(t *testing.T, app *chart.App) []string {
	t.Helper()
	result, err := app.Synth()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range result.Manifests() {
		all = append(all, m.Path)
	}
	return all
}

func TestOrder(t *testing.T) {
	for name, tc := range map[string]struct {
		reason   string
		describe func(app *chart.App)
		want     []string
	}{
		"Making": {"without dependencies, the order of making", func(app *chart.App) {
			c := chart.New(app, "c", chart.Props{})
			for _, id := range []string{"z", "a", "m"} {
				chart.Add(c, id, thing())
			}
		}, []string{"c/z", "c/a", "c/m"}},
		"Objects": {"what is needed comes just before the first that needs it", func(app *chart.App) {
			c := chart.New(app, "c", chart.Props{})
			a, b := chart.Add(c, "a", thing()), chart.Add(c, "b", thing())
			last := chart.Add(c, "last", thing())
			b.DependsOn(last)
			_ = a
		}, []string{"c/a", "c/last", "c/b"}},
		"Groups": {"everything below a group comes after everything below the other", func(app *chart.App) {
			c := chart.New(app, "c", chart.Props{})
			first, second := chart.NewGroup(c, "first"), chart.NewGroup(c, "second")
			chart.Add(first, "a", thing())
			chart.Add(first, "b", thing())
			chart.Add(second, "a", thing())
			chart.Add(second, "b", thing())
			first.Node().DependsOn(second)
		}, []string{"c/second/a", "c/second/b", "c/first/a", "c/first/b"}},
		"Charts": {"a chart comes after the chart that one of its objects needs", func(app *chart.App) {
			web, db := chart.New(app, "web", chart.Props{}), chart.New(app, "db", chart.Props{})
			server := chart.Add(web, "server", thing())
			chart.Add(web, "other", thing())
			server.DependsOn(chart.Add(db, "database", thing()))
		}, []string{"db/database", "web/server", "web/other"}},
		"Below": {"a chart comes after those below it", func(app *chart.App) {
			outer := chart.New(app, "outer", chart.Props{})
			chart.Add(outer, "a", thing())
			chart.Add(chart.New(outer, "inner", chart.Props{}), "b", thing())
			chart.Add(chart.New(chart.NewGroup(outer, "group"), "deep", chart.Props{}), "c", thing())
		}, []string{"outer/inner/b", "outer/group/deep/c", "outer/a"}},
		"Nested": {"what is below a chart comes after what the chart needs", func(app *chart.App) {
			outer := chart.New(app, "outer", chart.Props{})
			chart.Add(chart.New(outer, "inner", chart.Props{}), "b", thing())
			other := chart.New(app, "other", chart.Props{})
			chart.Add(other, "x", thing())
			outer.Node().DependsOn(other)
		}, []string{"other/x", "outer/inner/b"}},
		"Rest": {"the rest of a chart comes after one of its objects", func(app *chart.App) {
			c := chart.New(app, "c", chart.Props{})
			chart.Add(c, "a", thing())
			group := chart.NewGroup(c, "g")
			chart.Add(group, "b", thing())
			first := chart.Add(group, "first", thing())
			c.Node().DependsOn(first)
		}, []string{"c/g/first", "c/a", "c/g/b"}},
		"Last": {"an object that needs its whole chart is the last", func(app *chart.App) {
			c := chart.New(app, "c", chart.Props{})
			chart.Add(c, "a", thing()).DependsOn(c)
			chart.Add(c, "b", thing())
		}, []string{"c/b", "c/a"}},
		"Firsts": {"several objects that the chart needs come first, in the order of making", func(app *chart.App) {
			c := chart.New(app, "c", chart.Props{})
			chart.Add(c, "a", thing())
			group := chart.NewGroup(c, "g")
			chart.Add(group, "b", thing())
			first, second := chart.Add(group, "first", thing()), chart.Add(c, "second", thing())
			c.Node().DependsOn(second, first)
		}, []string{"c/second", "c/g/first", "c/a", "c/g/b"}},
		"Lasts": {"several objects that need the chart come last", func(app *chart.App) {
			c := chart.New(app, "c", chart.Props{})
			chart.Add(c, "last", thing()).DependsOn(c)
			group := chart.NewGroup(c, "g")
			chart.Add(group, "later", thing()).DependsOn(c)
			chart.Add(group, "b", thing())
			chart.Add(c, "a", thing())
		}, []string{"c/g/b", "c/a", "c/last", "c/g/later"}},
		"FirstChart": {"a chart that the App needs", func(app *chart.App) {
			a, b := chart.New(app, "a", chart.Props{}), chart.New(app, "b", chart.Props{})
			chart.Add(a, "o", thing())
			chart.Add(b, "o", thing())
			app.Node().DependsOn(b)
		}, []string{"b/o", "a/o"}},
	} {
		t.Run(name, func(t *testing.T) {
			app := chart.NewApp(chart.Settings{})
			tc.describe(app)
			if diff := cmp.Diff(tc.want, paths(t, app)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCycles(t *testing.T) {
	for name, tc := range map[string]struct {
		reason   string
		describe func(app *chart.App)
		want     []string
	}{
		"Objects": {"three objects", func(app *chart.App) {
			c := chart.New(app, "c", chart.Props{})
			one, two, three := chart.Add(c, "one", thing()), chart.Add(c, "two", thing()), chart.Add(c, "three", thing())
			one.DependsOn(two)
			two.DependsOn(three)
			three.DependsOn(one)
		}, []string{"c/one depends on c/two (", "c/two depends on c/three (", "c/three depends on c/one (", "order_test.go:"}},
		"Charts": {"two charts, by an object of each", func(app *chart.App) {
			a, b := chart.New(app, "a", chart.Props{}), chart.New(app, "b", chart.Props{})
			one, two := chart.Add(a, "one", thing()), chart.Add(b, "two", thing())
			one.DependsOn(two)
			two.DependsOn(one)
		}, []string{"a/one depends on b/two", "b/two depends on a/one"}},
		"Parent": {"an object of a chart below needs one of the chart around it", func(app *chart.App) {
			outer := chart.New(app, "outer", chart.Props{})
			o := chart.Add(outer, "o", thing())
			chart.Add(chart.New(outer, "inner", chart.Props{}), "i", thing()).DependsOn(o)
		}, []string{"outer/inner/i depends on outer/o", "outer comes after outer/inner, which is below it"}},
		"Group": {"charts of a group that needs an object of the chart around them", func(app *chart.App) {
			outer := chart.New(app, "outer", chart.Props{})
			o := chart.Add(outer, "o", thing())
			group := chart.NewGroup(outer, "g")
			chart.Add(chart.New(group, "inner", chart.Props{}), "i", thing())
			group.Node().DependsOn(o)
		}, []string{"outer/g depends on outer/o"}},
		"Both": {"one that its chart needs, and that needs the chart", func(app *chart.App) {
			c := chart.New(app, "c", chart.Props{})
			a := chart.Add(c, "a", thing()).DependsOn(c)
			chart.Add(c, "b", thing())
			c.Node().DependsOn(a)
		}, []string{"c/a depends on c", "c depends on c/a"}},
		"Self": {"one that needs itself", func(app *chart.App) {
			o := chart.Add(chart.New(app, "c", chart.Props{}), "o", thing())
			o.DependsOn(o)
		}, []string{"c/o: it depends on itself"}},
		"Other": {"a place of another App", func(app *chart.App) {
			chart.Add(chart.New(app, "c", chart.Props{}), "o", thing()).DependsOn(chart.New(chart.NewApp(chart.Settings{}), "x", chart.Props{}))
		}, []string{`c/o: it depends on "x"`, "belongs to another App"}},
	} {
		t.Run(name, func(t *testing.T) {
			app := chart.NewApp(chart.Settings{})
			tc.describe(app)
			_, err := app.Synth()
			if err == nil {
				t.Fatalf("%s: no error", tc.reason)
			}
			for _, part := range tc.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%s: the error does not say %q:\n%v", tc.reason, part, err)
				}
			}
		})
	}
}

// TestOrderOfRandomApps adds random dependencies that follow a random order of objects, groups and charts, and expects that all are kept.
func TestOrderOfRandomApps(t *testing.T) {
	for seed := range uint64(300) {
		chance := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a seed is wanted
		app := chart.NewApp(chart.Settings{})
		var scopes []chart.Scope
		needs := map[string][]string{}
		for i := range 1 + chance.IntN(4) {
			c := chart.New(app, fmt.Sprint("c", i), chart.Props{})
			for j := range 1 + chance.IntN(3) {
				group := chart.NewGroup(c, fmt.Sprint("g", j))
				for k := range 1 + chance.IntN(4) {
					scopes = append(scopes, chart.Add(group, fmt.Sprint("o", k), thing()))
				}
				scopes = append(scopes, group)
			}
			scopes = append(scopes, c)
		}
		rank := func(s chart.Scope) string { return s.Node().Path() }
		reversed := chance.IntN(2) == 0
		for range chance.IntN(12) {
			from, to := scopes[chance.IntN(len(scopes))], scopes[chance.IntN(len(scopes))]
			// All dependencies lead the same way along the order of paths, so that there is no cycle; a place does not need one around it.
			a, b := rank(from)+"/", rank(to)+"/"
			if strings.HasPrefix(a, b) || strings.HasPrefix(b, a) || (a < b) != reversed {
				continue
			}
			from.Node().DependsOn(to)
			needs[a] = append(needs[a], b)
		}
		orders := [][]string{paths(t, app), byFiles(t, app, chart.PerResource), byFiles(t, app, chart.FolderPerChart)}
		for from, others := range needs {
			for _, to := range others {
				for _, all := range orders {
					checkBefore(t, seed, all, from, to)
				}
			}
		}
	}
}

// byFiles is the paths of all objects in the order in which their files are sorted.
func byFiles(t *testing.T, app *chart.App, split chart.Split) []string {
	t.Helper()
	result, err := app.Synth()
	if err != nil {
		t.Fatal(err)
	}
	files, err := result.Files(chart.Layout{Split: split})
	if err != nil {
		t.Fatal(err)
	}
	from := map[string]string{}
	var names []string
	for i, m := range result.Manifests() {
		from[files[i].Path] = m.Path
		names = append(names, files[i].Path)
	}
	slices.Sort(names)
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = from[name]
	}
	return all
}

// TestNumbersSort expects that the numbers of more than ten thousand files sort as they were counted.
func TestNumbersSort(t *testing.T) {
	app := chart.NewApp(chart.Settings{})
	c := chart.New(app, "c", chart.Props{})
	first := chart.Add(c, "first", thing())
	for i := range 10_001 {
		chart.Add(c, fmt.Sprint("o", i), thing())
	}
	c.Node().DependsOn(first)
	result, err := app.Synth()
	if err != nil {
		t.Fatal(err)
	}
	files, err := result.Files(chart.Layout{Split: chart.PerResource})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSortedFunc(files, func(a, b chart.File) int { return strings.Compare(a.Path, b.Path) }) || !strings.HasPrefix(files[0].Path, "00000-") {
		t.Errorf("the files are not sorted: %s … %s", files[0].Path, files[len(files)-1].Path)
	}
}

// checkBefore expects everything below one path before everything below another.
func checkBefore(t *testing.T, seed uint64, all []string, from, to string) {
	t.Helper()
	started := ""
	for _, path := range all {
		if strings.HasPrefix(path+"/", from) && started == "" {
			started = path
		}
		if strings.HasPrefix(path+"/", to) && started != "" {
			t.Errorf("seed %d: %s needs %s, but %s comes before %s in %v", seed, from, to, started, path, all)
		}
	}
}

// TestChainOfCharts is what takes cdk8s over a hundred seconds with seven charts of twenty objects.
func TestChainOfCharts(t *testing.T) {
	app := chart.NewApp(chart.Settings{})
	var previous *chart.Chart
	for i := range 10 {
		c := chart.New(app, fmt.Sprint("c", i), chart.Props{})
		for j := range 100 {
			chart.Add(c, fmt.Sprint("o", j), thing())
		}
		if previous != nil {
			c.Node().DependsOn(previous)
		}
		previous = c
	}
	start := time.Now()
	if all := paths(t, app); len(all) != 1000 {
		t.Errorf("%d objects", len(all))
	}
	// The aim is 50 ms; a machine that is busy gets more.
	if elapsed := time.Since(start); elapsed > time.Second {
		t.Errorf("it took %s", elapsed)
	}
}
