package manifests_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/argo/manifests"
)

// valuesOf are the values that the object of chartFiles was made with.
func valuesOf(t *testing.T, got *manifests.Result) string {
	t.Helper()
	value, _, _ := unstructured.NestedString(got.Objects[0].Object, "data", "values")
	return value
}

func TestValues(t *testing.T) {
	files := chartFiles.under("a").with(repo{
		"a/prod.yaml": "greeting: prod\nname: prod\n", "a/env/1.yaml": "greeting: one\norder: [1]\n", "a/env/2.yaml": "greeting: two\n",
		"a/env/z/0.yaml": "greeting: zero\n", "shop.yaml": "greeting: root\n", "a/broken.yaml": "[1]\n", "a/text.txt": "a, b\n", "l/out.yaml": "-> ../../x",
	})
	cases := map[string]struct {
		reason, helm string
		want         string
		fails        string
	}{
		"defaults":     {"nothing but the chart's own", "{}", `{"greeting":"hello","list":[1]}`, ""},
		"file":         {"a file beside the chart", "{valueFiles: [prod.yaml]}", `{"greeting":"prod","list":[1],"name":"prod"}`, ""},
		"root":         {"a slash is the root of the repository, and a variable is replaced", "{valueFiles: [/$ARGOCD_APP_NAME.yaml]}", `{"greeting":"root","list":[1]}`, ""},
		"up":           {"a path may climb inside of the repository", "{valueFiles: [../shop.yaml]}", `{"greeting":"root","list":[1]}`, ""},
		"order":        {"the last file wins, and then the values in the source", "{valueFiles: [prod.yaml, env/1.yaml], values: 'greeting: inline'}", `{"greeting":"inline","list":[1],"name":"prod","order":[1]}`, ""},
		"object":       {"an object goes before a text", "{values: 'name: text', valuesObject: {greeting: object, list: null}}", `{"greeting":"object"}`, ""},
		"pattern":      {"a pattern matches in the order of names", "{valueFiles: ['env/*.yaml']}", `{"greeting":"two","list":[1],"order":[1]}`, ""},
		"deep pattern": {"directories come after the files beside them", "{valueFiles: ['env/**/*.yaml']}", `{"greeting":"zero","list":[1],"order":[1]}`, ""},
		"listed too": {
			"what is listed is where it is listed, not where a pattern is", "{valueFiles: ['env/1.yaml', 'env/*.yaml']}", `{"greeting":"two","list":[1],"order":[1]}`, "",
		},
		"listed last":       {"also after the pattern", "{valueFiles: ['env/*.yaml', 'env/1.yaml']}", `{"greeting":"one","list":[1],"order":[1]}`, ""},
		"missing":           {"a missing file is named", "{valueFiles: [prod.yaml, nope.yaml]}", "", `spec.source.helm.valueFiles[1]: nope.yaml: no such file or directory`},
		"ignored":           {"unless it may be", "{valueFiles: [nope.yaml, 'nope/*.yaml'], ignoreMissingValueFiles: true}", `{"greeting":"hello","list":[1]}`, ""},
		"no match":          {"so is a pattern without a match", "{valueFiles: ['nope/*.yaml']}", "", `spec.source.helm.valueFiles[0]: values file glob "nope/*.yaml" matched no files`},
		"outside":           {"a path out of the repository", "{valueFiles: [../../x.yaml]}", "", "outside the repository"},
		"outside by a link": {"also by a link", "{valueFiles: [/l/out.yaml]}", "", `symbolic link "l/out.yaml" points to`},
		"no map":            {"values are a map", "{valueFiles: [broken.yaml]}", "", `helm.valueFiles: "a/broken.yaml": not a YAML map`},
		"URL":               {"files are not fetched", "{valueFiles: ['https://example.com/v.yaml?token=secret']}", "", `"https://example.com/v.yaml": values files are not fetched by URL`},
		"scheme":            {"nor by a scheme that is not permitted", "{valueFiles: ['s3://bucket/v.yaml']}", "", `the scheme "s3" is not among helm.valuesFileSchemes`},
		"parameters": {
			"parameters are typed unless they say otherwise, and set after files", "{valueFiles: [prod.yaml], parameters: [{name: greeting, value: '1'}, {name: name, value: '1', forceString: true}, {name: 'list[0]', value: null}]}",
			`{"greeting":1,"list":[""],"name":"1"}`, "",
		},
		"commas":          {"a comma means itself, unless in braces, or escaped", `{parameters: [{name: greeting, value: 'a,b\,c'}, {name: list, value: '{a,b}'}]}`, `{"greeting":"a,b,c","list":["a","b"]}`, ""},
		"variables":       {"variables of the build are replaced", "{parameters: [{name: greeting, value: '$ARGOCD_APP_REVISION_SHORT-${ARGOCD_APP_NAMESPACE}-$$X-$NOPE.'}]}", `{"greeting":"0123456-prod-$X-.","list":[1]}`, ""},
		"bad parameter":   {"a parameter that cannot be set is named, its value is not", "{parameters: [{name: 'a[x]', value: secret}]}", "", `spec.source.helm.parameters: setting "a[x]" by --set: `},
		"files as values": {"the text of a file is a value as it is", "{fileParameters: [{name: greeting, path: text.txt}]}", `{"greeting":"a, b\n","list":[1]}`, ""},
		"missing file":    {"a missing one is named", "{fileParameters: [{name: greeting, path: nope.txt}]}", "", `spec.source.helm.fileParameters[0].path: nope.txt: no such file or directory`},
	}
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := manifests.New().Render(t.Context(), one(t, "path: a\nhelm: "+tt.helm, files))
			if failed(t, err, tt.fails) {
				if strings.Contains(err.Error(), "secret") {
					t.Errorf("the error shows a secret: %v", err)
				}
				return
			}
			if diff := cmp.Diff(tt.want, valuesOf(t, got)); diff != "" {
				t.Errorf("%s: values (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

func TestPackedValues(t *testing.T) {
	data := chartFiles.with(repo{"ci/a.yaml": "greeting: ci\n", "ci/b.yaml": "list: [2]\n"}).pack(t)
	request := manifests.Request{App: app(), Options: options(), Sources: []manifests.Source{
		{Spec: spec(t, "chart: web\nhelm: {valueFiles: ['ci/*.yaml', /ci/a.yaml]}"), Chart: data, Revision: "1.2.3"},
	}}
	got := check(t, request, "ConfigMap//shop-web", "")
	if diff := cmp.Diff(`{"greeting":"ci","list":[2]}`, valuesOf(t, got)); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

func TestRelease(t *testing.T) {
	files := repo{
		"Chart.yaml":  "apiVersion: v2\nname: web\nversion: 1.2.3\n",
		"values.yaml": "", "values.schema.json": `{"properties": {"replicas": {"type": "integer"}}}`,
		"crds/crd.yaml":       "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\n",
		"templates/main.yaml": "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: {{ .Release.Name }}, namespace: {{ .Release.Namespace }}}\n  data: {v: {{ .Capabilities.KubeVersion }}, has: '{{ .Capabilities.APIVersions.Has \"example.com/v1/Thing\" }}'}\n",
		"templates/hook.yaml": "apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: hook-, annotations: {helm.sh/hook: pre-install}}\n",
		"templates/test.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: try, annotations: {helm.sh/hook: test}}\n",
	}
	cases := map[string]struct {
		reason, helm      string
		want, data, fails string
	}{
		"plain": {
			"definitions, items of lists, hooks and tests are all there", "{}",
			"CustomResourceDefinition//things.example.com ConfigMap/prod/shop Pod//try Job", `{"has":"false","v":"v1.36.3"}`, "",
		},
		"all": {
			"everything that the source may change",
			"{releaseName: rel, namespace: ns, skipCrds: true, skipTests: true, kubeVersion: 1.30.0, apiVersions: [example.com/v1/Thing], version: v3, passCredentials: true}",
			"ConfigMap/ns/rel Job", `{"has":"true","v":"v1.30.0"}`, "",
		},
		"schema":            {"values are held against the schema", "{valuesObject: {replicas: many}}", "", "", "values do not satisfy the schema of chart web: /replicas: it is a string"},
		"schema left out":   {"unless it is skipped", "{valuesObject: {replicas: many}, skipSchemaValidation: true, skipTests: true, skipCrds: true}", "ConfigMap/prod/shop Job", `{"has":"false","v":"v1.36.3"}`, ""},
		"bad version":       {"a version that is none", "{kubeVersion: new}", "", "", `parsing the Kubernetes version "new"`},
		"name out of range": {"a name that is too long for a release", "{releaseName: " + strings.Repeat("x", 54) + "}", "", "", "release name"},
	}
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			request := one(t, "path: a\nhelm: "+tt.helm, files.under("a"))
			request.App.KubeVersion = "v1.36.3"
			got := check(t, request, tt.want, tt.fails)
			if got == nil {
				return
			}
			for _, o := range got.Objects {
				data, _ := json.Marshal(o.Object["data"])
				if o.GetKind() == "ConfigMap" && string(data) != tt.data {
					t.Errorf("data %s, want %s", data, tt.data)
				}
			}
		})
	}
}

func TestBrokenTemplates(t *testing.T) {
	cases := map[string]struct{ reason, template, fails string }{
		"template": {"an error of the template names it", "{{ .Values.a.b.c }}", "web/templates/x.yaml"},
		"nameless": {"an object that lacks something is named by its template", "apiVersion: v1\nkind: ConfigMap\n", "spec.source: web/templates/x.yaml (ConfigMap): metadata.name is missing"},
	}
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			check(t, one(t, "path: .", repo{"Chart.yaml": chartFiles["Chart.yaml"], "templates/x.yaml": tt.template}), "", tt.fails)
		})
	}
}

func TestDependencies(t *testing.T) {
	sub := func(name, version string) repo {
		return repo{
			"Chart.yaml":       "apiVersion: v2\nname: " + name + "\nversion: " + version + "\n",
			"templates/x.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "-{{ .Chart.Version | replace \".\" \"-\" }}}\n",
		}
	}
	parent := func(dependencies string) string {
		return "apiVersion: v2\nname: web\nversion: 1.2.3\ndependencies: " + dependencies + "\n"
	}
	charts := shelf{
		"https://charts.example.com db 2.x":      sub("db", "2.0.0").pack(t),
		"https://charts.example.com db 1.9.0":    sub("db", "1.9.0").pack(t),
		"oci://registry.example.com/c cache 3.0": sub("cache", "3.0.0").pack(t),
	}
	cases := map[string]struct {
		reason   string
		files    repo
		charts   manifests.Charts
		want     string
		volatile bool
		fails    string
	}{
		"vendored": {
			reason: "a chart in the charts directory is taken",
			files:  repo{"a/Chart.yaml": parent("[{name: db, version: 2.x, repository: 'https://charts.example.com'}]")}.with(sub("db", "7.0.0").under("a/charts/db")),
			want:   "ConfigMap//db-7-0-0",
		},
		"beside": {
			reason: "a chart elsewhere in the repository", want: "ConfigMap//db-7-0-0",
			files: repo{"a/Chart.yaml": parent("[{name: db, version: '>=1', repository: 'file://../b'}]")}.with(sub("db", "7.0.0").under("b")),
		},
		"fetched": {
			reason: "a chart that is fetched, by the range that is declared", charts: charts, want: "ConfigMap//cache-3-0-0 ConfigMap//db-2-0-0", volatile: true,
			files: repo{"a/Chart.yaml": parent("[{name: db, version: 2.x, repository: 'https://charts.example.com'}, {name: cache, version: '3.0', repository: 'oci://registry.example.com/c'}]")},
		},
		"locked": {
			reason: "what is locked goes before what is declared", charts: charts, want: "ConfigMap//db-1-9-0",
			files: repo{
				"a/Chart.yaml": parent("[{name: db, version: '>1', repository: 'https://charts.example.com'}]"),
				"a/Chart.lock": "dependencies:\n- {name: db, version: 1.9.0, repository: 'https://charts.example.com'}\ndigest: x\ngenerated: 2026-01-01T00:00:00Z\n",
			},
		},
		"away": {
			reason: "a registry that does not answer is told from a mistake", charts: charts, fails: "fetching chart \"db\" of https://charts.example.com: the registry is away",
			files: repo{"a/Chart.yaml": parent("[{name: db, version: 3.x, repository: 'https://charts.example.com'}]")},
		},
		"nowhere": {
			reason: "without anybody who fetches", fails: "is not in the repository, and charts are not fetched here",
			files: repo{"a/Chart.yaml": parent("[{name: db, version: 2.x, repository: 'https://charts.example.com'}]")},
		},
	}
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			request := one(t, "path: a", tt.files)
			request.Charts = tt.charts
			got, err := manifests.New().Render(t.Context(), request)
			if failed(t, err, tt.fails) {
				if tt.charts != nil && !errors.Is(err, errAway) {
					t.Errorf("the cause is lost in %v", err)
				}
				return
			}
			if diff := cmp.Diff(tt.want, names(got.Objects)); diff != "" || got.Volatile != tt.volatile {
				t.Errorf("volatile %v, objects (-want +got):\n%s", got.Volatile, diff)
			}
			after := request.Sources[0]
			after.Tree = tt.files.with(sub("db", "8.0.0").under("b")).tree(t)
			if unchanged := got.Unchanged([]manifests.Source{after}); unchanged != (name != "beside" && !tt.volatile) {
				t.Errorf("with another chart in b: unchanged %v", unchanged)
			}
		})
	}
}
