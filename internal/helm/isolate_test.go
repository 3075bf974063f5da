package helm

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"

	"github.com/headgate-dev/headgate/internal/sandbox"
)

func TestMain(m *testing.M) {
	if _, is := sandbox.Serve(Jobs()...); !is {
		m.Run()
	}
}

// boxed is a place in a sandbox for tests.
func boxed(t *testing.T) *sandbox.Client {
	t.Helper()
	limits := sandbox.DefaultLimits()
	limits.Memory = 384 << 20
	return sandbox.New(t.Context(), sandbox.Config{Program: sandbox.Self(), Limits: limits}).For("test", t.Name())
}

// everything is a chart that uses what templates see.
var everything = map[string]string{
	"Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.2.3\nappVersion: 9.9\ntype: TYPE\nkubeVersion: '>=1.20.0-0'\n" +
		"dependencies: [{name: cache, version: 1.0.0, alias: first}, {name: cache, version: 1.0.0, alias: second, condition: second.on}]\n",
	"values.yaml":             "large: 10000000\nhalf: 0.5\nsecond: {on: SECOND}\nfirst: {size: 3}\nnested: {text: 'hello {{ .Release.Name }}'}\n",
	"files/data.txt":          "a file",
	"templates/_names.tpl":    `{{ define "web.name" }}{{ .Release.Name }}-{{ .Chart.Name }}{{ end }}`,
	"templates/NOTES.txt":     "installed {{ .Release.Name }} at revision {{ .Release.Revision }}",
	"templates/a/b/deep.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: deep}\ndata: {at: '{{ .Template.Name }}', base: '{{ .Template.BasePath }}'}\n",
	"templates/all.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: {{ include "web.name" . }}}
data:
  values: {{ .Values | toJson | quote }}
  large: "{{ .Values.large }} {{ kindOf .Values.large }} {{ typeOf .Values }} {{ add .Values.large 1 }}"
  text: {{ tpl .Values.nested.text . }}
  file: {{ .Files.Get "files/data.txt" }} {{ range $name, $_ := .Files.Glob "files/*" }}{{ $name }}{{ end }}
  release: "{{ .Release }} {{ kindOf .Release.Revision }}"
  kube: "{{ .Capabilities.KubeVersion }} {{ .Capabilities.KubeVersion.Version }} {{ .Capabilities.KubeVersion.Minor }} {{ .Capabilities.HelmVersion.Version }}"
  has: "{{ .Capabilities.APIVersions.Has "example.com/v1/Thing" }} {{ .Capabilities.APIVersions.Has "apps/v1" }}"
  chart: {{ .Chart | toJson | quote }}
  missing: "{{ .Values.nowhere }}{{ len .Subcharts }}"
  looked: "{{ lookup "v1" "Secret" "a" "b" }}"
`,
	"templates/hook.yaml":           "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hook, annotations: {helm.sh/hook: pre-install}}\n",
	"templates/empty.yaml":          "{{ if false }}nothing{{ end }}",
	"charts/cache/Chart.yaml":       "apiVersion: v2\nname: cache\nversion: 1.0.0\n",
	"charts/cache/values.yaml":      "size: 1\n",
	"charts/cache/templates/c.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Chart.Name }}-{{ .Values.size }}'}\ndata: {parent: '{{ .Chart.IsRoot }}'}\n",
	"crds/thing.yaml":               "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\n",
}

// TestIsolated compares what the sandbox makes of a chart with what Helm alone does.
func TestIsolated(t *testing.T) {
	by := boxed(t)
	for name, tt := range map[string]struct {
		reason       string
		kind, second string
		version      string
	}{
		"application": {"everything that templates see is the same", "application", "true", ""},
		"disabled":    {"a dependency that is off is not rendered", "application", "false", ""},
		"version":     {"a version with a suffix is compared without it", "application", "true", "v1.33.4-gke.1245000"},
		"library":     {"a library renders nothing but what it needs", "library", "true", ""},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{}
			for at, text := range everything {
				files[at] = strings.NewReplacer("TYPE", tt.kind, "SECOND", tt.second).Replace(text)
			}
			c := loaded(t, files)
			v, err := Compose(map[string]any{"set": int64(7), "list": []any{"a", nil, 1.5}})
			if err != nil {
				t.Fatal(err)
			}
			var got, want *releasev1.Release
			for sandboxed, into := range map[bool]**releasev1.Release{true: &got, false: &want} {
				o := TemplateOptions{Common: Common{Name: "shop", Namespace: "apps", Chart: c, Values: v, Sandbox: by}, KubeVersion: tt.version}
				*into = dryRunned(t, o, sandboxed)
			}
			shown := func(r *releasev1.Release) []any {
				return []any{r.Manifest, r.Hooks, r.Info.Notes, r.Config, templatesOf(r.Chart), r.Chart.Metadata}
			}
			if diff := cmp.Diff(shown(want), shown(got)); diff != "" {
				t.Errorf("%s (-Helm +sandbox):\n%s", tt.reason, diff)
			}
			if tt.kind == "application" && !strings.Contains(got.Manifest, "name: deep") {
				t.Errorf("the chart renders to nothing:\n%s", got.Manifest)
			}
		})
	}
}

// dryRunned renders as dryRun does, in the sandbox or by Helm alone.
func dryRunned(t *testing.T, o TemplateOptions, sandboxed bool) *releasev1.Release {
	t.Helper()
	config := action.NewConfiguration(action.ConfigurationSetLogger(slog.DiscardHandler))
	in := action.NewInstall(config)
	in.DryRunStrategy, in.ReleaseName, in.Namespace, in.SkipSchemaValidation = action.DryRunClient, o.Name, o.Namespace, true
	in.APIVersions = common.VersionSet{"example.com/v1/Thing"}
	if o.KubeVersion != "" {
		version, err := common.ParseKubeVersion(o.KubeVersion)
		if err != nil {
			t.Fatal(err)
		}
		in.KubeVersion = version
	}
	chart, err := o.Chart.load()
	if err != nil {
		t.Fatal(err)
	}
	if sandboxed {
		undo := o.isolate(t.Context(), config, chart, nil)
		defer func() {
			if err := undo(nil); err != nil {
				t.Error(err)
			}
		}()
	}
	made, err := in.RunWithContext(t.Context(), chart, o.Values.Map())
	if err != nil {
		t.Fatal(err)
	}
	return made.(*releasev1.Release)
}

// templatesOf are the templates that a release is stored with.
func templatesOf(c *chartv2.Chart) map[string]string {
	all := map[string]string{}
	for _, f := range c.Templates {
		all[c.ChartFullPath()+"/"+f.Name] = string(f.Data)
	}
	for _, d := range c.Dependencies() {
		for name, text := range templatesOf(d) {
			all[name] = text
		}
	}
	return all
}

// TestExploding has charts and schemas that would end the process, or never end themselves.
func TestExploding(t *testing.T) {
	by := boxed(t)
	quick := sandbox.DefaultLimits()
	quick.Time = 2 * time.Second
	hasty := sandbox.New(t.Context(), sandbox.Config{Program: sandbox.Self(), Limits: quick}).For("test", t.Name())
	for name, tt := range map[string]struct {
		reason string
		by     *sandbox.Client
		files  map[string]string
		cause  sandbox.Cause
		want   string
	}{
		"recursion": {"a text that is a template of itself; each level copies all templates", by, map[string]string{
			"values.yaml": "text: '{{ tpl .Values.text . }}'", "templates/a.yaml": "{{ tpl .Values.text . }}",
		}, sandbox.Memory, "rendering release apps/web with chart web@1.0.0: it used more than 384 MiB of memory"},
		"memory": {"a text of 8 GB", by, map[string]string{
			"templates/a.yaml": `{{ repeat 8000000000 "a" }}`,
		}, sandbox.Memory, "it used more than 384 MiB of memory"},
		"output": {"more objects than anything needs", by, map[string]string{
			"templates/a.yaml": `a: {{ repeat 20000000 "a" }}`,
		}, sandbox.Output, "it gave more than 16 MiB"},
		"time": {"a loop in a loop in a loop", hasty, map[string]string{
			"templates/a.yaml": `{{ range untilStep 0 100000 1 }}{{ range untilStep 0 100000 1 }}{{ range untilStep 0 100000 1 }}{{ end }}{{ end }}{{ end }}`,
		}, sandbox.Time, "it took longer than 2s"},
		"schema": {"a schema that takes time exponential in its length", hasty, map[string]string{
			"values.yaml": "a: 1", "values.schema.json": exponential(),
		}, sandbox.Time, "checking the values of chart web: it took longer than 2s"},
	} {
		t.Run(name, func(t *testing.T) {
			if raced && tt.cause == sandbox.Memory {
				t.Skip("the race detector ends a process without memory by itself")
			}
			tt.files["Chart.yaml"] = "apiVersion: v2\nname: web\nversion: 1.0.0\n"
			o := TemplateOptions{Common: Common{Name: "web", Namespace: "apps", Chart: loaded(t, tt.files), Sandbox: tt.by}}
			_, err := Template(t.Context(), o)
			var death *sandbox.Death
			if !errors.As(err, &death) || death.Cause != tt.cause || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: got %v, want %q", tt.reason, err, tt.want)
			}
		})
	}
}

// exponential is a schema whose parts each refer to the next one twice, and the last of which fails.
func exponential() string {
	var out strings.Builder
	out.WriteString(`{"$ref": "#/$defs/a", "$defs": {`)
	name := "a"
	for range 40 {
		next := name + "a"
		out.WriteString(`"` + name + `": {"anyOf": [{"$ref": "#/$defs/` + next + `"}, {"$ref": "#/$defs/` + next + `"}]},`)
		name = next
	}
	out.WriteString(`"` + name + `": {"type": "string"}}}`)
	return out.String()
}
