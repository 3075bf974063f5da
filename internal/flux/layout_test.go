package flux

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

func unitAt(name, path string) string {
	return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + "}\nspec: {path: " + path + ", sourceRef: {kind: GitRepository, name: x}}\n"
}

func gitAt(name string) string {
	return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: " + name + "}\nspec: {url: https://example.com/r.git}\n---\n"
}

func TestRepositories(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "apps"), 0o750); err != nil {
		t.Fatal(err)
	}
	objects := func(text string) (all []*unstructured.Unstructured) {
		for decoder := utilyaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096); ; {
			u := &unstructured.Unstructured{}
			if decoder.Decode(&u.Object) != nil {
				return all
			}
			all = append(all, u)
		}
	}
	cases := map[string]struct {
		reason, text string
		want         []string
	}{
		"named":     {reason: "the repository that a root reads, and whose paths are here, is this one", text: gitAt("x") + unitAt("a", "./apps"), want: []string{"https://example.com/r.git"}},
		"elsewhere": {reason: "a path that is not here is one of another repository", text: gitAt("x") + unitAt("a", "./other")},
		"unread":    {reason: "nothing reads it", text: gitAt("y") + unitAt("a", "./apps")},
	}
	for name, c := range cases {
		if diff := cmp.Diff(c.want, New(Options{}).Repositories(objects(c.text), dir)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, c.reason, diff)
		}
	}
}
