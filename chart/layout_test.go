package chart_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/chart"
)

func service(name, namespace string) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}}
}

// ExampleResult_Files lists the files of a layout.
func ExampleResult_Files() {
	app := chart.NewApp(chart.Settings{})
	chart.Add(chart.New(app, "web", chart.Props{Namespace: "shop"}), "service", &corev1.Service{})
	result, err := app.Synth()
	if err != nil {
		fmt.Println(err)
		return
	}
	files, err := result.Files(chart.Layout{Split: chart.PerResource})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range files {
		fmt.Println(f.Path, len(f.Data) > 0)
	}
	// Output: Service.web-service.k8s.yaml true
}

func TestLayouts(t *testing.T) {
	plain := func(app *chart.App) {
		web, db := chart.New(app, "web", chart.Props{}), chart.New(app, "db", chart.Props{})
		chart.Add(web, "a", service("same", "one"))
		chart.Add(web, "b", service("same", "two"))
		chart.Add(web, "c", service("other", "two"))
		chart.Add(db, "d", map[string]any{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": map[string]any{"name": "system:x/y"}})
	}
	charts := func(app *chart.App) {
		plain(app)
		app.Node().Children()[0].Node().DependsOn(app.Node().Children()[1])
	}
	objects := func(app *chart.App) {
		c := chart.New(app, "c", chart.Props{})
		chart.Add(c, "a", service("a", "")).DependsOn(chart.Add(c, "b", service("b", "")))
		chart.Add(chart.New(app, "x", chart.Props{}), "x", service("x", ""))
	}
	groups := func(app *chart.App) {
		c := chart.New(app, "c", chart.Props{})
		for _, group := range []string{"a.io/v1", "b.io/v1"} {
			chart.Add(c, group, map[string]any{"apiVersion": group, "kind": "Cluster", "metadata": map[string]any{"name": "x", "namespace": "n"}})
		}
	}
	for name, tc := range map[string]struct {
		reason   string
		names    chart.NameMode
		layout   chart.Layout
		describe func(app *chart.App)
		want     []string
	}{
		"App":            {"all in one file", chart.PlainNames, chart.Layout{Split: chart.PerApp, Extension: ".yaml"}, plain, []string{"app.yaml 4"}},
		"Charts":         {"a file for each chart", chart.PlainNames, chart.Layout{}, plain, []string{"web.k8s.yaml 3", "db.k8s.yaml 1"}},
		"Numbered":       {"numbers where charts depend on each other", chart.PlainNames, chart.Layout{}, charts, []string{"0000-db.k8s.yaml 1", "0001-web.k8s.yaml 3"}},
		"Unnumbered":     {"no numbers, by choice", chart.PlainNames, chart.Layout{NoNumbers: true}, charts, []string{"db.k8s.yaml 1", "web.k8s.yaml 3"}},
		"Resources":      {"namespaces only where names are the same", chart.PlainNames, chart.Layout{Split: chart.PerResource}, plain, []string{"Service.one.same.k8s.yaml 1", "Service.two.same.k8s.yaml 1", "Service.other.k8s.yaml 1", "ClusterRole.systemxy.k8s.yaml 1"}},
		"ResourceOrder":  {"objects that depend on each other have numbers", chart.PlainNames, chart.Layout{Split: chart.PerResource}, objects, []string{"0000-Service.b.k8s.yaml 1", "0001-Service.a.k8s.yaml 1", "0002-Service.x.k8s.yaml 1"}},
		"ResourceCDK8s":  {"as cdk8s names them: none", chart.CDK8sNames, chart.Layout{Split: chart.PerResource}, objects, []string{"Service.b.k8s.yaml 1", "Service.a.k8s.yaml 1", "Service.x.k8s.yaml 1"}},
		"Groups":         {"the group where even the namespace is the same", chart.PlainNames, chart.Layout{Split: chart.PerResource}, groups, []string{"Cluster.a.io.n.x.k8s.yaml 1", "Cluster.b.io.n.x.k8s.yaml 1"}},
		"Folders":        {"a folder for each chart", chart.PlainNames, chart.Layout{Split: chart.FolderPerChart}, charts, []string{"0000-db/ClusterRole.systemxy.k8s.yaml 1", "0001-web/Service.one.same.k8s.yaml 1", "0001-web/Service.two.same.k8s.yaml 1", "0001-web/Service.other.k8s.yaml 1"}},
		"FoldersOrdered": {"and numbers in the folder whose objects depend on each other", chart.PlainNames, chart.Layout{Split: chart.FolderPerChart}, objects, []string{"c/0000-Service.b.k8s.yaml 1", "c/0001-Service.a.k8s.yaml 1", "x/Service.x.k8s.yaml 1"}},
		"Metadata":       {"the constructs", chart.PlainNames, chart.Layout{Metadata: true}, groups, []string{"c.k8s.yaml 2", "construct-metadata.json 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			app := chart.NewApp(chart.Settings{Names: tc.names})
			tc.describe(app)
			result, err := app.Synth()
			if err != nil {
				t.Fatal(err)
			}
			files, err := result.Files(tc.layout)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range files {
				got = append(got, fmt.Sprint(f.Path, " ", strings.Count(string(f.Data), "\n---\n")+1))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLayoutsNeverOverwrite(t *testing.T) {
	role := func(name string) map[string]any {
		return map[string]any{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": map[string]any{"name": name}}
	}
	app := chart.NewApp(chart.Settings{})
	c := chart.New(app, "c", chart.Props{})
	chart.Add(c, "a", role("system:x"))
	chart.Add(c, "b", role("systemX"))
	result, err := app.Synth()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := result.Files(chart.Layout{Split: chart.PerResource}); err == nil || !strings.Contains(err.Error(), "would have both c/a and c/b") {
		t.Errorf("the error is %v, want one that names both objects", err)
	}
}
