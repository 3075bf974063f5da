package manifests_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/argo/manifests"
	"github.com/headgate-dev/headgate/internal/simulate"
)

// inflated is a chart of which much can be seen.
var inflated = repo{
	"Chart.yaml":    "apiVersion: v2\nname: app\nversion: 1.0.0\n",
	"values.yaml":   "a: chart\nb: chart\nlist: [1, 2]\ndeep: {x: 1, z: 2}\n",
	"crds/crd.yaml": "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\n",
	"templates/main.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-main
data:
  values: {{ .Values | toJson | quote }}
  release: {{ .Release.Namespace }}
  kube: {{ .Capabilities.KubeVersion.Version }}
  api: '{{ .Capabilities.APIVersions.Has "example.com/v1" }}'
---
apiVersion: v1
kind: ConfigMapList
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: "{{ .Release.Name }}-own", namespace: own}}
`,
	"templates/hook.yaml": "apiVersion: batch/v1\nkind: Job\nmetadata: {name: {{ .Release.Name }}-hook, annotations: {helm.sh/hook: pre-install}}\n",
	"templates/test.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: {{ .Release.Name }}-test, annotations: {helm.sh/hook: test}}\n",
}

func TestInflate(t *testing.T) {
	data := inflated.pack(t)
	charts := shelf{
		"https://charts.example.com app 1.0.0":      data,
		"https://charts.example.com app ":           data,
		"oci://registry.example.com/charts app 1.x": data,
	}
	const https = "name: app, repo: 'https://charts.example.com', version: 1.0.0, skipHooks: true"
	main := func(release, namespace, values string) string {
		return `apiVersion: v1
data:
  api: "false"
  kube: v1.36.3
  release: ` + namespace + `
  values: '` + values + `'
kind: ConfigMap
metadata:
  name: ` + release + `-main
`
	}
	const defaults = `{"a":"chart","b":"chart","deep":{"x":1,"z":2},"list":[1,2]}`
	cases := map[string]struct {
		reason string
		files  repo
		source string
		want   string // the object that the chart made first
		names  string
		fails  string
	}{
		"fetched": {
			reason: "a chart of a repository; what it made keeps its namespaces, also where the kustomization has one",
			files:  repo{"kustomization.yaml": "namespace: ns\nresources: [x.yaml]\nhelmCharts: [{" + https + ", releaseName: r}]\n", "x.yaml": configMap("x")},
			want:   main("r", "ns", defaults), names: "ConfigMap/ns/x ConfigMap//r-main ConfigMap/own/r-own",
		},
		"transformed": {
			reason: "what charts make is transformed as any resource",
			files: repo{
				"kustomization.yaml": "namePrefix: p-\ncommonAnnotations: {k: v}\npatches: [{target: {name: r-own}, patch: '- {op: add, path: /data, value: {patched: yes}}'}]\nhelmCharts: [{" + https + ", releaseName: r}]\n",
			},
			want:  strings.Replace(main("p-r", "default", defaults), "metadata:\n", "metadata:\n  annotations:\n    k: v\n", 1),
			names: "ConfigMap//p-r-main ConfigMap/own/p-r-own",
		},
		"registry": {
			reason: "a chart of a registry, by a range, with everything that an entry may say",
			files: repo{"kustomization.yaml": `
helmCharts:
- name: app
  repo: oci://registry.example.com/charts
  version: 1.x
  nameTemplate: '{{ upper "n" | lower }}-{{ 1 | add 1 }}'
  namespace: own-ns
  includeCRDs: true
  skipTests: true
  kubeVersion: 1.29.0
  apiVersions: [example.com/v1]
`},
			want:  strings.NewReplacer("v1.36.3", "v1.29.0", `api: "false"`, `api: "true"`).Replace(main("n-2", "own-ns", defaults)),
			names: "CustomResourceDefinition//things.example.com ConfigMap//n-2-main Job//n-2-hook ConfigMap/own/n-2-own",
		},
		"no release name": {
			reason: "helm template has a name for what has none; tests and hooks are there",
			files:  repo{"kustomization.yaml": "helmCharts: [{name: app, repo: 'https://charts.example.com'}]\n"},
			want:   main("release-name", "default", defaults), names: "ConfigMap//release-name-main Pod//release-name-test Job//release-name-hook ConfigMap/own/release-name-own",
		},
		"from the source": {
			reason: "the versions that the source names, where the entry names none; the namespace that it sets",
			source: "kustomize: {kubeVersion: 1.30.0, apiVersions: [example.com/v1], namespace: set}",
			files:  repo{"kustomization.yaml": "helmCharts: [{" + https + ", releaseName: r}]\n"},
			want:   strings.NewReplacer("v1.36.3", "v1.30.0", `api: "false"`, `api: "true"`).Replace(main("r", "set", defaults)), names: "ConfigMap//r-main ConfigMap/own/r-own",
		},
		"override": {
			reason: "values in line go over those of a file, which goes in the place of the chart's; a null brings its default back; lists are replaced",
			files: repo{
				"kustomization.yaml": "helmCharts: [{" + https + ", releaseName: r, valuesFile: v.yaml, valuesInline: {a: inline, deep: {x: 9}, b: null}}]\n",
				"v.yaml":             "a: file\nb: file\nc: file\nlist: [3]\n",
			},
			want: main("r", "default", `{"a":"inline","b":"chart","c":"file","deep":{"x":9,"z":2},"list":[3]}`), names: "ConfigMap//r-main ConfigMap/own/r-own",
		},
		"merge": {
			reason: "or under them",
			files: repo{
				"kustomization.yaml": "helmCharts: [{" + https + ", releaseName: r, valuesFile: v.yaml, valuesMerge: merge, valuesInline: {a: inline, d: inline}}]\n",
				"v.yaml":             "a: file\n",
			},
			want: main("r", "default", `{"a":"file","b":"chart","d":"inline","deep":{"x":1,"z":2},"list":[1,2]}`), names: "ConfigMap//r-main ConfigMap/own/r-own",
		},
		"replace": {
			reason: "or in their place; further files go over all of it",
			files: repo{
				"kustomization.yaml": "helmCharts: [{" + https + ", releaseName: r, valuesFile: v.yaml, valuesMerge: replace, valuesInline: {a: inline, d: inline}, additionalValuesFiles: [w.yaml, dir/z.yaml]}]\n",
				"v.yaml":             "c: file\n", "w.yaml": "d: w\ne: w\n", "dir/z.yaml": "e: z\n",
			},
			want: main("r", "default", `{"a":"inline","b":"chart","d":"w","deep":{"x":1,"z":2},"e":"z","list":[1,2]}`), names: "ConfigMap//r-main ConfigMap/own/r-own",
		},
		"bad merge":    {reason: "a way that nobody knows", files: repo{"kustomization.yaml": "helmCharts: [{" + https + ", valuesMerge: mix}]\n"}, fails: `spec.source: a/kustomization.yaml: helmCharts[0] "app": valuesMerge: "mix" is not one of override, replace, merge`},
		"missing file": {reason: "a file of values that is not there", files: repo{"kustomization.yaml": "helmCharts: [{" + https + ", additionalValuesFiles: [x.yaml]}]\n"}, fails: `helmCharts[0] "app": additionalValuesFiles[0]: no such file "a/x.yaml"`},
		"file outside": {reason: "or is elsewhere", files: repo{"kustomization.yaml": "helmCharts: [{" + https + ", valuesFile: ../../x.yaml}]\n"}, fails: `is outside the source`},
		"values URL":   {reason: "or anywhere", files: repo{"kustomization.yaml": "helmCharts: [{" + https + ", valuesFile: 'https://example.com/v.yaml'}]\n"}, fails: `valuesFile: "https://example.com/v.yaml": values files are not fetched`},
		"no map":       {reason: "values that are no map", files: repo{"kustomization.yaml": "helmCharts: [{" + https + ", valuesFile: v.yaml, valuesInline: {a: b}}]\n", "v.yaml": "[1]\n"}, fails: `helmCharts[0] "app": `},
		"two names":    {reason: "a name and a template of one", files: repo{"kustomization.yaml": "helmCharts: [{" + https + ", releaseName: r, nameTemplate: t}]\n"}, fails: `nameTemplate: releaseName is also set`},
		"no name":      {reason: "an entry without a chart", files: repo{"kustomization.yaml": "helmCharts: [{repo: 'https://charts.example.com'}]\n"}, fails: `helmCharts[0] "": name: the chart has no name`},
		"no repo":      {reason: "and without a place", files: repo{"kustomization.yaml": "helmCharts: [{name: app}]\n"}, fails: `helmCharts[0] "app": repo: it is empty, and "a/charts/app" contains no chart`},
		"away":         {reason: "a chart that cannot be had", files: repo{"kustomization.yaml": "helmCharts: [{name: app, repo: 'https://charts.example.com', version: 7.0.0}]\n"}, fails: `spec.source: a/kustomization.yaml: helmCharts[0] "app": fetching chart "app" of https://charts.example.com: the registry is away`},
		"vendored": {
			reason: "a chart under chartHome goes before one that would be fetched, by its name and version",
			files: repo{"kustomization.yaml": "helmGlobals: {chartHome: ../vendor, configHome: /tmp/x}\nhelmCharts: [{" + https + ", releaseName: r}, {name: app, releaseName: s, skipHooks: true}]\n"}.
				with(inflated.with(repo{"values.yaml": "a: versioned\n"}).under("../vendor/app-1.0.0/app")).with(inflated.with(repo{"values.yaml": "a: plain\n"}).under("../vendor/app")),
			want: main("r", "default", `{"a":"versioned"}`), names: "ConfigMap//r-main ConfigMap/own/r-own ConfigMap//s-main ConfigMap/own/s-own",
		},
		"older field": {
			reason: "the older field, with globals of its own",
			files: repo{"kustomization.yaml": "helmChartInflationGenerator: [{chartName: app, chartHome: home, releaseName: r, valuesLocal: {a: local}}]\n"}.
				with(inflated.with(repo{"values.yaml": "a: home\n"}).under("home/app")),
			want: main("r", "default", `{"a":"local"}`), names: "ConfigMap//r-main Pod//r-test Job//r-hook ConfigMap/own/r-own",
		},
		"generator": {
			reason: "a generator in a file and one in place, which inherit no namespace; others stay",
			files: repo{
				"kustomization.yaml": "namespace: ns\ngenerators:\n- gen.yaml\n- |\n  apiVersion: builtin\n  kind: HelmChartInflationGenerator\n  metadata: {name: y}\n  name: app\n  repo: https://charts.example.com\n  version: 1.0.0\n  skipHooks: true\n  releaseName: s\n- other.yaml\n",
				"gen.yaml":           "apiVersion: builtin\nkind: HelmChartInflationGenerator\nmetadata: {name: x}\n" + strings.ReplaceAll(https, ", ", "\n") + "\nreleaseName: r\nnamespace: gen\n",
				"other.yaml":         "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: other}\noptions: {disableNameSuffixHash: true}\nliterals: [a=b]\n",
			},
			want: main("r", "gen", defaults), names: "ConfigMap//r-main ConfigMap/own/r-own ConfigMap//s-main ConfigMap/own/s-own ConfigMap/ns/other",
		},
		"nested": {
			reason: "charts of bases and components inherit the namespace of whoever names them; a base reached twice has both",
			files: repo{
				"kustomization.yaml":         "resources: [../one, ../two]\ncomponents: [../comp]\nnamespace: top\nhelmCharts: [{" + https + ", releaseName: t}]\n",
				"../one/kustomization.yaml":  "namespace: one\nnamePrefix: one-\nresources: [../base]\n",
				"../two/kustomization.yaml":  "namePrefix: two-\nresources: [../base, ../leaf]\n",
				"../base/kustomization.yaml": "helmCharts: [{" + https + ", releaseName: r}]\n",
				"../leaf/kustomization.yaml": "resources: [x.yaml]\n", "../leaf/x.yaml": configMap("x"),
				"../comp/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nhelmCharts: [{" + https + ", releaseName: c, valuesFile: v.yaml}]\n",
				"../comp/v.yaml":             "a: comp\n",
			},
			want: strings.Replace(main("one-r", "one", defaults), "one-r-own", "", 1),
			names: "ConfigMap//one-r-main ConfigMap/own/one-r-own ConfigMap//two-r-main ConfigMap/own/two-r-own ConfigMap/top/two-x " +
				"ConfigMap//t-main ConfigMap/own/t-own ConfigMap//c-main ConfigMap/own/c-own",
		},
		"error in a base": {
			reason: "the kustomization that names a chart is named",
			files: repo{
				"kustomization.yaml": "resources: [../base]\n", "../base/kustomization.yaml": "helmCharts: [{name: app}]\n",
			},
			fails: `spec.source: base/kustomization.yaml: helmCharts[0] "app": repo: it is empty`,
		},
		"same object twice": {
			reason: "two charts that make one object",
			files:  repo{"kustomization.yaml": "helmCharts: [{" + https + ", releaseName: r}, {" + https + ", releaseName: r}]\n"}, fails: "r-main",
		},
	}
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			files := repo{}
			for name, text := range tt.files {
				name = "a/" + name
				if up, is := strings.CutPrefix(name, "a/../"); is {
					name = up
				}
				files[name] = text
			}
			request := one(t, "path: a\n"+tt.source, files)
			request.Options, request.Charts = options(withHelm), charts
			request.App.KubeVersion = "v1.36.3"
			before := request.Sources[0].Tree.Digest()
			got := check(t, request, tt.names, tt.fails)
			if request.Sources[0].Tree.Digest() != before {
				t.Error("the tree has changed")
			}
			if tt.want == "" {
				return
			}
			for _, o := range got.Objects {
				if strings.HasSuffix(o.GetName(), "-main") {
					if diff := cmp.Diff(tt.want, text(t, got.Objects[:0:0])+text(t, append(got.Objects[:0:0], o))); diff != "" {
						t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
					}
					break
				}
			}
		})
	}
}

func TestInheritedNamespaces(t *testing.T) {
	files := repo{
		"a/kustomization.yaml":    "resources: [../one, ../two, ../base]\nnamespace: top\n",
		"one/kustomization.yaml":  "namespace: one\nnamePrefix: one-\nresources: [../base]\n",
		"two/kustomization.yaml":  "namePrefix: two-\nresources: [../base]\n",
		"base/kustomization.yaml": "helmCharts: [{name: app, releaseName: r, skipHooks: true}]\n",
	}
	request := one(t, "path: a", files.with(inflated.under("base/charts/app")))
	request.Options = options(withHelm)
	got, err := manifests.New().Render(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]any{}
	for _, o := range got.Objects {
		if data, _ := o.Object["data"].(map[string]any); data != nil {
			seen[o.GetName()] = data["release"]
		}
	}
	if diff := cmp.Diff(map[string]any{"one-r-main": "one", "two-r-main": "top", "r-main": "top"}, seen); diff != "" {
		t.Errorf("namespaces of releases (-want +got):\n%s", diff)
	}
}

func TestInflateReads(t *testing.T) {
	files := repo{"a/kustomization.yaml": "helmCharts: [{name: app, releaseName: r, valuesFile: v.yaml}]\n", "a/v.yaml": "a: 1\n"}.with(inflated.under("a/charts/app"))
	request := one(t, "path: a", files)
	request.Options = options(withHelm)
	got, err := manifests.New().Render(t.Context(), request)
	if err != nil || got.Volatile {
		t.Fatal(got, err)
	}
	for change, want := range map[string]bool{"b/x.yaml": true, "a/v.yaml": false, "a/charts/app/values.yaml": false, "a/charts/app/templates/new.yaml": false} {
		after := request.Sources[0]
		after.Tree = files.with(repo{change: "b: 2\n"}).tree(t)
		if unchanged := got.Unchanged([]manifests.Source{after}); unchanged != want {
			t.Errorf("with another %s: unchanged %v, want %v", change, unchanged, want)
		}
	}
}

func TestNoHelm(t *testing.T) {
	for name, files := range map[string]repo{
		"root": {"a/kustomization.yaml": "helmCharts: [{name: app, repo: 'https://charts.example.com'}]\n"},
		"base": {"a/kustomization.yaml": "resources: [../b]\n", "b/kustomization.yaml": "helmCharts: [{name: app, repo: 'https://charts.example.com'}]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			check(t, one(t, "path: a", files), "", "kustomization.yaml: helmCharts[0] \"app\": charts in kustomizations are off; set kustomize.buildOptions: --enable-helm in argocd-cm")
		})
	}
}

// asked records the charts that it is requested, and has none.
type asked struct{ names []string }

func (a *asked) Chart(_ context.Context, _, name, _ string) ([]byte, string, error) {
	a.names = append(a.names, name)
	return nil, "", errAway
}

func TestTransient(t *testing.T) {
	request := one(t, "path: .", repo{
		"kustomization.yaml":   "resources: [b]\n",
		"b/kustomization.yaml": "helmCharts: [{name: app, repo: 'https://charts.example.com'}, {name: db, repo: 'https://charts.example.com'}]\n",
	})
	charts := &asked{}
	request.Options, request.Charts = options(withHelm), charts
	_, err := manifests.New().Render(t.Context(), request)
	if !errors.Is(err, errAway) || !strings.Contains(err.Error(), `helmCharts[0] "app"`) {
		t.Errorf("the cause is lost in %v", err)
	}
	if diff := cmp.Diff([]string{"app", "db"}, charts.names); diff != "" {
		t.Errorf("charts that were asked for (-want +got):\n%s", diff)
	}
}

// A result names the charts that were rendered, with what they were given.
func TestCharts(t *testing.T) {
	kustomize := repo{"kustomization.yaml": "helmGlobals: {chartHome: charts}\nhelmCharts: [{name: app, releaseName: r, namespace: ns, valuesFile: v.yaml, valuesInline: {b: inline}}]\n", "v.yaml": "a: file\nb: file\n"}
	for name, text := range inflated {
		kustomize["charts/app/"+name] = text
	}
	cases := map[string]struct {
		reason string
		files  repo
		source string
		want   []manifests.Chart
	}{
		"kustomization": {"values of files and those beside them", kustomize, "", []manifests.Chart{{Name: "app", Namespace: "ns", Values: map[string]any{"a": "file", "b": "inline"}}}},
		"tree":          {"a directory that is a chart", inflated, "helm: {valuesObject: {a: own}}", []manifests.Chart{{Name: "app", Namespace: "prod", Values: map[string]any{"a": "own"}}}},
		"plain":         {"no chart", repo{"x.yaml": configMap("x")}, "", nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := one(t, "path: .\n"+c.source, c.files)
			withHelm(&r.Options)
			result, err := manifests.New().Render(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, result.Charts); diff != "" {
				t.Errorf("%s: -want +got:\n%s", c.reason, diff)
			}
		})
	}
}

// TestInflateStandIn lays patches that were written for the real chart on what stands in for it.
func TestInflateStandIn(t *testing.T) {
	data, err := simulate.Chart("app", "1.0.0", nil)
	if err != nil {
		t.Fatal(err)
	}
	const mounts = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: r}, spec: {template: {spec: {containers: [{name: real, volumeMounts: [{name: v, mountPath: /v}]}]}}}}`
	files := repo{"kustomization.yaml": "helmCharts: [{name: app, repo: 'https://charts.example.com', version: 1.0.0, releaseName: r}]\n" +
		"patches: [{target: {kind: Deployment}, patch: '- {op: remove, path: /spec/template/spec/volumes/3}'}, {patch: '" + mounts + "'}]\n"}
	for name, c := range map[string]struct {
		simulated   bool
		fails, left string
	}{
		"simulated": {simulated: true, left: `Patch kustomization.yaml: patches[0] for Deployment ""`}, "not simulated": {fails: "kustomization.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			left := ""
			request := one(t, "path: .", files)
			request.Options = options(withHelm, func(o *manifests.Options) {
				if c.simulated {
					o.StandIns, o.LeaveOut = true, func(what, entry string) { left = what + " " + entry }
				}
			})
			request.Charts = shelf{"https://charts.example.com app 1.0.0": data}
			result, err := manifests.New().Render(t.Context(), request)
			if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) || left != c.left {
				t.Fatalf("error %v, want %q; left out %q", err, c.fails, left)
			}
			if err != nil {
				return
			}
			for _, o := range result.Objects {
				if o.GetKind() != "Deployment" {
					continue
				}
				pod, _, _ := unstructured.NestedMap(o.Object, "spec", "template", "spec")
				if diff := cmp.Diff([]any{map[string]any{"name": "v", "emptyDir": map[string]any{}}}, pod["volumes"]); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
		})
	}
}
