package inspect_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/cli/inspect"
	"github.com/headgate-dev/headgate/internal/dialects"
)

const deployment = `# two lines
# before it
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {a: b}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replica: 2
  template:
    spec:
      containers:
      - name: web
        image: registry:5000/web
`

// headgateLint runs the command in a directory with files.
func headgateLint(t *testing.T, files map[string]string, args ...string) (out, errs string, err error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	var stdout, stderr bytes.Buffer
	g := &console.Globals{IO: console.IO{In: strings.NewReader(deployment), Out: &stdout, Err: &stderr}, Catalogue: dialects.All()}
	cmd := inspect.NewLint(g)
	cmd.SetArgs(args)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	err = cmd.ExecuteContext(t.Context())
	return stdout.String(), stderr.String(), err
}

func TestLint(t *testing.T) {
	flux := map[string]string{
		"clusters/x/apps.yaml": "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\n" +
			"spec: {interval: 1h, prune: true, path: ./apps, targetNamespace: shop, sourceRef: {kind: GitRepository, name: flux-system}}\n",
		"apps/kustomization.yaml": "resources: [web.yaml]\nnamePrefix: ''\nconfigMapGenerator: [{name: generated, literals: []}]\n",
		"apps/web.yaml":           deployment,
	}
	argo := map[string]string{
		"root.yaml":  "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web, namespace: argocd}\nspec: {project: default, destination: {name: in-cluster, namespace: shop}, source: {repoURL: https://example.com/r.git, path: web}}\n",
		"web/a.yaml": deployment,
	}
	packages := map[string]string{
		"web.yaml":                         "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web, namespace: argocd}\nspec: {project: default, destination: {server: https://kubernetes.default.svc, namespace: shop}, source: {repoURL: cnoe://web/manifests, path: ., targetRevision: HEAD}}\n",
		"web/manifests/kustomization.yaml": "resources: [web.yaml]\n",
		"web/manifests/web.yaml":           deployment,
	}
	overlays := map[string]string{
		"base/kustomization.yaml":  "resources: [web.yaml]\n",
		"base/web.yaml":            deployment,
		"prod/kustomization.yaml":  "resources: [../base]\npatches: [{path: patch.yaml}]\n",
		"prod/patch.yaml":          "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 3}\n",
		"part/kustomization.yaml":  "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches: []\n",
		"chart/Chart.yaml":         "name: x\nversion: 1.0.0\n",
		"chart/templates/bad.yaml": "{{ nothing }}",
	}
	const tag = "error: Deployment/web: spec.template.spec.containers[0].image: has no tag"
	cases := map[string]struct {
		files map[string]string
		args  []string
		want  []string
		not   string
		clean bool
		fails string
	}{
		"a file":           {files: map[string]string{"a.yaml": deployment}, args: []string{"a.yaml"}, want: []string{"a.yaml:17: " + tag, "a.yaml:16: warning: "}, not: "info"},
		"the input":        {args: []string{"-"}, want: []string{"-:17: " + tag}},
		"a directory":      {files: map[string]string{"d/a.yaml": deployment, "d/values.yaml": "a: b", "d/.git/x.yaml": deployment}, args: []string{"d"}, want: []string{"d/a.yaml:17: " + tag}, not: "values"},
		"one rule":         {files: map[string]string{"a.yaml": deployment}, args: []string{"a.yaml", "--rule", "empty-config"}, clean: true},
		"a group less":     {files: map[string]string{"a.yaml": deployment}, args: []string{"a.yaml", "--disable", "security", "--severity", "image-tag=info"}, clean: true},
		"all":              {files: map[string]string{"a.yaml": deployment}, args: []string{"a.yaml", "--severity", "info"}, want: []string{"a.yaml:5: info: ConfigMap/c: metadata.labels", "a.yaml:11: info: Deployment/web: spec.replicas"}},
		"schemas":          {files: map[string]string{"a.yaml": deployment}, args: []string{"a.yaml", "--schemas", "--rule", "labels"}, want: []string{`a.yaml:12: error: Deployment/web: spec.replica: unknown field; did you mean "replicas"?`}},
		"a workload":       {files: map[string]string{"a.yaml": strings.Replace(deployment, "apps/v1\nkind: Deployment", "argoproj.io/v1alpha1\nkind: Rollout", 1)}, args: []string{"a.yaml", "--workload", "argoproj.io/Rollout"}, want: []string{"a.yaml:17: error: Rollout/web"}},
		"no YAML":          {files: map[string]string{"a.yaml": "a: b\nc: [\n"}, args: []string{"a.yaml"}, want: []string{"a.yaml:2: error: it is not YAML: did not find expected node content (lint/unit)"}},
		"kustomizations":   {files: overlays, args: []string{"."}, want: []string{"base/web.yaml:17: " + tag, "[prod]"}, not: "part"},
		"a repository":     {files: flux, args: []string{"."}, want: []string{"apps/web.yaml:17: error: Deployment/shop/web", "[Kustomization/flux-system/apps]", "clusters/x/apps.yaml:", "ConfigMap/shop/generated"}},
		"Applications":     {files: argo, args: []string{"."}, want: []string{"web/a.yaml:17: " + tag, "[Application/argocd/web]"}},
		"packages":         {files: packages, args: []string{"."}, want: []string{"web/manifests/web.yaml:17: " + tag, "[Application/argocd/web]"}},
		"for GitHub":       {files: map[string]string{"a.yaml": deployment}, args: []string{"a.yaml", "-o", "github"}, want: []string{"::error file=a.yaml,line=17,title=lint/image-tag::Deployment/web: spec"}},
		"an unknown rule":  {args: []string{"-", "--rule", "image-tags"}, fails: "did you mean image-tag?"},
		"an unknown level": {args: []string{"-", "--severity", "bad"}, fails: `"bad" is not error, warning or info`},
		"a version":        {args: []string{"-", "--schemas=1.2"}, fails: `there are none of Kubernetes "1.2"`},
		"a format":         {args: []string{"-", "-o", "xml"}, fails: `unknown format "xml"`},
		"no such path":     {args: []string{"nowhere"}, fails: "nowhere"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			out, errs, err := headgateLint(t, c.files, c.args...)
			switch {
			case c.fails != "":
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("%v, want %s", err, c.fails)
				}
				return
			case (err == nil) != c.clean || err != nil && !errors.Is(err, console.ErrNo):
				t.Errorf("error %v", err)
			}
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("%q is not in\n%s%s", want, out, errs)
				}
			}
			if c.not != "" && strings.Contains(out, c.not) {
				t.Errorf("%q is in\n%s", c.not, out)
			}
		})
	}
}

// TestLintForPrograms reads what programs read.
func TestLintForPrograms(t *testing.T) {
	files := map[string]string{"a.yaml": deployment}
	out, _, _ := headgateLint(t, files, "a.yaml", "-o", "json", "--rule", "image-tag")
	var findings []map[string]any
	if err := json.Unmarshal([]byte(out), &findings); err != nil || len(findings) != 1 || findings[0]["line"] != 17. || findings[0]["rule"] != "lint/image-tag" {
		t.Errorf("%v\n%s", err, out)
	}
	out, _, _ = headgateLint(t, files, "a.yaml", "-o", "json", "--rule", "empty-config")
	if strings.TrimSpace(out) != "[]" {
		t.Errorf("%s", out)
	}
	out, _, _ = headgateLint(t, files, "a.yaml", "-o", "sarif", "--rule", "image-tag")
	for _, want := range []string{`"version": "2.1.0"`, `"ruleId": "lint/image-tag"`, `"uri": "a.yaml"`, `"startLine": 17`, `"level": "error"`, `"id": "lint/labels"`} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is not in\n%s", want, out)
		}
	}
}
