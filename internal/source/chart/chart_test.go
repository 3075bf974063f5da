package chart_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"

	"github.com/headgate-dev/headgate/internal/source"
	"github.com/headgate-dev/headgate/internal/source/chart"
)

// tree is a tree of files; a content that begins with "->" is a symbolic link.
func tree(t *testing.T, files map[string]string) *source.Tree {
	t.Helper()
	var list []*source.File
	for name, content := range files {
		if target, ok := strings.CutPrefix(content, "->"); ok {
			list = append(list, source.NewLink(name, target))
			continue
		}
		list = append(list, source.NewFile(name, 0o644, []byte(content)))
	}
	tr, err := source.NewTree(list)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func chartYAML(name, version string, more ...string) string {
	return "apiVersion: v2\nname: " + name + "\nversion: " + version + "\n" + strings.Join(more, "\n")
}

// podinfo is a chart in a repository.
func podinfo() map[string]string {
	return map[string]string{
		"charts/podinfo/Chart.yaml":               chartYAML("podinfo", "6.5.0"),
		"charts/podinfo/values.yaml":              "replicas: 1\nimage:\n  tag: a\n  name: podinfo\n",
		"charts/podinfo/values-prod.yaml":         "replicas: 3\nimage:\n  tag: b\n",
		"charts/podinfo/templates/deploy.yaml":    "kind: Deployment\n",
		"charts/podinfo/templates/linked.yaml":    "->../../../shared/linked.yaml",
		"charts/podinfo/more":                     "->../../shared",
		"charts/podinfo/.helmignore":              "*.bak\nci/\n",
		"charts/podinfo/x.bak":                    "x",
		"charts/podinfo/ci/values.yaml":           "x",
		"charts/podinfo/charts/sub/Chart.yaml":    chartYAML("sub", "0.1.0"),
		"charts/podinfo/charts/sub/values.yaml":   "own: true\n",
		"charts/podinfo/charts/other/Chart.yaml":  chartYAML("other", "0.2.0"),
		"charts/podinfo/charts/other/values.yaml": "own: false\n",
		"shared/linked.yaml":                      "kind: ConfigMap\n",
		"env/prod.yaml":                           "replicas: 5\n",
	}
}

func open(t *testing.T, p *chart.Packed) *chartv2.Chart {
	t.Helper()
	c, err := loader.LoadArchive(bytes.NewReader(p.Data))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestPackage(t *testing.T) {
	tr := tree(t, podinfo())
	p, err := chart.Package(t.Context(), tr, "./charts/podinfo", chart.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != "podinfo" || p.Version != "6.5.0" || p.FileName() != "podinfo-6.5.0.tgz" || !p.Changed {
		t.Errorf("%s %s, file %s, changed %v", p.Name, p.Version, p.FileName(), p.Changed)
	}
	c := open(t, p)
	var names []string
	for _, f := range append(c.Templates, c.Files...) {
		names = append(names, f.Name)
	}
	want := []string{"templates/deploy.yaml", "templates/linked.yaml", ".helmignore", "more/linked.yaml", "values-prod.yaml"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"replicas": 1., "image": map[string]any{"tag": "a", "name": "podinfo"}}, c.Values); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	if len(c.Dependencies()) != 2 {
		t.Errorf("%d dependencies", len(c.Dependencies()))
	}
	// The same files make the same bytes.
	for range 5 {
		again, err := chart.Package(t.Context(), tree(t, podinfo()), "charts/podinfo/", chart.Options{})
		if err != nil || !bytes.Equal(again.Data, p.Data) {
			t.Fatalf("other bytes: %v", err)
		}
	}
}

func TestPackageChanges(t *testing.T) {
	prod := map[string]any{"replicas": 3., "image": map[string]any{"tag": "b", "name": "podinfo"}}
	for reason, test := range map[string]struct {
		options chart.Options
		version string
		values  map[string]any
		files   []string
		want    error
	}{
		"a build": {options: chart.Options{Build: "0123456789ab.2"}, version: "6.5.0+0123456789ab.2", values: map[string]any{"replicas": 1., "image": map[string]any{"tag": "a", "name": "podinfo"}}},
		"files in order": {
			options: chart.Options{ValuesFiles: []string{"charts/podinfo/values.yaml", "./charts/podinfo/values-prod.yaml"}},
			version: "6.5.0", values: prod, files: []string{"charts/podinfo/values.yaml", "./charts/podinfo/values-prod.yaml"},
		},
		"the other way round": {
			options: chart.Options{ValuesFiles: []string{"/charts/podinfo/values-prod.yaml", "charts/podinfo/values.yaml"}},
			version: "6.5.0", values: map[string]any{"replicas": 1., "image": map[string]any{"tag": "a", "name": "podinfo"}},
			files: []string{"/charts/podinfo/values-prod.yaml", "charts/podinfo/values.yaml"},
		},
		"a file outside of the chart": {options: chart.Options{ValuesFiles: []string{"env/prod.yaml"}}, version: "6.5.0", values: map[string]any{"replicas": 5.}, files: []string{"env/prod.yaml"}},
		"a missing file":              {options: chart.Options{ValuesFiles: []string{"env/gone.yaml"}}, want: chart.ErrValues},
		"a missing file, passed over": {
			options: chart.Options{ValuesFiles: []string{"env/gone.yaml", "env/prod.yaml"}, IgnoreMissing: true},
			version: "6.5.0", values: map[string]any{"replicas": 5.}, files: []string{"env/prod.yaml"},
		},
		"all missing": {
			options: chart.Options{ValuesFiles: []string{"env/gone.yaml"}, IgnoreMissing: true},
			version: "6.5.0", values: map[string]any{"replicas": 1., "image": map[string]any{"tag": "a", "name": "podinfo"}},
		},
		"a file that leaves the tree": {options: chart.Options{ValuesFiles: []string{"../../etc/passwd"}, IgnoreMissing: true}, want: chart.ErrValues},
		"no values":                   {options: chart.Options{ValuesFiles: []string{"charts/podinfo/broken.yaml"}}, want: chart.ErrValues},
		"no build":                    {options: chart.Options{Build: "a b"}, want: chart.ErrMetadata},
	} {
		files := podinfo()
		files["charts/podinfo/broken.yaml"] = "- a\n- b\n"
		p, err := chart.Package(t.Context(), tree(t, files), "charts/podinfo", test.options)
		if test.want != nil || err != nil {
			if test.want == nil || !errors.Is(err, test.want) {
				t.Errorf("%s: error %v, want %v", reason, err, test.want)
			}
			continue
		}
		c := open(t, p)
		if p.Version != test.version || c.Metadata.Version != test.version {
			t.Errorf("%s: version %s, in the chart %s; want %s", reason, p.Version, c.Metadata.Version, test.version)
		}
		if diff := cmp.Diff(test.values, c.Values); diff != "" {
			t.Errorf("%s: values (-want +got):\n%s", reason, diff)
		}
		if diff := cmp.Diff(test.files, p.ValuesFiles); diff != "" {
			t.Errorf("%s: files of values (-want +got):\n%s", reason, diff)
		}
	}
}

func TestPackageRefuses(t *testing.T) {
	files := podinfo()
	files["link/Chart.yaml"] = chartYAML("link", "1.0.0")
	files["link/out"] = "->../../../etc/passwd"
	files["gone/Chart.yaml"] = chartYAML("gone", "1.0.0")
	files["gone/x"] = "->nothing"
	files["loop/Chart.yaml"] = chartYAML("loop", "1.0.0")
	files["loop/again"] = "->."
	files["broken/Chart.yaml"] = "a: [\n"
	files["unnamed/Chart.yaml"] = "apiVersion: v2\nversion: 1.0.0\n"
	files["path/Chart.yaml"] = chartYAML("../../path", "1.0.0")
	for at, want := range map[string]error{
		"charts": chart.ErrReference, "nowhere": chart.ErrReference, "../charts/podinfo": chart.ErrReference, "env/prod.yaml": chart.ErrReference,
		"broken": chart.ErrReference, "unnamed": chart.ErrReference, "link": chart.ErrPackage, "gone": chart.ErrPackage, "loop": chart.ErrPackage,
		"path": chart.ErrReference,
	} {
		if p, err := chart.Package(t.Context(), tree(t, files), at, chart.Options{}); !errors.Is(err, want) || p != nil {
			t.Errorf("%s: %v, want %v", at, err, want)
		}
	}
}

func TestRepackage(t *testing.T) {
	came, err := chart.Package(t.Context(), tree(t, podinfo()), "charts/podinfo", chart.Options{})
	if err != nil {
		t.Fatal(err)
	}
	same, err := chart.Repackage(came.Data, chart.Options{})
	if err != nil || same.Changed || !bytes.Equal(same.Data, came.Data) || same.FileName() != "podinfo-6.5.0.tgz" {
		t.Errorf("without a change: %v", err)
	}
	other, err := chart.Repackage(came.Data, chart.Options{ValuesFiles: []string{"values.yaml", "values-prod.yaml", "gone.yaml"}, IgnoreMissing: true, Build: "7"})
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, other)
	if other.Version != "6.5.0+7" || len(c.Dependencies()) != 2 || cmp.Diff([]string{"values.yaml", "values-prod.yaml"}, other.ValuesFiles) != "" {
		t.Errorf("version %s, %d dependencies, files of values %q", other.Version, len(c.Dependencies()), other.ValuesFiles)
	}
	if diff := cmp.Diff(map[string]any{"replicas": 3., "image": map[string]any{"tag": "b", "name": "podinfo"}}, c.Values); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	if _, err := chart.Repackage(came.Data, chart.Options{ValuesFiles: []string{"gone.yaml"}}); !errors.Is(err, chart.ErrValues) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := chart.Repackage([]byte("<html>"), chart.Options{}); !errors.Is(err, chart.ErrReference) {
		t.Errorf("no chart: %v", err)
	}
	// A tree may hold packed charts.
	packed, err := source.NewTree([]*source.File{
		source.NewFile("packed/podinfo.tgz", 0o644, came.Data), source.NewFile("prod.yaml", 0o644, []byte("replicas: 9\n")),
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := chart.Package(t.Context(), packed, "packed/podinfo.tgz", chart.Options{ValuesFiles: []string{"prod.yaml"}})
	if err != nil || cmp.Diff(map[string]any{"replicas": 9.}, open(t, p).Values) != "" {
		t.Errorf("a packed chart in a tree: %v", err)
	}
}

func TestPackageDependencies(t *testing.T) {
	redis, err := chart.Package(t.Context(), tree(t, map[string]string{"redis/Chart.yaml": chartYAML("redis", "18.1.0")}), "redis", chart.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var asked []chart.Dependency
	get := func(_ context.Context, d chart.Dependency) ([]byte, error) {
		asked = append(asked, d)
		if d.Name == "gone" {
			return nil, errors.New("no such chart")
		}
		return redis.Data, nil
	}
	needs := func(list ...string) string {
		return chartYAML("app", "1.0.0", "dependencies:", strings.Join(list, "\n"))
	}
	const remote = "- {name: redis, version: 18.x, repository: 'https://charts.example.com'}"
	for reason, test := range map[string]struct {
		chart string
		get   func(context.Context, chart.Dependency) ([]byte, error)
		want  []string
		asked []chart.Dependency
		fails bool
	}{
		"a path":                {chart: needs("- {name: lib, version: 0.x, repository: 'file://../lib'}"), want: []string{"deep", "lib"}},
		"a path, other version": {chart: needs("- {name: lib, version: 1.x, repository: 'file://../lib'}"), fails: true},
		"a path, other name":    {chart: needs("- {name: bil, version: 0.x, repository: 'file://../lib'}"), fails: true},
		"a path out of it":      {chart: needs("- {name: lib, version: 0.x, repository: 'file://../../lib'}"), fails: true},
		"in circles":            {chart: needs("- {name: app, version: '*', repository: 'file://../app'}"), fails: true},
		"from elsewhere": {chart: needs(remote), get: get, want: []string{"redis"}, asked: []chart.Dependency{
			{Name: "redis", Version: "18.x", Repository: "https://charts.example.com"},
		}},
		"nobody to ask":      {chart: needs(remote), fails: true},
		"another chart came": {chart: needs("- {name: mysql, version: '*', repository: 'oci://x'}"), get: get, fails: true, asked: []chart.Dependency{{Name: "mysql", Version: "*", Repository: "oci://x"}}},
		"it is gone":         {chart: needs("- {name: gone, version: '*', repository: 'oci://x'}"), get: get, fails: true, asked: []chart.Dependency{{Name: "gone", Version: "*", Repository: "oci://x"}}},
		"no repository":      {chart: needs("- {name: redis, version: 18.x}"), get: get, fails: true},
		"it is there":        {chart: needs("- {name: there, version: '*', repository: 'oci://x'}"), get: get, want: []string{"there"}},
	} {
		files := map[string]string{
			"app/Chart.yaml": test.chart, "lib/Chart.yaml": chartYAML("lib", "0.3.0", "dependencies:", "- {name: deep, version: '*', repository: 'file://../deep'}"),
			"deep/Chart.yaml": chartYAML("deep", "0.1.0"),
		}
		if reason == "it is there" {
			files["app/charts/there/Chart.yaml"] = chartYAML("there", "1.0.0")
		}
		asked = nil
		p, err := chart.Package(t.Context(), tree(t, files), "app", chart.Options{Dependency: test.get})
		if test.fails != errors.Is(err, chart.ErrDependency) || !test.fails && err != nil {
			t.Errorf("%s: error %v", reason, err)
			continue
		}
		if diff := cmp.Diff(test.asked, asked); diff != "" {
			t.Errorf("%s: asked for (-want +got):\n%s", reason, diff)
		}
		if test.fails {
			continue
		}
		var names []string
		for _, d := range open(t, p).Dependencies() {
			for _, deeper := range d.Dependencies() {
				names = append(names, deeper.Name())
			}
			names = append(names, d.Name())
		}
		if diff := cmp.Diff(test.want, names); diff != "" {
			t.Errorf("%s: dependencies (-want +got):\n%s", reason, diff)
		}
	}
	// What is locked goes before what is declared.
	locked := tree(t, map[string]string{
		"app/Chart.yaml": needs(remote),
		"app/Chart.lock": "dependencies:\n- {name: redis, version: 18.1.0, repository: 'https://charts.example.com'}\ndigest: sha256:x\n",
	})
	asked = nil
	p, err := chart.Package(t.Context(), locked, "app", chart.Options{Dependency: get})
	if err != nil || len(asked) != 1 || asked[0].Version != "18.1.0" {
		t.Fatalf("asked for %v: %v", asked, err)
	}
	if again, err := chart.Package(t.Context(), locked, "app", chart.Options{Dependency: get}); err != nil || !bytes.Equal(again.Data, p.Data) {
		t.Errorf("other bytes: %v", err)
	}
}
