package manifests_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/manifests"
	"github.com/headgate-dev/headgate/internal/engine"
)

var chartFiles = repo{
	"Chart.yaml":             "apiVersion: v2\nname: web\nversion: 1.2.3\n",
	"values.yaml":            "greeting: hello\nlist: [1]\n",
	"templates/main.yaml":    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-web\ndata:\n  values: {{ .Values | toJson | quote }}\n",
	"templates/_helpers.tpl": "",
}

func TestTypes(t *testing.T) {
	const plain = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n"
	cases := map[string]struct {
		reason  string
		source  string
		files   repo
		options manifests.Options
		kind    v1alpha1.ApplicationSourceType
		want    string
		fails   string
	}{
		"chart": {
			reason: "a Chart.yaml makes a chart",
			source: "path: .", files: chartFiles, options: options(),
			kind: "Helm", want: "ConfigMap//shop-web",
		},
		"kustomization": {
			reason: "a kustomization is built", source: "path: a",
			files:   repo{"a/Kustomization": "resources: [x.yaml]\nnamePrefix: p-\n", "a/x.yaml": plain, "a/y.yaml": configMap("unlisted")},
			options: options(), kind: "Kustomize", want: "ConfigMap//p-plain",
		},
		"directory": {
			reason: "anything else is a directory", source: "path: a", files: repo{"a/x.yaml": plain}, options: options(),
			kind: "Directory", want: "ConfigMap//plain",
		},
		"stated": {
			reason: "what the source says goes before what is found", source: "path: a\ndirectory: {exclude: 'k*'}",
			files:   repo{"a/kustomization.yaml": "resources: [x.yaml]\nnamePrefix: p-\n", "a/x.yaml": plain},
			options: options(), kind: "Directory", want: "ConfigMap//plain",
		},
		"two stated": {
			reason: "two tools are an error", source: "path: a\ndirectory: {}\nhelm: {}", files: repo{"a/x.yaml": plain}, options: options(),
			fails: "spec.source: multiple application sources defined",
		},
		"plugin": {
			reason: "a plugin is refused by name", source: "path: a\nplugin: {name: cdk8s}", files: repo{"a/x.yaml": plain}, options: options(),
			fails: `spec.source.plugin: config-management plugins are not supported, and this source requires "cdk8s"`,
		},
		"switched off": {
			reason: "a tool that is switched off leaves a plain directory", source: "path: a",
			files:   repo{"a/kustomization.yaml": "namePrefix: p-\n", "a/x.yaml": plain},
			options: options(func(o *manifests.Options) { o.Kustomize.Enabled = false }), kind: "Directory", want: "ConfigMap//plain",
		},
		"chart beside it switched off": {
			reason: "a tool that is switched off leaves the directory to the other one", source: "path: a",
			files:   repo{"a/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n", "a/kustomization.yaml": "resources: [x.yaml]\n", "a/x.yaml": plain},
			options: options(func(o *manifests.Options) { o.Helm.Enabled = false }), kind: "Kustomize", want: "ConfigMap//plain",
		},
		"kustomization beside a chart": {
			reason: "the kustomization counts, as with the upstream", source: "path: a",
			files:   repo{"a/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n", "a/kustomization.yaml": "resources: [x.yaml]\n", "a/x.yaml": plain},
			options: options(), kind: "Kustomize", want: "ConfigMap//plain",
		},
		"kustomization beside a chart switched off": {
			reason: "the chart counts then", source: "path: a",
			files: repo{
				"a/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n", "a/templates/x.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: charted}\n",
				"a/kustomization.yaml": "resources: [x.yaml]\n", "a/x.yaml": plain,
			},
			options: options(func(o *manifests.Options) { o.Kustomize.Enabled = false }), kind: "Helm", want: "ConfigMap//charted",
		},
		"chart switched off": {
			reason: "a source that is nothing but a chart cannot be a directory", source: "chart: web\ntargetRevision: 1.2.3",
			options: options(func(o *manifests.Options) { o.Helm.Enabled = false }), fails: "spec.source.chart: helm.enable",
		},
		"kustomize without a kustomization": {
			reason: "the missing file is named", source: "path: a\nkustomize: {namePrefix: x-}", files: repo{"a/x.yaml": plain}, options: options(),
			fails: `spec.source.kustomize: "a" has no kustomization.yaml`,
		},
		"missing path": {
			reason: "a path that is not there is named", source: "path: b", files: repo{"a/x.yaml": plain}, options: options(),
			fails: `spec.source.path: "b": app path does not exist`,
		},
		"absolute path": {
			reason: "a path begins at the root without saying so", source: "path: /a", files: repo{"a/x.yaml": plain}, options: options(),
			fails: `spec.source.path: "/a": app path is absolute`,
		},
		"path out": {
			reason: "a path that leaves the repository is refused", source: "path: a/../../b", files: repo{"a/x.yaml": plain}, options: options(),
			fails: `app path is outside the repository`,
		},
		"link out": {
			reason: "so is a link that does", source: "path: l", files: repo{"l": "-> ../../etc"}, options: options(),
			fails: `symbolic link "l" points to "../../etc"`,
		},
		"file": {
			reason: "a path to a file is no directory", source: "path: a/x.yaml", files: repo{"a/x.yaml": plain}, options: options(),
			fails: `app path is not a directory`,
		},
		"no path": {
			reason: "a repository needs a path", source: "targetRevision: main", files: repo{"x.yaml": plain}, options: options(),
			fails: "spec.source.path: empty",
		},
		"artifact": {
			reason: "an OCI artifact begins at its root", source: "repoURL: oci://registry.example.com/x", files: repo{"x.yaml": plain}, options: options(),
			kind: "Directory", want: "ConfigMap//plain",
		},
		"ref": {
			reason: "a source that others refer to gives nothing", source: "ref: values", files: repo{"x.yaml": plain}, options: options(), kind: "", want: "",
		},
	}
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			request := one(t, tt.source, tt.files)
			request.Options = tt.options
			if request.Sources[0].Spec.Chart != "" {
				request.Sources[0].Tree, request.Sources[0].Chart = nil, chartFiles.pack(t)
			}
			if got := check(t, request, tt.want, tt.fails); got != nil && got.Types[0] != tt.kind {
				t.Errorf("type %q, want %q", got.Types[0], tt.kind)
			}
		})
	}
}

func TestOverride(t *testing.T) {
	files := chartFiles.with(repo{
		".argocd-source.yaml":       "helm:\n  parameters:\n  - {name: greeting, value: all}\npath: elsewhere\n",
		".argocd-source-shop.yaml":  "helm: {releaseName: own}\n",
		".argocd-source-other.yaml": "helm: {releaseName: other}\n",
	}).under("a")
	got := check(t, one(t, "path: a\nhelm: {releaseName: spec}", files), "ConfigMap//own-web", "")
	if want := `"greeting":"all"`; !strings.Contains(text(t, got.Objects), want) {
		t.Errorf("no %s in\n%s", want, text(t, got.Objects))
	}
	broken := chartFiles.with(repo{".argocd-source.yaml": "helm: [1]\n"}).under("a")
	check(t, one(t, "path: a", broken), "", "spec.source: a/.argocd-source.yaml: cannot be merged into the source")
}

func TestMultiple(t *testing.T) {
	values := repo{"env/prod.yaml": "greeting: prod\n", "extra/x.yaml": configMap("x")}
	request := manifests.Request{
		App: app(), Options: options(),
		Sources: []manifests.Source{
			{Spec: spec(t, "chart: web\ntargetRevision: 1.2.3\nhelm: {valueFiles: [$v/env/prod.yaml]}"), Chart: chartFiles.pack(t), Revision: "1.2.3"},
			{Spec: spec(t, "ref: v"), Tree: values.tree(t), Revision: revision},
			{Spec: spec(t, "path: extra"), Tree: values.tree(t), Revision: revision},
			{Spec: spec(t, "path: ."), Tree: repo{"x.yaml": configMap("x", "k", "last"), "y.yaml": configMap("w") + "  namespace: prod\n"}.tree(t)},
			{Spec: spec(t, "path: ."), Tree: repo{"y.yaml": configMap("w")}.tree(t)},
		},
	}
	got := check(t, request, "ConfigMap//shop-web ConfigMap//x ConfigMap//w", "")
	if !strings.Contains(text(t, got.Objects), `"greeting":"prod"`) || !strings.Contains(text(t, got.Objects), "k: last") {
		t.Errorf("the values of the ref or the last duplicate are not there:\n%s", text(t, got.Objects))
	}
	if diff := cmp.Diff(map[engine.ObjectID]int{{Kind: "ConfigMap", Name: "w"}: 2, {Kind: "ConfigMap", Name: "x"}: 2}, got.Duplicates); diff != "" {
		t.Errorf("duplicates (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]v1alpha1.ApplicationSourceType{"Helm", "", "Directory", "Directory", "Directory"}, got.Types); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"env/prod.yaml"}, got.Reads[1].Paths()); diff != "" {
		t.Errorf("reads of the ref (-want +got):\n%s", diff)
	}
	request.Sources[2].Spec = spec(t, "path: nope")
	check(t, request, "", `spec.sources[2].path: "nope": app path does not exist`)
	request.Sources[0].Spec = spec(t, "chart: web\nhelm: {valueFiles: [$w/env/prod.yaml]}")
	check(t, request, "", `spec.sources[0].helm.valueFiles[0]: "$w/env/prod.yaml": no source has the ref "w"`)
}

func TestUnchanged(t *testing.T) {
	files := repo{
		"a/kustomization.yaml": "resources: [x.yaml]\n", "a/x.yaml": configMap("x"), "README.md": "read me",
		"v/values.yaml": "greeting: hi\n",
	}
	request := func(t *testing.T, change repo, revision string, param string) manifests.Request {
		tree := files.with(change).tree(t)
		return manifests.Request{App: app(), Options: options(), Sources: []manifests.Source{
			{Spec: spec(t, "path: a"), Tree: tree, Revision: revision},
			{Spec: spec(t, "chart: web\nhelm:\n  valueFiles: [$v/v/values.yaml]\n  parameters: [{name: p, value: '"+param+"'}]"), Chart: chartFiles.pack(t)},
			{Spec: spec(t, "ref: v"), Tree: tree, Revision: revision},
		}}
	}
	cases := map[string]struct {
		reason, param string
		change        repo
		revision      string
		chart         []byte
		want          bool
	}{
		"elsewhere":          {"a commit that touches nothing that was read changes nothing", "1", repo{"README.md": "new"}, "2", nil, true},
		"read":               {"a file that was read", "1", repo{"a/x.yaml": configMap("y")}, "2", nil, false},
		"file of a ref":      {"a file that was read through a ref", "1", repo{"v/values.yaml": "greeting: ho\n"}, "2", nil, false},
		"file looked for":    {"a file that was looked for, and is there now", "1", repo{"a/Chart.yaml": "name: x\n"}, "2", nil, false},
		"override":           {"an override that is there now", "1", repo{"a/.argocd-source.yaml": "{}"}, "2", nil, false},
		"other chart":        {"another chart", "1", nil, "2", chartFiles.with(repo{"values.yaml": "x: 1\n"}).pack(t), false},
		"revision of chart":  {"the revision of the chart's own source bears on nothing", "$ARGOCD_APP_SOURCE_PATH", nil, "2", nil, true},
		"revision in values": {"the revision, where a field names it", "$ARGOCD_APP_REVISION", nil, "2", nil, false},
	}
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			before := request(t, nil, "1", tt.param)
			before.Sources[1].Revision = "1"
			got, err := manifests.New().Render(t.Context(), before)
			if err != nil {
				t.Fatal(err)
			}
			after := request(t, tt.change, tt.revision, tt.param)
			after.Sources[1].Revision = tt.revision
			if tt.chart != nil {
				after.Sources[1].Chart = tt.chart
			}
			if unchanged := got.Unchanged(after.Sources); unchanged != tt.want {
				t.Errorf("%s: unchanged %v, want %v", tt.reason, unchanged, tt.want)
			}
			again, err := manifests.New().Render(t.Context(), after)
			if err != nil && tt.want {
				t.Fatal(err)
			}
			if err == nil && (again.Inputs == got.Inputs) != tt.want {
				t.Errorf("%s: digests of inputs %s and %s", tt.reason, got.Inputs, again.Inputs)
			}
		})
	}
}

func TestImages(t *testing.T) {
	got := check(t, one(t, "path: .", repo{"x.yaml": `
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec: {template: {spec: {initContainers: [{image: "b:1"}], containers: [{image: "a:1"}, {image: "b:1"}]}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: c}
spec: {jobTemplate: {spec: {template: {spec: {containers: [{image: "c:1"}]}}}}}
---
apiVersion: v1
kind: Pod
metadata: {generateName: p-}
spec: {containers: [{image: "d:1"}, {name: none}]}
`}), "Deployment//d CronJob//c Pod", "")
	if diff := cmp.Diff([]string{"a:1", "b:1", "c:1", "d:1"}, got.Images); diff != "" {
		t.Errorf("images (-want +got):\n%s", diff)
	}
}
