package steps

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/promote/plan"
)

// TestManifests has kustomizations and charts changed and rendered, in files and in directories, without anything from elsewhere.
func TestManifests(t *testing.T) {
	f := &forge{runner: &Runner{}}
	w := f.work(t, "shop")
	w.Images = []Image{{RepoURL: "ghcr.io/x/shop", Tag: "2.0"}, {RepoURL: "ghcr.io/x/cart", Digest: "sha256:ab"}}
	put(t, w, "base/kustomization.yaml", "resources: [deployment.yaml]\n")
	put(t, w, "base/deployment.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: shop}\nspec:\n  template: {spec: {containers: [{name: shop, image: ghcr.io/x/shop}]}}\n")
	put(t, w, "dev/kustomization.yaml", "# the environment of dev\nnamespace: dev\nresources: [../base]\nimages:\n- name: ghcr.io/x/shop # ours\n  digest: sha256:old\n")
	t.Run("images of the Freight", func(t *testing.T) {
		w = f.run(t, w, "kustomize-set-image", `{"path": "./dev"}`)
		want := "# the environment of dev\nnamespace: dev\nresources: [../base]\nimages:\n  - name: ghcr.io/x/shop # ours\n    newTag: \"2.0\"\n  - name: ghcr.io/x/cart\n    digest: sha256:ab\n"
		if text := get(t, w, "dev/kustomization.yaml"); text != want {
			t.Errorf("the kustomization is\n%s\nwant\n%s", text, want)
		}
	})
	t.Run("build to a directory", func(t *testing.T) {
		w = f.run(t, w, "kustomize-build", `{"path": "dev", "outPath": "out"}`)
		if text := get(t, w, "out/dev-deployment-shop.yaml"); !strings.Contains(text, "image: ghcr.io/x/shop:2.0") {
			t.Errorf("what is built is\n%s", text)
		}
		w = f.run(t, w, "kustomize-build", `{"path": "dev", "outPath": "kustomize", "outputFormat": "kustomize"}`)
		if text := get(t, w, "kustomize/dev_apps_v1_deployment_shop.yaml"); !strings.Contains(text, "namespace: dev") {
			t.Errorf("what is built is\n%s", text)
		}
	})
	t.Run("build to a file", func(t *testing.T) {
		w = f.run(t, w, "kustomize-build", `{"path": "dev", "outPath": "all.yaml"}`)
		if text := get(t, w, "all.yaml"); !strings.HasPrefix(text, "apiVersion: apps/v1") {
			t.Errorf("what is built is\n%s", text)
		}
	})
	put(t, w, "chart/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 1.0.0\ndependencies:\n  - name: redis # the cache\n    repository: https://charts.example.com\n    version: 18.0.0\n    condition: redis.enabled\n")
	put(t, w, "chart/Chart.lock", "dependencies:\n- name: redis\n  repository: https://charts.example.com\n  version: 18.0.0\ndigest: sha256:old\ngenerated: \"2024-01-01T00:00:00Z\"\n")
	t.Run("chart", func(t *testing.T) {
		w = f.run(t, w, "helm-update-chart", `{"path": "chart", "charts": [{"repository": "https://charts.example.com", "name": "redis", "version": "18.1.0"}]}`)
		if text := get(t, w, "chart/Chart.yaml"); !strings.Contains(text, "name: redis # the cache") || !strings.Contains(text, "version: 18.1.0") || strings.Contains(text, "18.0.0") {
			t.Errorf("the chart is\n%s", text)
		}
		// What Helm 3 and 4 write for these dependencies.
		if text := get(t, w, "chart/Chart.lock"); !strings.Contains(text, "version: 18.1.0") || !strings.Contains(text, "digest: sha256:"+lockDigest) {
			t.Errorf("the lock is\n%s", text)
		}
	})
	put(t, w, "plain/Chart.yaml", "apiVersion: v2\nname: plain\nversion: 1.0.0\n")
	put(t, w, "plain/values.yaml", "image: {tag: \"1\"}\nlevel: info\n")
	put(t, w, "plain/templates/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}-a, namespace: {{ .Release.Namespace }}}\ndata: {tag: {{ .Values.image.tag | quote }}, level: {{ .Values.level }}}\n")
	put(t, w, "plain/templates/b.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")
	put(t, w, "plain/templates/tests/t.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: t, annotations: {helm.sh/hook: test}}\n")
	put(t, w, "dev.yaml", "level: debug\n")
	t.Run("template to a file", func(t *testing.T) {
		w = f.run(t, w, "helm-template", `{"path": "plain", "outPath": "plain.yaml", "releaseName": "shop", "namespace": "dev", "valuesFiles": ["./dev.yaml"], "setValues": [{"key": "image.tag", "value": "2"}], "skipTests": true}`)
		text := get(t, w, "plain.yaml")
		for _, part := range []string{"name: shop-a, namespace: dev", `tag: "2", level: debug`, "name: c"} {
			if !strings.Contains(text, part) {
				t.Errorf("there is no %q in\n%s", part, text)
			}
		}
		if strings.Contains(text, "kind: Pod") {
			t.Error("the test of the chart is among the manifests")
		}
	})
	t.Run("template to a directory", func(t *testing.T) {
		w = f.run(t, w, "helm-template", `{"path": "plain", "outPath": "rendered", "releaseName": "shop"}`)
		if text := get(t, w, "rendered/plain/templates/b.yaml"); strings.Count(text, "kind: ConfigMap") != 2 {
			t.Errorf("the file is\n%s", text)
		}
		w = f.run(t, w, "helm-template", `{"path": "plain", "outPath": "flat", "releaseName": "shop", "outLayout": "flat"}`)
		if text := get(t, w, "flat/t.yaml"); !strings.Contains(text, "kind: Pod") {
			t.Errorf("the file is\n%s", text)
		}
		w = f.run(t, w, "helm-template", `{"path": "plain", "outPath": "named", "releaseName": "shop", "useReleaseName": true}`)
		_ = get(t, w, "named/shop/templates/a.yaml")
	})
}

// lockDigest is SHA-256 of the dependencies in TestManifests, as they are declared and as they are locked, in the JSON of Helm.
const lockDigest = "caaccd1c36c4272a86c2cb4948355e997ec95ed966d7328bc50a0845a06c92bd"

// TestManifestsRefused names what cannot be changed or rendered, and writes nothing of it.
func TestManifestsRefused(t *testing.T) {
	f := &forge{runner: &Runner{}}
	for name, c := range map[string]struct {
		put          map[string]string
		images       []Image
		uses, config string
		want         string
	}{
		"No kustomization":       {uses: "kustomize-set-image", config: `{"path": "dev", "images": [{"image": "a", "tag": "1"}]}`, want: `path: there is no kustomization in "dev"`},
		"No images":              {put: map[string]string{"kustomization.yaml": ""}, uses: "kustomize-set-image", config: `{"path": "."}`, want: "images: there are none"},
		"Ambiguous images":       {images: []Image{{RepoURL: "a", Tag: "1"}, {RepoURL: "a", Tag: "2"}}, uses: "kustomize-set-image", config: `{"path": "."}`, want: "several images of a"},
		"Tag and digest":         {uses: "kustomize-set-image", config: `{"path": ".", "images": [{"image": "a", "tag": "1", "digest": "d"}]}`, want: "images[0]: only one of"},
		"Not an object":          {put: map[string]string{"kustomization.yaml": "- a\n"}, uses: "kustomize-set-image", config: `{"path": ".", "images": [{"image": "a", "tag": "1"}]}`, want: "it is not an object"},
		"Remote base":            {put: map[string]string{"kustomization.yaml": "resources: [\"https://example.com/base\"]\n"}, uses: "kustomize-build", config: `{"path": ".", "outPath": "out"}`, want: "https://example.com/base"},
		"Outside":                {put: map[string]string{"dev/kustomization.yaml": "resources: [../../../../../etc]\n"}, uses: "kustomize-build", config: `{"path": "dev", "outPath": "out"}`, want: `building "dev"`},
		"Charts of kustomize":    {uses: "kustomize-build", config: `{"path": "dev", "outPath": "out", "plugin": {"helm": {"kubeVersion": "1.30"}}}`, want: "plugin: charts in kustomizations"},
		"Unknown output format":  {uses: "kustomize-build", config: `{"path": "dev", "outPath": "out", "outputFormat": "x"}`, want: "outputFormat"},
		"No dependency":          {put: map[string]string{"Chart.yaml": "apiVersion: v2\nname: a\nversion: 1.0.0\n"}, uses: "helm-update-chart", config: `{"path": ".", "charts": [{"repository": "r", "name": "n", "version": "1"}]}`, want: `there is no dependency "n" of r`},
		"Ranges":                 {uses: "helm-update-chart", config: `{"path": "."}`, want: "charts: there are none"},
		"Committed dependency":   {put: map[string]string{"Chart.yaml": "apiVersion: v2\nname: a\nversion: 1.0.0\ndependencies: [{name: n, repository: r, version: 1.0.0}]\n", "charts/n-1.0.0.tgz": "x"}, uses: "helm-update-chart", config: `{"path": ".", "charts": [{"repository": "r", "name": "n", "version": "2.0.0"}]}`, want: `"charts/n-1.0.0.tgz" is committed`},
		"Missing dependency":     {put: map[string]string{"c/Chart.yaml": "apiVersion: v2\nname: a\nversion: 1.0.0\ndependencies: [{name: n, repository: 'https://charts.example.com', version: 1.0.0}]\n"}, uses: "helm-template", config: `{"path": "c", "outPath": "out", "buildDependencies": true}`, want: "commit it there"},
		"Template that fails":    {put: map[string]string{"c/Chart.yaml": "apiVersion: v2\nname: a\nversion: 1.0.0\n", "c/templates/a.yaml": "{{ fail \"no\" }}"}, uses: "helm-template", config: `{"path": "c", "outPath": "out"}`, want: "templates/a.yaml"},
		"Values that are no map": {put: map[string]string{"c/Chart.yaml": "apiVersion: v2\nname: a\nversion: 1.0.0\n", "v.yaml": "- a\n"}, uses: "helm-template", config: `{"path": "c", "outPath": "out", "valuesFiles": ["v.yaml"]}`, want: `valuesFiles[0]: "v.yaml"`},
		"Out of the directory":   {put: map[string]string{"c/Chart.yaml": "apiVersion: v2\nname: a\nversion: 1.0.0\n"}, uses: "helm-template", config: `{"path": "c", "outPath": "../../out.yaml"}`, want: "outPath"},
	} {
		t.Run(name, func(t *testing.T) {
			w := f.work(t, "shop")
			w.Images = c.images
			for file, content := range c.put {
				put(t, w, file, content)
			}
			result := f.try(t, w, c.uses, c.config)
			if result.Status != plan.StepFailed || !result.Terminal || !strings.Contains(result.Message, c.want) {
				t.Errorf("the step is %s: %s; want %q", result.Status, result.Message, c.want)
			}
			if entries, err := os.ReadDir(filepath.Join(w.Dir, files, "out")); err == nil && len(entries) > 0 {
				t.Errorf("it wrote %v", entries)
			}
		})
	}
}
