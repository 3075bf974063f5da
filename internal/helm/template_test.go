package helm

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"log"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/release/common"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"

	"github.com/headgate-dev/headgate/internal/engine"
)

// simple is a chart with a hook, a test, a CRD and a list.
func simple(t *testing.T) *Chart {
	return loaded(t, map[string]string{
		"Chart.yaml":  metadata,
		"values.yaml": "name: web\ntable: {a: 1}\n",
		"templates/main.yaml": `apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: "{{ .Values.name }}"}, data: {v: "{{ .Chart.Version }}"}}
---
apiVersion: v1
kind: Namespace
metadata: {name: "{{ .Release.Namespace }}-extra"}
`,
		"templates/hook.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: hook, annotations: {helm.sh/hook: "pre-install,post-upgrade", helm.sh/hook-weight: "3"}}
`,
		"templates/NOTES.txt": "Hello {{ .Release.Name }}",
		"crds/crd.yaml":       "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\n",
	})
}

func TestTemplate(t *testing.T) {
	labels := map[string]string{"helm.toolkit.fluxcd.io/name": "r"}
	for name, tt := range map[string]struct {
		strategy PostRenderStrategy
		hook     map[string]string
	}{
		"combined": {Combined, labels},
		"default":  {"", labels},
		"separate": {Separate, labels},
		"nohooks":  {NoHooks, nil},
	} {
		t.Run(name, func(t *testing.T) {
			step := func(m []byte) ([]byte, error) { return bytes.ReplaceAll(m, []byte("1.2.3"), []byte("patched")), nil }
			got, err := Template(t.Context(), TemplateOptions{Common: Common{
				Name: "r", Namespace: "apps", Chart: simple(t),
				PostRender: PostRender{Labels: labels, Strategy: tt.strategy, Steps: []func([]byte) ([]byte, error){step}},
			}})
			if err != nil {
				t.Fatal(err)
			}
			var objects []string
			for _, o := range got.Objects {
				objects = append(objects, o.GetKind()+"/"+o.GetName())
				if diff := cmp.Diff(labels, o.GetLabels()); diff != "" {
					t.Errorf("%s: %s", o.GetName(), diff)
				}
			}
			if diff := cmp.Diff([]string{"Namespace/apps-extra", "ConfigMap/web"}, objects); diff != "" {
				t.Error(diff)
			}
			if v, _ := (engine.Pointer{"data", "v"}).Lookup(got.Objects[1].Object); v != "patched" {
				t.Errorf("the step had no part: %v", v)
			}
			if len(got.Hooks) != 1 || len(got.CRDs) != 1 || got.Notes != "Hello r" {
				t.Fatalf("hooks %v, CRDs %v, notes %q", got.Hooks, got.CRDs, got.Notes)
			}
			hook := got.Hooks[0]
			if diff := cmp.Diff([]any{[]string{"pre-install", "post-upgrade"}, 3, tt.hook}, []any{hook.Events, hook.Weight, hook.Object.GetLabels()}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTemplateErrors(t *testing.T) {
	v, err := Compose(nil, Layer{Secret: true, Data: []byte("password: hunter2")})
	if err != nil {
		t.Fatal(err)
	}
	c := loaded(t, map[string]string{"Chart.yaml": metadata, "templates/a.yaml": `{{ fail (print "no good: " .Values.password) }}`})
	_, err = Template(t.Context(), TemplateOptions{Common: Common{Name: "r", Namespace: "apps", Chart: c, Values: v}})
	if err == nil || !strings.Contains(err.Error(), "templates/a.yaml") || !strings.Contains(err.Error(), "release apps/r with chart web@1.2.3") {
		t.Fatalf("the error does not say where: %v", err)
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the error quotes a secret: %v", err)
	}
	c = loaded(t, map[string]string{"Chart.yaml": metadata, "templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, labels: {version: 2}}\n"})
	_, err = Template(t.Context(), TemplateOptions{Common: Common{Name: "r", Namespace: "apps", Chart: c}})
	if want := `ConfigMap/x: metadata.labels: the value of "version" is not a string; quote it`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a label that is a number: got %v, want %q", err, want)
	}
}

// TestQuiet renders what Helm warns about to the standard loggers, with values, and hears nothing;
// others are heard.
func TestQuiet(t *testing.T) {
	setUp()
	var heard bytes.Buffer
	was := log.Writer().(deaf)
	log.SetOutput(deaf{&heard})
	t.Cleanup(func() { log.SetOutput(was) })
	v, err := Compose(nil, Layer{Data: []byte("table: {a: {b: hunter2}}")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Template(t.Context(), TemplateOptions{Common: Common{Name: "r", Namespace: "apps", Chart: simple(t), Values: v}}); err != nil {
		t.Fatal(err)
	}
	if heard.Len() > 0 {
		t.Errorf("Helm talks: %s", &heard)
	}
	log.Print("one")
	slog.Warn("two")
	if got := heard.String(); !strings.Contains(got, "one") || !strings.Contains(got, "two") {
		t.Errorf("others are not heard: %q", got)
	}
}

func TestReleaseName(t *testing.T) {
	long := strings.Repeat("a", 60)
	for name, want := range map[string]string{
		"short": "short", long[:53]: long[:53],
		// sha256 of sixty times a begins with these digits.
		long: long[:40] + "-11ee391211c6",
	} {
		if got := ReleaseName(name); got != want {
			t.Errorf("%s becomes %s, not %s", name, got, want)
		}
	}
}

// TestReleaseDigest takes the digest over the JSON that helm-controller writes of a release.
func TestReleaseDigest(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	r := &releasev1.Release{
		Name: "web", Namespace: "apps", Version: 2, Manifest: "m", Config: map[string]any{"a": 1},
		Info:  &releasev1.Info{FirstDeployed: noon, LastDeployed: noon, Status: common.StatusDeployed, Description: "d"},
		Chart: &chartv2.Chart{Metadata: &chartv2.Metadata{Name: "web", Version: "1.0.0"}, Values: map[string]any{"not": "counted"}},
		Hooks: []*releasev1.Hook{
			{Name: "t", Events: []releasev1.HookEvent{releasev1.HookTest}},
			{Name: "h", Events: []releasev1.HookEvent{releasev1.HookPreInstall}},
		},
	}
	const written = `{"name":"web","version":2,"info":{"first_deployed":"2026-01-01T12:00:00Z","last_deployed":"2026-01-01T12:00:00Z",` +
		`"description":"d","status":"deployed"},"chartMetadata":{"name":"web","version":"1.0.0"},"config":{"a":1},"manifest":"m",` +
		`"hooks":[{"name":"h","events":["pre-install"],"last_run":{"phase":""}}],"namespace":"apps"}` + "\n"
	if got := digestOf(r, ""); got != sum(written) {
		t.Errorf("it is %s, not %s", got, sum(written))
	}
	tested := *r
	tested.Hooks = r.Hooks[1:]
	if digestOf(&tested, "") != digestOf(r, "") {
		t.Error("tests count")
	}
	if digestOf(r, "sha256:x") == digestOf(r, "") {
		t.Error("the artifact does not count")
	}
}

func sum(text string) string {
	hash := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(hash[:])
}
