package manifests_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/argo/manifests"
	"github.com/headgate-dev/headgate/internal/argo/settings"
)

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - {name: web, image: "nginx:1"}
`

func TestKustomize(t *testing.T) {
	base := func(extra string) repo {
		return repo{
			"a/kustomization.yaml": "resources: [web.yaml]\n" + extra, "a/web.yaml": deployment,
			"a/patch.yaml":             "- {op: add, path: /metadata/labels, value: {patched: file}}\n",
			"c/one/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncommonAnnotations: {component: one}\n",
		}
	}
	want := func(edit ...string) string {
		return strings.NewReplacer(edit...).Replace(`apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - image: nginx:1
        name: web
`)
	}
	cases := map[string]struct {
		reason, kustomize, base string
		want, fails             string
	}{
		"names":          {"a prefix, a suffix and a namespace go before those of the kustomization", "{namePrefix: a-, nameSuffix: -b, namespace: ns}", "namePrefix: x-\nnamespace: x\n", want("  name: web\nspec", "  name: a-web-b\n  namespace: ns\nspec"), ""},
		"tag":            {"an image by its tag", "{images: ['nginx:2']}", "", want("nginx:1", "nginx:2"), ""},
		"new name":       {"another image", "{images: ['nginx=registry.example.com:5000/nginx']}", "", want("nginx:1", "registry.example.com:5000/nginx:1"), ""},
		"new name, tag":  {"another image with a tag", "{images: ['nginx=registry.example.com:5000/nginx:3']}", "", want("nginx:1", "registry.example.com:5000/nginx:3"), ""},
		"image digest":   {"an image by its digest", "{images: ['nginx@sha256:0a']}", "", want("nginx:1", "nginx@sha256:0a"), ""},
		"tag and digest": {"an image by both", "{images: ['nginx=other:4@sha256:0a']}", "", want("nginx:1", "other:4@sha256:0a"), ""},
		"override":       {"an override takes the place of the one for the same image", "{images: ['nginx:2']}", "images: [{name: nginx, newName: other, newTag: '9'}]\n", want("nginx:1", "nginx:2"), ""},
		"override kept":  {"and keeps what an asterisk stands for", "{images: ['nginx=*:2']}", "images: [{name: nginx, newName: other, newTag: '9'}]\n", want("nginx:1", "other:2"), ""},
		"no image":       {"an image has to change", "{images: ['nginx:1', nginx]}", "", "", `spec.source.kustomize.images[1]: "nginx" has neither a new name nor a tag nor a digest`},
		"replicas":       {"a count, as a number or a text", "{replicas: [{name: web, count: '3'}]}", "replicas: [{name: web, count: 2}]\n", want("replicas: 1", "replicas: 3"), ""},
		"no number":      {"a count that is none", "{replicas: [{name: web, count: some}]}", "", "", `spec.source.kustomize.replicas[0].count: "some" is not a number`},
		"labels": {
			"labels go into selectors, with variables of the build", "{commonLabels: {team: $ARGOCD_APP_NAME}}", "",
			want("  name: web\nspec", "  labels:\n    team: shop\n  name: web\nspec", "      app: web\n  template", "      app: web\n      team: shop\n  template", "        app: web\n    spec", "        app: web\n        team: shop\n    spec"), "",
		},
		"labels only": {
			"unless they are to stay out of them", "{commonLabels: {team: x}, labelWithoutSelector: true}", "labels: [{pairs: {a: b}}]\n",
			want("  name: web\nspec", "  labels:\n    a: b\n    team: x\n  name: web\nspec"), "",
		},
		"labels of templates": {
			"and they may be in templates all the same", "{commonLabels: {team: x}, labelWithoutSelector: true, labelIncludeTemplates: true}", "",
			want("  name: web\nspec", "  labels:\n    team: x\n  name: web\nspec", "        app: web\n    spec", "        app: web\n        team: x\n    spec"), "",
		},
		"templates alone": {"which needs the other", "{commonLabels: {team: x}, labelIncludeTemplates: true}", "", "", "spec.source.kustomize.labelIncludeTemplates: it requires labelWithoutSelector: true"},
		"label twice":     {"a label that is there is not replaced", "{commonLabels: {team: x}}", "commonLabels: {team: b}\n", "", `spec.source.kustomize.commonLabels: "team" is already in the kustomization; kustomize.forceCommonLabels replaces it`},
		"label forced":    {"unless forced", "{commonLabels: {team: x}, forceCommonLabels: true, labelWithoutSelector: true}", "labels: [{pairs: {team: b}}]\n", want("  name: web\nspec", "  labels:\n    team: x\n  name: web\nspec"), ""},
		"label of the kustomization forced": {
			"also one that goes into selectors", "{commonLabels: {app: x}, forceCommonLabels: true}", "commonLabels: {app: b}\n",
			want("  name: web\nspec", "  labels:\n    app: x\n  name: web\nspec", "app: web", "app: x"), "",
		},
		"annotations": {
			"annotations are taken as they are", "{commonAnnotations: {a: $ARGOCD_APP_NAME}}", "",
			want("metadata:\n  name: web", "metadata:\n  annotations:\n    a: $ARGOCD_APP_NAME\n  name: web", "    metadata:\n      labels", "    metadata:\n      annotations:\n        a: $ARGOCD_APP_NAME\n      labels"), "",
		},
		"annotations with variables": {
			"unless variables are to be replaced", "{commonAnnotations: {a: $ARGOCD_APP_NAME}, commonAnnotationsEnvsubst: true}", "",
			want("metadata:\n  name: web", "metadata:\n  annotations:\n    a: shop\n  name: web", "    metadata:\n      labels", "    metadata:\n      annotations:\n        a: shop\n      labels"), "",
		},
		"annotation twice":  {"an annotation that is there", "{commonAnnotations: {a: x}}", "commonAnnotations: {a: b}\n", "", `kustomize.forceCommonAnnotations replaces it`},
		"annotation forced": {"and forced", "{commonAnnotations: {component: x}, forceCommonAnnotations: true}", "commonAnnotations: {component: b}\n", want("metadata:\n  name: web", "metadata:\n  annotations:\n    component: x\n  name: web", "    metadata:\n      labels", "    metadata:\n      annotations:\n        component: x\n      labels"), ""},
		"patches": {
			"patches in place and in files, with targets", "{patches: [{path: patch.yaml, target: {kind: Deployment}}, {patch: '{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, annotations: {p: q}}}', target: {name: web, labelSelector: patched=file}}, {patch: '- {op: remove, path: /spec}', target: {kind: StatefulSet}}]}", "",
			want("metadata:\n  name: web", "metadata:\n  annotations:\n    p: q\n  labels:\n    patched: file\n  name: web"), "",
		},
		"patch options":      {"a patch may change a name when it says so", "{patches: [{patch: '- {op: replace, path: /metadata/name, value: other}', target: {kind: Deployment}, options: {allowNameChange: true}}]}", "", want("  name: web\nspec", "  name: other\nspec"), ""},
		"bad patch option":   {"an option that nobody knows", "{patches: [{patch: '{}', options: {x: true}}]}", "", "", `spec.source.kustomize.patches[0]: options: "x" is neither`},
		"missing patch file": {"a file of a patch that is not there", "{patches: [{path: nope.yaml, target: {kind: Deployment}}]}", "", "", "nope.yaml"},
		"components": {
			"components", "{components: [../c/one]}", "",
			want("metadata:\n  name: web", "metadata:\n  annotations:\n    component: one\n  name: web", "    metadata:\n      labels", "    metadata:\n      annotations:\n        component: one\n      labels"), "",
		},
		"missing component":         {"one that is not there is named", "{components: [../c/one, ../c/two]}", "", "", `spec.source.kustomize.components[1]: no such directory "../c/two"`},
		"missing component ignored": {"unless it may be", "{components: [../c/two], ignoreMissingComponents: true}", "", want(), ""},
		"unknown version":           {"a version that the settings do not have", "{version: v4.0.0}", "", "", `spec.source.kustomize.version: "v4.0.0" is not a version in argocd-cm`},
		"missing resource":          {"the kustomization to change is named", "{}", "components: [../nope]\n", "", "spec.source: a/kustomization.yaml"},
		"broken":                    {"a kustomization that cannot be read", "{}", "resource: [x]\n", "", "spec.source: a/kustomization.yaml:2: resource: unknown field"},
	}
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := manifests.New().Render(t.Context(), one(t, "path: a\nkustomize: "+tt.kustomize, base(tt.base)))
			if failed(t, err, tt.fails) {
				return
			}
			if diff := cmp.Diff(tt.want, text(t, got.Objects)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

func TestBuildOptions(t *testing.T) {
	cases := map[string]struct {
		reason, options string
		problems        []string
		fails           string
	}{
		"known":      {"options that bear on nothing here", "--load-restrictor LoadRestrictionsNone --enable-helm=false", nil, ""},
		"older":      {"also by their older names", "--load_restrictor none", nil, ""},
		"noted":      {"what is not acted on is named", "--helm-command=helm3 --reorder none", []string{"spec.source.kustomize: kustomize.buildOptions of argocd-cm: --helm-command: charts are inflated in process", "spec.source.kustomize: kustomize.buildOptions of argocd-cm: --reorder: the order of objects is that of the sync"}, ""},
		"plugins":    {"programs are refused", "--enable-alpha-plugins --enable-exec", nil, "--enable-alpha-plugins: plugins of kustomize are not run"},
		"plugins no": {"unless they are switched off", "--enable-exec=false", nil, ""},
		"unknown":    {"an option that nobody knows", "--enable-magic", nil, "kustomize.buildOptions of argocd-cm: \"--enable-magic\": unknown flag"},
		"argument":   {"something that is no option", "a", nil, `unknown option "a"`},
		"restrictor": {"a value that nobody knows", "--load-restrictor=some", nil, "--load-restrictor is neither"},
	}
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			request := one(t, "path: .", repo{"kustomization.yaml": "resources: [x.yaml]\n", "x.yaml": configMap("x")})
			request.Options.Kustomize.BuildOptions = tt.options
			got := check(t, request, "ConfigMap//x", tt.fails)
			if got == nil {
				return
			}
			if diff := cmp.Diff(tt.problems, got.Problems); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestVersion(t *testing.T) {
	request := one(t, "path: .\nkustomize: {version: v5.0.0}", repo{"kustomization.yaml": "helmCharts: [{name: web}]\n"}.with(chartFiles.under("charts/web")))
	request.Options.Kustomize.Versions["v5.0.0"] = settings.KustomizeVersion{Path: "/bin/kustomize", BuildOptions: "--enable-helm"}
	got := check(t, request, "ConfigMap//release-name-web", "")
	if len(got.Problems) != 1 || !strings.Contains(got.Problems[0], "spec.source.kustomize.version") {
		t.Errorf("problems: %q", got.Problems)
	}
}

func TestRemoteBases(t *testing.T) {
	files := repo{"kustomization.yaml": "resources: [x.yaml, 'https://example.com/base?ref=v1']\n", "x.yaml": configMap("x")}
	request := one(t, "path: .", files)
	request.Options.NoRemoteBases = true
	check(t, request, "", `spec.source: kustomization.yaml: resources[1]: remote bases are not allowed: "https://example.com/base?ref=v1"`)
}
