package factory_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/factory"
)

// ServerProps are those of the chart of the guide.
type ServerProps struct {
	Environment factory.Environment `json:"-"`
	Image       string              `json:"image" factory:"required"`
	Port        int32               `json:"port" factory:"required"`
	Host        string              `json:"host"`
}

// TestGuide builds the configurations of the guide.
func TestGuide(t *testing.T) {
	page, err := os.ReadFile("../../docs/guide/applications.md")
	if err != nil {
		t.Skip("the guide is not here")
	}
	blocks := strings.Split(string(page), "```yaml\n")
	if len(blocks) != 3 {
		t.Fatalf("the guide has %d configurations, want 2", len(blocks)-1)
	}
	r := factory.NewRegistry()
	factory.Register(r, "server", func(scope chart.Scope, p ServerProps) {
		chart.Add(scope, "config", &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: "config"}, Data: map[string]string{"host": p.Host, "image": p.Environment.Image(scope, p.Image)},
		})
	})
	variables := factory.Variables{"DOMAIN": "dev.example.org"}
	text, _, _ := strings.Cut(blocks[1], "```")
	source, _, _ := strings.Cut(blocks[2], "```")
	config, err := factory.Parse("applications.yaml", []byte(text+source), variables)
	if err != nil {
		t.Fatal(err)
	}
	built, err := factory.Build(r, config, factory.Options{Variables: variables})
	if err != nil {
		t.Fatal(err)
	}
	all := objects(t, built)
	got := map[string]any{}
	for _, name := range []string{"web-dev", "web-production"} {
		got[name] = all[name+" ConfigMap"]["data"]
	}
	want := map[string]any{
		"web-dev":        map[string]any{"host": "web.dev.example.org", "image": "registry.example.org/web:1.5.0-rc2"},
		"web-production": map[string]any{"host": "shop.example.org", "image": "registry.example.org/web:1.4.2"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	spec := all["web-production Application"]["spec"].(map[string]any)
	if got := spec["source"].(map[string]any)["path"]; got != "packages/web-production/manifests" {
		t.Errorf("the path of the source is %v", got)
	}
}
