package console_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/headgate-dev/headgate/internal/argo"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/flux"
	"github.com/headgate-dev/headgate/internal/gitserver"
	"github.com/headgate-dev/headgate/internal/offline"
)

func objects(text string) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096); ; {
		o := &unstructured.Unstructured{}
		if decoder.Decode(&o.Object) != nil {
			return all
		}
		if len(o.Object) > 0 {
			all = append(all, o)
		}
	}
}

// TestShownAs chooses the branch under which a working copy is served beside the one that is checked out.
func TestShownAs(t *testing.T) {
	const url = "https://git.example/r.git"
	app := func(revision string) string {
		return "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\nspec: {source: {repoURL: '" + url + "', path: a, targetRevision: '" + revision + "'}}\n---\n"
	}
	set := "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: s}\nspec: {generators: [{git: {repoURL: '" + url + "', revision: master}}], template: {spec: {source: {repoURL: '" + url + "', targetRevision: '{{branch}}'}}}}\n"
	repository := func(ref string) string {
		return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: r}\nspec: {url: '" + url + "'" + ref + "}\n---\n"
	}
	other := "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: o}\nspec: {url: 'https://git.example/other.git', ref: {branch: main}}\n"
	feature := gitserver.References{Branch: "pr-7", Local: []string{"main", "pr-7"}, Tags: []string{"v1"}}
	for name, c := range map[string]struct {
		reason, root, files string
		refs                gitserver.References
		want                string
	}{
		"root":         {"a pull request is served as what the root names", app("main"), "", feature, "main"},
		"checked out":  {"what is checked out is named", app("main"), "", gitserver.References{Branch: "main"}, ""},
		"any":          {"the root may name any branch", app("stable"), app("main"), feature, "stable"},
		"several":      {"of several, it is the default branch", app("staging") + app("staging") + app("main"), "", feature, "main"},
		"HEAD":         {"a root that names none: what other files name", app("HEAD"), app("main"), feature, "main"},
		"environments": {"branches of environments are what they are", app("HEAD"), app("staging") + app("staging"), feature, ""},
		"default":      {"the default branch of the remote may have any name", "", app("trunk") + app("staging"), gitserver.References{Branch: "pr-7", Default: "trunk"}, "trunk"},
		"mixed":        {"what is checked out is named by one of several", "", app("staging") + app("main"), gitserver.References{Branch: "staging"}, ""},
		"tag":          {"a tag is none", app("v1"), "", feature, ""},
		"versions":     {"nor are versions, ranges and commits", app("1.2.x") + app(">=1.0.0") + app("0123456789abcdef0123456789abcdef01234567"), "", feature, ""},
		"detached":     {"a working copy on no branch", set, "", gitserver.References{Local: []string{"main"}}, "master"},
		"flux":         {"a GitRepository", "", repository(", ref: {branch: main}"), feature, "main"},
		"flux name":    {"one by the name of a reference", "", repository(", ref: {name: refs/heads/main}"), feature, "main"},
		"flux default": {"one without a reference", "", repository(""), gitserver.References{Branch: "pr-7"}, "master"},
		"flux tag":     {"one by a tag", "", repository(", ref: {tag: main}"), feature, ""},
		"elsewhere":    {"another repository", "", other, feature, ""},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "files.yaml"), []byte(c.files), 0o600); err != nil {
			t.Fatal(err)
		}
		p := console.Place{Layout: offline.Layout{Repository: dir}, Objects: objects(c.root)}
		got, err := p.ShownAs(dialect.Catalogue{&flux.Dialect{}, &argo.Dialect{}}, c.refs, func(u string) bool { return u == url })
		if err != nil || got != c.want {
			t.Errorf("%s: %s: got %q, want %q (%v)", name, c.reason, got, c.want, err)
		}
	}
}
