package manifests_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/manifests"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/source"
	"github.com/headgate-dev/headgate/internal/source/chart"
)

// repo is a tree by the texts of its files; "-> x" is a link to x.
type repo map[string]string

func (r repo) tree(t testing.TB) *source.Tree {
	t.Helper()
	var files []*source.File
	for name, text := range r {
		if target, link := strings.CutPrefix(text, "-> "); link {
			files = append(files, source.NewLink(name, target))
			continue
		}
		files = append(files, source.NewFile(name, 0o644, []byte(text)))
	}
	tree, err := source.NewTree(files)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// pack packs the chart at the root of a tree.
func (r repo) pack(t testing.TB) []byte {
	t.Helper()
	packed, err := chart.Package(t.Context(), r.tree(t), "", chart.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return packed.Data
}

// with is a tree with more files.
func (r repo) with(more repo) repo {
	out := repo{}
	for _, files := range []repo{r, more} {
		for name, text := range files {
			out[name] = text
		}
	}
	return out
}

// under is a tree in a directory.
func (r repo) under(dir string) repo {
	out := repo{}
	for name, text := range r {
		out[dir+"/"+name] = text
	}
	return out
}

// shelf are charts by "REPO NAME VERSION".
type shelf map[string][]byte

var errAway = errors.New("the registry is away")

func (s shelf) Chart(_ context.Context, repo, name, version string) ([]byte, string, error) {
	data, ok := s[repo+" "+name+" "+version]
	if !ok {
		return nil, "", errAway
	}
	return data, version, nil
}

// spec reads a source.
func spec(t testing.TB, text string) v1alpha1.ApplicationSource {
	t.Helper()
	s := v1alpha1.ApplicationSource{RepoURL: "https://git.example.com/repo.git"}
	if err := yaml.UnmarshalStrict([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func app() manifests.App {
	return manifests.App{Name: "shop", Namespace: "prod", Project: "team"}
}

func options(change ...func(*manifests.Options)) manifests.Options {
	o := manifests.OptionsOf(settings.Defaults())
	for _, c := range change {
		c(&o)
	}
	return o
}

func withHelm(o *manifests.Options) { o.Kustomize.BuildOptions = "--enable-helm" }

const revision = "0123456789abcdef0123456789abcdef01234567"

// one is a request of one source.
func one(t testing.TB, text string, r repo) manifests.Request {
	t.Helper()
	return manifests.Request{
		App: app(), Options: options(),
		Sources: []manifests.Source{{Spec: spec(t, text), Tree: r.tree(t), Revision: revision}},
	}
}

func names(objects []*unstructured.Unstructured) string {
	var list []string
	for _, o := range objects {
		list = append(list, strings.Trim(fmt.Sprintf("%s/%s/%s", o.GetKind(), o.GetNamespace(), o.GetName()), "/"))
	}
	return strings.Join(list, " ")
}

func text(t testing.TB, objects []*unstructured.Unstructured) string {
	t.Helper()
	var all []string
	for _, o := range objects {
		data, err := yaml.Marshal(o.Object)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(data))
	}
	return strings.Join(all, "---\n")
}

// check renders and compares the names of objects, or the error.
func check(t *testing.T, request manifests.Request, want, fails string) *manifests.Result {
	t.Helper()
	got, err := manifests.New().Render(t.Context(), request)
	if failed(t, err, fails) {
		return nil
	}
	if diff := cmp.Diff(want, names(got.Objects)); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	return got
}

// failed compares an error with a part of it.
func failed(t *testing.T, err error, fails string) bool {
	t.Helper()
	switch {
	case fails == "" && err != nil:
		t.Fatalf("it fails: %v", err)
	case fails != "" && err == nil:
		t.Fatalf("it does not fail with %q", fails)
	case fails != "" && !strings.Contains(err.Error(), fails):
		t.Fatalf("it fails with\n%v\nwhich does not contain\n%s", err, fails)
	}
	return err != nil
}

func configMap(name string, pairs ...string) string {
	out := "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\n"
	if len(pairs) > 0 {
		out += "data:\n"
	}
	for i := 0; i < len(pairs); i += 2 {
		out += fmt.Sprintf("  %s: %s\n", pairs[i], pairs[i+1])
	}
	return out
}
