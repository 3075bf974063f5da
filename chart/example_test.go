package chart_test

import (
	"fmt"
	"testing/fstest"

	corev1 "k8s.io/api/core/v1"

	"github.com/headgate-dev/headgate/chart"
)

// ExampleInclude adds objects of a file, and changes one of them.
func ExampleInclude() {
	files := fstest.MapFS{"crds/app.yaml": {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  mode: dev\n")}} // an embed.FS in a module
	app := chart.NewApp(chart.Settings{})
	web := chart.New(app, "web", chart.Props{Namespace: "shop"})
	chart.Include(web, "vendor", chart.Source{FS: files, Path: "crds"}).
		Patch("ConfigMap", "settings", chart.Merge{With: map[string]any{"data": map[string]any{"mode": "live"}}})
	result, err := app.Synth()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(result.YAML()))
	// Output:
	// apiVersion: v1
	// kind: ConfigMap
	// metadata:
	//   name: settings
	//   namespace: shop
	// data:
	//   mode: live
}

// ExampleNode_DependsOn writes a chart after another one.
func ExampleNode_DependsOn() {
	app := chart.NewApp(chart.Settings{})
	web := chart.New(app, "web", chart.Props{})
	chart.Add(web, "config", &corev1.ConfigMap{})
	database := chart.New(app, "database", chart.Props{})
	chart.Add(database, "config", &corev1.ConfigMap{})
	web.Node().DependsOn(database)
	result, err := app.Synth()
	if err != nil {
		fmt.Println(err)
		return
	}
	files, err := result.Files(chart.Layout{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range files {
		fmt.Println(f.Path)
	}
	// Output:
	// 0000-database.k8s.yaml
	// 0001-web.k8s.yaml
}

// ExampleErrors reads where in the App the mistakes are; each also has its line of Go.
func ExampleErrors() {
	app := chart.NewApp(chart.Settings{})
	web := chart.New(app, "web", chart.Props{})
	chart.Add(web, "config", &corev1.ConfigMap{}).Patch(chart.JSONPatch{{Op: "remove", Path: "/spec"}})
	web.Node().Errorf("the image is missing")
	_, err := app.Synth()
	if mistakes, ok := err.(chart.Errors); ok { //nolint:errorlint // Synth says that its error is of this type
		for _, one := range mistakes {
			fmt.Printf("%s: %v (%t)\n", one.Path, one.Err, one.At.Line > 0)
		}
	}
	// Output:
	// web: the image is missing (true)
	// web/config: applying operation 0 of a JSON patch, remove "/spec": it does not exist (true)
}

// ExampleNameMode keeps the names of objects that cdk8s has deployed.
func ExampleNameMode() {
	app := chart.NewApp(chart.Settings{Names: chart.CDK8sNames})
	service := chart.Add(chart.New(app, "test", chart.Props{}), "my-service", &corev1.Service{})
	fmt.Println(service.Name())
	// Output: test-my-service-c8feaf05
}

// ExampleLazy has a value that is known only when everything is described.
func ExampleLazy() {
	app := chart.NewApp(chart.Settings{})
	web := chart.New(app, "web", chart.Props{})
	var hosts []string
	chart.Add(web, "hosts", map[string]any{"apiVersion": "example.com/v1", "kind": "HostList", "hosts": chart.Lazy(func() any { return hosts })})
	hosts = append(hosts, "shop.example.com")
	result, err := app.Synth()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Manifests()[0].Object["hosts"])
	// Output: [shop.example.com]
}

// images is a check that refuses images without a tag.
type images struct{}

func (images) Check(manifests []chart.Manifest) []chart.Finding {
	var findings []chart.Finding
	for i, m := range manifests {
		if data, ok := m.Object["data"].(map[string]any); ok && data["image"] == "web" {
			findings = append(findings, chart.Finding{Manifest: i, Rule: "image-tag", Field: "data.image", Message: `"web" has no tag; write web:1.2.3`})
		}
	}
	return findings
}

// ExampleCheck refuses what a rule of your own finds.
func ExampleCheck() {
	app := chart.NewApp(chart.Settings{Checks: []chart.Check{images{}}})
	chart.Add(chart.New(app, "web", chart.Props{}), "config", &corev1.ConfigMap{Data: map[string]string{"image": "web"}})
	_, err := app.Synth()
	for _, one := range err.(chart.Errors) { //nolint:errorlint,forcetypeassert // Synth says that its error is of this type
		fmt.Printf("%s: %v\n", one.Path, one.Err)
	}
	// Output: web/config: data.image: "web" has no tag; write web:1.2.3 (image-tag)
}
