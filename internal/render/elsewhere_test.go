package render_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/render"
)

// remotes are addresses with what is there: the files of a repository, or one file.
type remotes struct {
	t    *testing.T
	has  map[string]map[string]string
	mu   sync.Mutex
	kept []string
	// asked are the addresses that were fetched.
	asked []string
}

func (r *remotes) Fetch(_ context.Context, one render.Remote, _ time.Time) (*render.Fetched, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, one.URL)
	if files, is := r.has[one.URL]; is && !one.Directory {
		for name := range files {
			return &render.Fetched{Tree: tree(r.t, files), Path: name, File: true}, nil
		}
	}
	repository, is := one.Repository()
	files, there := r.has[repository.URL]
	if !is || !there || one.File {
		return nil, errors.New("nothing is there")
	}
	return &render.Fetched{Tree: tree(r.t, files), Path: repository.Dir, Repository: repository.URL, Ref: repository.Ref, Fixed: true}, nil
}

func (r *remotes) Keep(all []render.Remote) {
	r.kept = nil
	for _, one := range all {
		r.kept = append(r.kept, one.URL)
	}
	slices.Sort(r.kept)
}

// buildWith builds with what is elsewhere.
func buildWith(t *testing.T, r *remotes, files map[string]string, o render.Options) (*render.Result, error) {
	t.Helper()
	o.Elsewhere = render.NewElsewhere(r, false)
	var result *render.Result
	source, renderer := tree(t, files), render.New()
	err := o.Elsewhere.Complete(t.Context(), func() (err error) {
		result, err = renderer.Build(t.Context(), source, o)
		return err
	})
	return result, err
}

func TestElsewhere(t *testing.T) {
	const base, other = "https://git.example/team/base", "https://git.example/team/other"
	named := func(name string) string { return configMap(name, "v") }
	patch := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {k: patched}\n"
	plugin := func(kind, rest string) string {
		return "apiVersion: builtin\nkind: " + kind + "\nmetadata: {name: p}\n" + rest
	}
	cases := map[string]struct {
		reason string
		has    map[string]map[string]string
		files  map[string]string
		o      render.Options
		want   string
		fails  string
	}{
		"directory": {
			reason: "an entry is a directory of a repository, and may have entries of its own",
			has: map[string]map[string]string{
				base:  {"a/kustomization.yaml": "resources: [../b, a.yaml, 'https://git.example/team/other//x?ref=v1']", "a/a.yaml": named("a"), "b/kustomization.yaml": "resources: [b.yaml]", "b/b.yaml": named("b")},
				other: {"x/kustomization.yaml": "resources: [c.yaml]", "x/c.yaml": named("c")},
			},
			files: map[string]string{"kustomization.yaml": "namePrefix: p-\nresources: ['" + base + "//a?ref=v1']"},
			want:  "p-b=v p-a=v p-c=v",
		},
		"components": {
			reason: "components of the unit and of a kustomization are fetched",
			has: map[string]map[string]string{base: {
				"c/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches: [{path: p.yaml}]", "c/p.yaml": patch,
				"s/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnameSuffix: -s",
			}},
			files: map[string]string{"kustomization.yaml": "resources: [x.yaml]\ncomponents: ['" + base + "//c?ref=v1']", "x.yaml": named("x")},
			o:     render.Options{Components: []string{base + "//s?ref=v1"}},
			want:  "x-s=patched",
		},
		"files": {
			reason: "every field that names a file may name one elsewhere",
			has: map[string]map[string]string{
				"https://web.example/all.yaml": {"all.yaml": named("x")}, "https://web.example/p.yaml": {"p.yaml": patch},
				"https://web.example/f.txt": {"f.txt": "text"}, "https://web.example/e.env": {"e.env": "k=env"}, "https://web.example/k.txt": {"k.txt": "key"},
				"https://web.example/g.yaml": {"g.yaml": plugin("ConfigMapGenerator", "literals: [k=made]\noptions: {disableNameSuffixHash: true}\n")},
			},
			files: map[string]string{"kustomization.yaml": "resources: ['https://web.example/all.yaml']\npatches: [{path: 'https://web.example/p.yaml'}]\n" +
				"generatorOptions: {disableNameSuffixHash: true}\ngenerators: ['https://web.example/g.yaml']\n" +
				"configMapGenerator:\n- {name: f, files: ['https://web.example/f.txt', 'k=https://web.example/k.txt']}\n- {name: e, envs: ['https://web.example/e.env']}\n"},
			want: "x=patched f=key e=env p=made",
		},
		"plugins": {
			reason: "configurations of plugins name files too, also those that a directory makes",
			has:    map[string]map[string]string{"https://web.example/p.yaml": {"p.yaml": patch}},
			files: map[string]string{
				"kustomization.yaml": "resources: [x.yaml]\ntransformers: [plugins]\n", "x.yaml": named("x"),
				"plugins/kustomization.yaml": "resources: [t.yaml]\npatches:\n- target: {kind: PatchTransformer}\n  patch: '[{\"op\": \"replace\", \"path\": \"/path\", \"value\": \"https://web.example/p.yaml\"}]'\n",
				"plugins/t.yaml":             plugin("PatchTransformer", "path: other.yaml\n"),
			},
			want: "x=patched",
		},
		"local plugins": {
			reason: "a directory of configurations without any address is built as before",
			files: map[string]string{
				"kustomization.yaml": "resources: [x.yaml]\ntransformers: [plugins]\n", "x.yaml": named("x"), "p.yaml": patch,
				"plugins/kustomization.yaml": "resources: [t.yaml]", "plugins/t.yaml": plugin("PatchTransformer", "path: p.yaml\n"),
			},
			want: "x=patched",
		},
		"schema": {
			reason: "a schema may be elsewhere; the build has the library alone",
			has:    map[string]map[string]string{"https://web.example/s.json": {"s.json": `{"definitions": {}}`}},
			files:  map[string]string{"kustomization.yaml": "resources: [x.yaml]\nopenapi: {path: 'https://web.example/s.json'}\n", "x.yaml": named("x")},
			want:   "x=v",
		},
		"cycle": {
			reason: "a repository that leads to itself is named",
			has: map[string]map[string]string{
				base:  {"a/kustomization.yaml": "resources: ['" + other + "//x?ref=v1']"},
				other: {"x/kustomization.yaml": "resources: ['" + base + "//a?ref=v1']"},
			},
			files: map[string]string{"kustomization.yaml": "resources: ['" + base + "//a?ref=v1']"},
			fails: "cycle detected",
		},
		"plugin cycle": {
			reason: "and so is a directory that takes its plugins from itself",
			files:  map[string]string{"kustomization.yaml": "resources: [x.yaml]\ntransformers: [plugins]\n", "x.yaml": named("x"), "plugins/kustomization.yaml": "resources: [t.yaml]\ntransformers: [../plugins]", "plugins/t.yaml": plugin("PatchTransformer", "path: p.yaml\n")},
			fails:  "cycle detected",
		},
		"escape": {
			reason: "what was fetched does not read the files of the source",
			has:    map[string]map[string]string{base: {"a/kustomization.yaml": "configMapGenerator: [{name: s, files: [../../../repository/secret.txt]}]"}},
			files:  map[string]string{"kustomization.yaml": "resources: ['" + base + "//a?ref=v1']", "secret.txt": "s"},
			fails:  `https://git.example/team/base?ref=v1: a/kustomization.yaml: configMapGenerator[0].files[0]: "../../../repository/secret.txt" is outside the repository of the remote base`,
		},
		"missing": {
			reason: "the file, the entry and the address are named, without credentials",
			files:  map[string]string{"kustomization.yaml": "resources: [overlay]", "overlay/kustomization.yaml": "resources: [x.yaml, 'https://me:secret@git.example/a/b//c?ref=v1&token=secret']", "overlay/x.yaml": named("x")},
			fails:  `overlay/kustomization.yaml: resources[1]: "https://git.example/a/b//c?ref=v1": nothing is there`,
		},
		"missing below": {
			reason: "also in what was fetched",
			has:    map[string]map[string]string{base: {"kustomization.yaml": "resources: [none.yaml]"}},
			files:  map[string]string{"kustomization.yaml": "resources: ['" + base + "?ref=v1']"},
			fails:  `https://git.example/team/base?ref=v1: kustomization.yaml: entry "none.yaml": `,
		},
		"local repository": {
			reason: "a repository on the machine is no address",
			files:  map[string]string{"kustomization.yaml": "resources: ['file:///etc/repository']"},
			fails:  `resources[0]: "file:///etc/repository": nothing is there`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			result, err := buildWith(t, &remotes{t: t, has: c.has}, c.files, c.o)
			if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
				t.Fatalf("%s: error %v, want %q", c.reason, err, c.fails)
			}
			if err != nil && strings.Contains(err.Error(), "secret@") {
				t.Errorf("the error shows a credential: %v", err)
			}
			if err != nil {
				return
			}
			var got []string
			for _, u := range result.Objects {
				data, _ := u.Object["data"].(map[string]any)
				got = append(got, fmt.Sprintf("%s=%v", u.GetName(), data["k"]))
			}
			if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// TestNested bounds how deep remote bases lead to others.
func TestNested(t *testing.T) {
	r := &remotes{t: t, has: map[string]map[string]string{}}
	for i := range 20 {
		r.has[fmt.Sprintf("https://git.example/team/r%d", i)] = map[string]string{"kustomization.yaml": fmt.Sprintf("resources: ['https://git.example/team/r%d?ref=v1']", i+1)}
	}
	_, err := buildWith(t, r, map[string]string{"kustomization.yaml": "resources: ['https://git.example/team/r0?ref=v1']"}, render.Options{})
	if err == nil || !strings.Contains(err.Error(), "nested deeper than 8") {
		t.Errorf("error %v", err)
	}
}

// TestNothingIsFetchedByKustomize enters an address wherever kustomize would request it on its own: refused, it is not requested, and
// fetched, it is requested by what fetches.
func TestNothingIsFetchedByKustomize(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		http.Error(w, "not for you", http.StatusForbidden)
	}))
	defer server.Close()
	kustomizations := map[string]string{
		"resources": "resources: [x.yaml, URL]", "bases": "bases: [URL]", "components": "components: [URL/a/b]", "crds": "crds: [URL]",
		"configurations": "configurations: [URL]", "openapi": "openapi: {path: URL}", "patches": "patches: [{path: URL}]",
		"patchesStrategicMerge": "patchesStrategicMerge: [URL]", "replacements": "replacements: [{path: URL}]",
		"patchesJson6902": "patchesJson6902: [{path: URL, target: {kind: ConfigMap, name: x, version: v1}}]",
		"files":           "configMapGenerator: [{name: a, files: [URL]}]", "keyed": "secretGenerator: [{name: a, files: [k=URL]}]",
		"envs": "configMapGenerator: [{name: a, envs: [URL]}]", "env": "secretGenerator: [{name: a, env: URL}]",
		"generators": "generators: [URL]", "transformers": "transformers: [URL]", "validators": "validators: [URL]",
		"inline": "transformers: [\"apiVersion: builtin\\nkind: PatchTransformer\\nmetadata: {name: p}\\npath: URL\\n\"]",
		"paths":  "transformers: [\"apiVersion: builtin\\nkind: PatchStrategicMergeTransformer\\nmetadata: {name: p}\\npaths: [URL]\\n\"]",
		"value":  "transformers: [\"apiVersion: builtin\\nkind: ValueAddTransformer\\nmetadata: {name: p}\\ntargetFilePath: URL\\n\"]",
		"made":   "generators: [\"apiVersion: builtin\\nkind: ConfigMapGenerator\\nmetadata: {name: p}\\nfiles: [URL]\\n\"]",
		"host":   "resources: [x.yaml, 'GitHub.com/team/base']", "user": "resources: [x.yaml, 'me@git.example:team/base']", "forced": "resources: [x.yaml, 'git::https://git.example/team/base']",
	}
	for name, text := range kustomizations {
		t.Run(name, func(t *testing.T) {
			asked.Store(0)
			files := map[string]string{"kustomization.yaml": strings.ReplaceAll(text, "URL", server.URL+"/a.yaml"), "x.yaml": configMap("x", "v")}
			if !strings.Contains(text, "x.yaml") {
				files["kustomization.yaml"] += "\nresources: [x.yaml]\n"
			}
			_, err := render.New().Build(t.Context(), tree(t, files), render.Options{NoRemoteBases: true})
			if err == nil || !strings.Contains(err.Error(), "remote bases are not allowed: ") || asked.Load() != 0 {
				t.Errorf("refused: error %v after %d requests", err, asked.Load())
			}
			_, err = buildWith(t, &remotes{t: t}, files, render.Options{})
			if err == nil || !strings.Contains(err.Error(), "nothing is there") || asked.Load() != 0 {
				t.Errorf("fetched: error %v after %d requests", err, asked.Load())
			}
		})
	}
}

// TestKept fetches once what several builds read, and releases what none reads any more.
func TestKept(t *testing.T) {
	r := &remotes{t: t, has: map[string]map[string]string{"https://web.example/a.yaml": {"a.yaml": configMap("a", "v")}}}
	files := map[string]string{"kustomization.yaml": "resources: ['https://web.example/a.yaml', b]", "b/kustomization.yaml": "namePrefix: b-\nresources: ['https://web.example/a.yaml']"}
	result, err := buildWith(t, r, files, render.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"https://web.example/a.yaml"}
	if diff := cmp.Diff([][]string{want, want}, [][]string{r.asked, r.kept}); diff != "" {
		t.Errorf("fetched and kept (-want +got):\n%s", diff)
	}
	for content, same := range map[string]bool{configMap("a", "v"): true, configMap("a", "w"): false} {
		r.has["https://web.example/a.yaml"]["a.yaml"] = content
		got, err := render.NewElsewhere(r, true).Before(t.Context(), result.Elsewhere)
		if err != nil || got != same {
			t.Errorf("the same: %v, error %v", got, err)
		}
	}
	if !result.Volatile {
		t.Error("what is at an address may change")
	}
}

func TestRepository(t *testing.T) {
	cases := map[string]render.Repository{
		"https://github.com/team/base":                       {URL: "https://github.com/team/base"},
		"github.com/team/base/dir/a?ref=v1":                  {URL: "https://github.com/team/base", Dir: "dir/a", Ref: "v1"},
		"git@github.com:team/base.git/dir?version=v2":        {URL: "ssh://git@github.com/team/base.git", Dir: "dir", Ref: "v2"},
		"ssh://git@git.example:2222/team/base.git//dir":      {URL: "ssh://git@git.example:2222/team/base.git", Dir: "dir"},
		"me@git.example:team/base.git":                       {URL: "ssh://me@git.example/team/base.git"},
		"https://dev.azure.com/o/p/_git/base/dir?ref=x":      {URL: "https://dev.azure.com/o/p/_git/base", Dir: "dir", Ref: "x"},
		"https://git.example/a/b/c//dir?timeout=5&ref=v1":    {URL: "https://git.example/a/b/c", Dir: "dir", Ref: "v1", Timeout: 5 * time.Second},
		"https://git.example/a/b?submodules=false&timeout=x": {URL: "https://git.example/a/b"},
		"git::https://git.example/a/b":                       {URL: "https://git.example/a/b"},
		"file:///srv/base.git":                               {URL: "file:///srv/base.git"},
		"HTTPS://git.example/a/b":                            {URL: "https://git.example/a/b"},
		"../base":                                            {},
		"base/dir":                                           {},
		"/base":                                              {},
		"https://git.example/a":                              {},
		"https://git.example/a/b//../../c":                   {},
	}
	for text, want := range cases {
		got, is := render.Remote{URL: text}.Repository()
		if want.URL == "" {
			if is {
				t.Errorf("%s is a repository: %+v", text, got)
			}
			continue
		}
		if want.Timeout == 0 {
			want.Timeout = 27 * time.Second
		}
		want.Submodules = !strings.Contains(text, "submodules=false")
		if diff := cmp.Diff(want, got); !is || diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
