package charttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/headgate-dev/headgate/chart"
)

func describe(app *chart.App) {
	c := chart.New(app, "web", chart.Props{Namespace: "shop"})
	chart.Add(c, "config", &corev1.ConfigMap{Data: map[string]string{"greeting": "hello"}})
	chart.Add(c, "other", &corev1.ConfigMap{Data: map[string]string{"greeting": "hello", "debug": "yes"}})
}

func TestGoldens(t *testing.T) {
	result := Describe(t, chart.Settings{}, describe)
	Golden(t, result, "web")
	GoldenFiles(t, result, chart.Layout{Split: chart.PerResource}, "web")
	if m := Object(t, result, "ConfigMap", "web-config"); m.Namespace() != "shop" {
		t.Errorf("the object is in namespace %q", m.Namespace())
	}
}

func TestDifferences(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "x.golden.yaml")
	got := []byte("a: 1\nb: 2\nc: 3\nd: 4\ne: 5\nf: 6\n")
	if err := (golden{path: path}).compare(got); err == nil || !strings.Contains(err.Error(), "-update writes it") {
		t.Errorf("without a file: %v", err)
	}
	if err := (golden{path: path, update: true}).compare(got); err != nil {
		t.Fatal(err)
	}
	if err := (golden{path: path}).compare(got); err != nil {
		t.Errorf("with the file: %v", err)
	}
	err := golden{path: path}.compare([]byte("a: 1\nb: 2\nc: 3\nd: other\nmore: 1\ne: 5\nf: 6\n"))
	if want := "@@ line 4\n a: 1\n b: 2\n c: 3\n-d: 4\n+d: other\n+more: 1\n e: 5\n f: 6\n "; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("with another text: %v, want a difference of\n%s", err, want)
	}
}

func TestFilesDiffer(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "golden")
	file := func(path, data string) chart.File { return chart.File{Path: path, Data: []byte(data)} }
	if err := compareFiles(dir, []chart.File{file("a", "1"), file("b", "2")}, true); err != nil {
		t.Fatal(err)
	}
	err := compareFiles(dir, []chart.File{file("a", "other"), file("c", "3")}, false)
	if err == nil {
		t.Fatal("no difference")
	}
	for _, part := range []string{"c is missing there", "b is no longer described", "-1", "+other"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the difference does not say %q:\n%v", part, err)
		}
	}
	if data, err := os.ReadFile(filepath.Join(dir, "a")); err != nil || string(data) != "1" {
		t.Errorf("a comparison wrote %q, %v", data, err)
	}
}
