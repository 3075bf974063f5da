package helm

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestText(t *testing.T) {
	cases := map[string]struct {
		reason    string
		common    Common
		skipTests bool
		want      []string
	}{
		"all":       {"definitions, objects and hooks", Common{}, false, []string{"web/crds/crd.yaml", "web/templates/main.yaml", "web/templates/main.yaml", "web/templates/test.yaml", "web/templates/hook.yaml"}},
		"no tests":  {"tests may be left out", Common{}, true, []string{"web/crds/crd.yaml", "web/templates/main.yaml", "web/templates/main.yaml", "web/templates/hook.yaml"}},
		"no others": {"so may definitions and hooks", Common{CRDs: SkipCRDs, DisableHooks: true}, false, []string{"web/templates/main.yaml", "web/templates/main.yaml"}},
	}
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			o := TemplateOptions{Common: tt.common}
			o.Name, o.Namespace, o.Chart = "r", "apps", loaded(t, map[string]string{
				"Chart.yaml": metadata, "values.yaml": "name: web\n",
				"templates/main.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: n}\n",
				"templates/hook.yaml": "apiVersion: batch/v1\nkind: Job\nmetadata: {name: hook, annotations: {helm.sh/hook: pre-install}}\n",
				"templates/test.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: try, annotations: {helm.sh/hook: test}}\n",
				"crds/crd.yaml":       "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\n",
			})
			text, err := Text(t.Context(), o, tt.skipTests)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for line := range strings.Lines(text) {
				if from, is := strings.CutPrefix(line, "# Source: "); is {
					got = append(got, strings.TrimSpace(from))
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

func TestWith(t *testing.T) {
	base, err := Compose(map[string]any{"a": map[string]any{"b": "old"}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := base.With(
		Parameter{Name: "f", Value: "x, y\n", Kind: SetFile}, Parameter{Name: "a.b", Value: "1", Kind: SetString},
		Parameter{Name: "a.b", Value: "2", Kind: Set}, Parameter{Name: "n", Value: "3", Kind: Set},
	)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"a": map[string]any{"b": "1"}, "f": "x, y\n", "n": int64(3)}
	if diff := cmp.Diff(want, got.Map()); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"a": map[string]any{"b": "old"}}, base.Map()); diff != "" {
		t.Errorf("what was given has changed:\n%s", diff)
	}
	if _, err := base.With(Parameter{Name: "a[x]", Value: "hunter22", Kind: Set}); err == nil || strings.Contains(err.Error(), "hunter22") {
		t.Errorf("error %v", err)
	}
}

func TestTemplatedName(t *testing.T) {
	if name, err := TemplatedName(`{{ "A" | lower }}-x`); name != "a-x" || err != nil {
		t.Error(name, err)
	}
	if _, err := TemplatedName("{{"); err == nil {
		t.Error("a template that is none is no error")
	}
}
