package packages_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/argocd"
	"github.com/headgate-dev/headgate/chart/packages"
)

// shop is a package of a ConfigMap that comes after its namespace.
func shop(name string, sources ...v1alpha1.ApplicationSource) packages.Package {
	manifests := chart.NewApp(chart.Settings{})
	c := chart.New(manifests, "shop", chart.Props{Namespace: "shop"})
	config := chart.Add(c, "config", &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "config"}})
	namespace := chart.Add(c, "namespace", &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}})
	config.DependsOn(namespace)
	application := chart.NewApp(chart.Settings{})
	if len(sources) == 0 {
		sources = []v1alpha1.ApplicationSource{packages.Source(name)}
	}
	argocd.Application(chart.New(application, name, chart.Props{}), "application", argocd.ApplicationProps{Name: name, Namespace: "argocd", Sources: sources})
	return packages.Package{Name: name, Manifests: manifests, Application: application}
}

func Example() {
	result, err := packages.Synth([]packages.Package{shop("shop")}, packages.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, file := range result.Files {
		fmt.Println(file.Path)
	}
	fmt.Print(string(result.Files[3].Data))
	// Output:
	// shop.yaml
	// shop/manifests/Namespace.shop.k8s.yaml
	// shop/manifests/ConfigMap.config.k8s.yaml
	// shop/manifests/kustomization.yaml
	// apiVersion: kustomize.config.k8s.io/v1beta1
	// kind: Kustomization
	// resources:
	//   - ConfigMap.config.k8s.yaml
	//   - Namespace.shop.k8s.yaml
}

// texts are files by their paths.
func texts(files []chart.File) map[string]string {
	all := map[string]string{}
	for _, file := range files {
		all[file.Path] = string(file.Data)
	}
	return all
}

func TestSynth(t *testing.T) {
	ordered := "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n  - Namespace.shop.k8s.yaml\n  - ConfigMap.config.k8s.yaml\n"
	for name, tc := range map[string]struct {
		reason   string
		pkg      packages.Package
		settings packages.Settings
		want     map[string]string
	}{
		"Ordered":  {"resources in the order of dependencies", shop("shop"), packages.Settings{Ordered: true}, map[string]string{"shop/manifests/kustomization.yaml": ordered}},
		"Layout":   {"one file for all", shop("shop"), packages.Settings{Layout: chart.Layout{Split: chart.PerApp}}, map[string]string{"shop/manifests/kustomization.yaml": strings.Split(ordered, "  -")[0] + "  - app.k8s.yaml\n"}},
		"Metadata": {"what is no manifest is no resource", shop("shop"), packages.Settings{Ordered: true, Layout: chart.Layout{Split: chart.PerResource, NoNumbers: true, Metadata: true}}, map[string]string{"shop/manifests/kustomization.yaml": ordered}},
		"Empty": {
			"a chart without objects is still a kustomization",
			packages.Package{Name: "empty", Manifests: chart.NewApp(chart.Settings{})},
			packages.Settings{},
			map[string]string{"empty/manifests/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: []\n"},
		},
		"Values": {"values beside the manifests, and nothing else", packages.Package{Name: "v", Values: []byte("a: 1\n")}, packages.Settings{}, map[string]string{"v/values.yaml": "a: 1\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := packages.Synth([]packages.Package{tc.pkg}, tc.settings)
			if err != nil {
				t.Fatal(err)
			}
			got := texts(result.Files)
			for path, text := range tc.want {
				if diff := cmp.Diff(text, got[path]); diff != "" {
					t.Errorf("%s: %s (-want +got):\n%s", tc.reason, path, diff)
				}
			}
			if len(tc.want) == 1 && (name == "Empty" || name == "Values") && len(got) != 1 {
				t.Errorf("%s: there are %d files", tc.reason, len(got))
			}
		})
	}
}

// TestSameInputSameBytes makes the same packages again and again.
func TestSameInputSameBytes(t *testing.T) {
	one, err := packages.Synth([]packages.Package{shop("a"), shop("b")}, packages.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		again, err := packages.Synth([]packages.Package{shop("a"), shop("b")}, packages.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(one.Files, again.Files); diff != "" {
			t.Fatalf("(-first +again):\n%s", diff)
		}
	}
}

func TestMistakesOfAllPackages(t *testing.T) {
	broken := func(name string) packages.Package {
		pkg := shop(name)
		chart.Add(chart.New(pkg.Manifests, "broken", chart.Props{}), "nothing", map[string]any{})
		return pkg
	}
	_, err := packages.Synth([]packages.Package{broken("a"), shop("b"), shop("B"), broken("c"), shop("../d"), shop("")}, packages.Settings{})
	var all chart.Errors
	if !errors.As(err, &all) {
		t.Fatalf("a %T, want all mistakes", err)
	}
	want := []string{"package a: broken/nothing", "package B", "package c: broken/nothing", "package ../d", "package "}
	var got []string
	for _, one := range all {
		got = append(got, one.Path)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s\n%v", diff, err)
	}
	if at := all[0].At.String(); !strings.Contains(at, "packages_test.go:") {
		t.Errorf("the mistake is at %s, want a line of this file", at)
	}
}

func TestWarnings(t *testing.T) {
	helm := v1alpha1.ApplicationSource{
		RepoURL: "https://charts.example.org", Chart: "vault", TargetRevision: "1", Helm: &v1alpha1.ApplicationSourceHelm{ValueFiles: []string{"$values/values.yaml"}},
	}
	with := func(pkg packages.Package, values string) packages.Package {
		pkg.Values = []byte(values)
		return pkg
	}
	for name, tc := range map[string]struct {
		reason string
		pkg    packages.Package
		want   []string
	}{
		"None":      {"the manifests and the values are there", with(shop("v", helm, packages.Ref("values", "v"), packages.Source("v")), "a: 1"), nil},
		"Manifests": {"no source deploys the manifests", with(shop("v", helm, packages.Ref("values", "v")), "a: 1"), []string{"no source of the Application deploys v/manifests; add one of cnoe://v/manifests"}},
		"Path":      {"a path within the package is one", shop("v", v1alpha1.ApplicationSource{RepoURL: "cnoe://v", Path: "manifests"}), nil},
		"Values":    {"values that are not there", shop("v", helm, packages.Ref("values", "v"), packages.Source("v")), []string{"the values file $values/values.yaml is not in the package; give it values"}},
		"Elsewhere": {"a repository that is pushed from elsewhere is not known", shop("v", v1alpha1.ApplicationSource{RepoURL: "https://example.org/x.git", Path: "v/manifests"}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := packages.Synth([]packages.Package{tc.pkg}, packages.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, result.Packages[0].Warnings); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// run is a run of the program of packages in a directory.
func run(t *testing.T, dir string, all []packages.Package, args ...string) (code int, out, said string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	command := chart.Command{Args: append([]string{"-out", dir}, args...), Stdout: &stdout, Stderr: &stderr}
	code = command.Run(packages.Program(packages.Settings{}, func() ([]packages.Package, error) { return all, nil }))
	return code, stdout.String(), stderr.String()
}

func TestProgram(t *testing.T) {
	dir := t.TempDir()
	foreign := filepath.Join(dir, "shop", "manifests", "mine.txt")
	if err := os.MkdirAll(filepath.Dir(foreign), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(foreign, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, said := run(t, dir, []packages.Package{shop("shop"), shop("other")}); code != 0 {
		t.Fatalf("exit code %d: %s", code, said)
	}
	if code, _, said := run(t, dir, []packages.Package{shop("shop"), shop("other")}, "-check"); code != 0 {
		t.Errorf("what was written differs from itself: %s", said)
	}
	if code, _, said := run(t, dir, []packages.Package{shop("shop")}, "-check"); code != 1 || !strings.Contains(said, "other.yaml would be removed") {
		t.Errorf("exit code %d, want 1 and the package that is gone: %s", code, said)
	}
	if code, _, said := run(t, dir, []packages.Package{shop("shop"), shop("third")}, "-only", "shop"); code != 0 || exists(dir, "third.yaml") || !exists(dir, "other.yaml") {
		t.Errorf("exit code %d; only one package was to be written: %s", code, said)
	}
	if code, _, said := run(t, dir, []packages.Package{shop("shop")}); code != 0 || exists(dir, "other.yaml") || exists(dir, "other") || !exists(dir, "shop/manifests/mine.txt") {
		t.Errorf("exit code %d; files of a package that is gone are removed, and those of others stay: %s", code, said)
	}
	if code, out, _ := run(t, dir, []packages.Package{shop("shop")}, "-stdout"); code != 0 || strings.Count(out, "\nkind: ") != 3 || !strings.HasPrefix(out, "apiVersion: argoproj.io/v1alpha1\n") {
		t.Errorf("exit code %d; the stream begins with the Application, and has three objects:\n%s", code, out)
	}
	if code, _, said := run(t, dir, []packages.Package{shop("shop", packages.Ref("values", "shop"))}); code != 0 || !strings.Contains(said, "warning: package shop: no source") {
		t.Errorf("exit code %d; a warning is printed: %s", code, said)
	}
	if code, _, said := run(t, dir, []packages.Package{shop("shop")}, "-layout", "tree"); code != 2 || !strings.Contains(said, `the layout "tree" is unknown`) {
		t.Errorf("exit code %d: %s", code, said)
	}
}

func exists(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}
