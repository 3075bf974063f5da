package factory_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/chart/factory"
	"github.com/headgate-dev/headgate/chart/packages"
)

func TestImagesFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	config := write("app.yaml", `
imagesFile: images.json
environments: {dev: {images: {db: "db:1"}}, production: {inherits: dev}}
applications:
  - {name: web, namespace: x, chart: {type: web, props: {host: h, token: t, limits: {cpu: "1"}}}, environments: {dev: {}, production: {}}}
`)
	for name, tc := range map[string]struct {
		reason, images string
		want           []string
		image          string
	}{
		"Images":    {"an image of an environment, inherited by another", `{"dev": {"web": "web:2"}}`, nil, "web:2"},
		"Own":       {"an image of the environment itself", `{"dev": {"web": "web:2"}, "production": {"web": "web:1"}}`, nil, "web:1"},
		"Unknown":   {"an environment that is not there", "{\n\"prodution\": {\"web\": \"web:2\"}}", []string{`images.json:2: prodution: unknown environment "prodution"; did you mean "production"?`}, ""},
		"Twice":     {"an image that the configuration has", `{"dev": {"db": "db:2"}}`, []string{`images.json:1: dev.db: the image is in environments.dev.images of the configuration too; remove it there`}, ""},
		"Shape":     {"something else", `{"dev": ["web"]}`, []string{`images.json:1: dev: a list is not an object`}, ""},
		"Malformed": {"no JSON at all", `{"dev": `, []string{`app.yaml:2: imagesFile: reading images.json: yaml: line 1: did not find expected node content`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			write("images.json", tc.images)
			built, err := factory.Read(registry(), config, factory.Options{Variables: factory.Variables{"WEB_TOKEN": "t"}})
			got := lines(err)
			for i := range got {
				got[i] = strings.ReplaceAll(got[i], dir+"/", "")
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if tc.want != nil {
				return
			}
			if image := objects(t, built)["web-production ConfigMap"]["data"].(map[string]any)["image"]; image != tc.image {
				t.Errorf("%s: %v, want %s", tc.reason, image, tc.image)
			}
		})
	}
	if err := os.Remove(filepath.Join(dir, "images.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := factory.Read(registry(), config, factory.Options{}); err == nil || !strings.Contains(err.Error(), "imagesFile: reading images: open ") {
		t.Errorf("error %v, want one about the file", err)
	}
}

func TestAddKnowsTheLine(t *testing.T) {
	var config factory.Config
	config.Add(factory.Application{Name: "a"})
	config.Add(factory.Application{Name: "b", Namespace: "x", Chart: factory.Chart{Type: "wep"}})
	_, err := factory.Build(registry(), config, factory.Options{})
	got := lines(err)
	if len(got) != 3 {
		t.Fatalf("%q, want three mistakes", got)
	}
	if !strings.Contains(got[0], "images_test.go:") || !strings.Contains(got[0], ": applications[0]: a has no namespace") {
		t.Errorf("%s: want the line that added it", got[0])
	}
	first, _, _ := strings.Cut(got[0], ": ")
	second, _, _ := strings.Cut(got[2], ": ")
	if first == second || !strings.Contains(got[2], `applications[1].chart.type: unknown chart "wep"`) {
		t.Errorf("%s: want another line", got[2])
	}
}

// BenchmarkApplications makes packages of a configuration of a thousand applications.
func BenchmarkApplications(b *testing.B) {
	config := factory.Config{}
	for i := range 1000 {
		app := factory.Application{
			Name: "app" + strconv.Itoa(i), Namespace: "x", Chart: factory.Chart{Type: "web", Props: WebProps{Host: "h", Image: "i", Token: "t", Limits: Limits{CPU: "1"}}},
			ArgoCD: factory.ArgoCD{Labels: map[string]string{"a": "b"}, Finalizers: []string{v1alpha1.ResourcesFinalizer}},
		}
		if i > 0 {
			app.Dependencies = []string{"app" + strconv.Itoa(i-1)}
		}
		config.Applications = append(config.Applications, app)
	}
	for b.Loop() {
		built, err := factory.Build(registry(), config, factory.Options{Waves: true, Variables: factory.Variables{"WEB_TOKEN": "t"}})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := packages.Synth(built, packages.Settings{}); err != nil {
			b.Fatal(err)
		}
	}
}
