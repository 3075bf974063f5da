package expressions

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
)

const repo = "gitea.example.org:8443/admin/web"

func scope() *Scope {
	origin := v1alpha1.FreightOrigin{Kind: v1alpha1.FreightFromWarehouse, Name: "web"}
	other := v1alpha1.FreightOrigin{Kind: v1alpha1.FreightFromWarehouse, Name: "other"}
	target := v1alpha1.FreightReference{
		Name: "0123456789", Origin: origin,
		Images:  []v1alpha1.Image{{RepoURL: repo, Tag: "79", Digest: "sha256:aa"}, {RepoURL: "both", Tag: "1"}},
		Commits: []v1alpha1.GitCommit{{RepoURL: "https://git.example.org/r", ID: "c0ffee"}},
		Charts:  []v1alpha1.Chart{{RepoURL: "https://charts.example.org", Name: "web", Version: "1.2.3"}},
	}
	return &Scope{
		Project: "shop", Stage: "dev", Promotion: "p", Actor: "ada", Rollback: true, Target: target, TargetAlias: "lucky-otter", Alias: "task-1::b",
		Freight: []v1alpha1.FreightReference{target, {Name: "f", Origin: other, Images: []v1alpha1.Image{{RepoURL: "both", Tag: "2"}}}},
		Vars:    map[string]any{"n": 3.0, "branch": "main"},
		Outputs: map[string]any{"task-1::a": map[string]any{"commit": "abc"}, "clone": map[string]any{"commits": map[string]any{"./repo": "def"}}},
		Steps: []v1alpha1.StepExecutionMetadata{
			{Alias: "task-1::a", Status: "Failed", FinishedAt: &metav1.Time{}, ContinueOnError: true}, {Alias: "clone", Status: "Succeeded", FinishedAt: &metav1.Time{}},
		},
		Read: func(kind Kind, name string) (map[string]any, error) {
			switch name {
			case "none":
				return nil, errors.New("not permitted")
			case "missing":
				return nil, fmt.Errorf("%w in namespace %q", ErrNone, "shop")
			}
			return map[string]any{"key": string(kind) + " " + name}, nil
		},
	}
}

func TestConfig(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		in     any
		want   any
	}{
		"Plain":       {"text without expressions stays, also if it is a number", "42", "42"},
		"Embedded":    {"within other text, a value is text", "web:${{ imageFrom(\"" + repo + "\").Tag }}", "web:79"},
		"Number":      {"alone, what is a number is one", "${{ imageFrom(\"" + repo + "\").Tag }}", 79.0},
		"Quoted":      {"unless it is quoted", "${{ quote(imageFrom(\"" + repo + "\").Tag) }}", "79"},
		"Bool":        {"so it is with true", "${{ 1 == 1 }}", true},
		"QuotedBool":  {"and its text", "${{ quote(true) }}", "true"},
		"One":         {"one is a number before it is true", "${{ '1' }}", 1.0},
		"JSON":        {"a list", "${{ [1, 'a'] }}", []any{1.0, "a"}},
		"Object":      {"an object", "${{ {a: vars.n} }}", map[string]any{"a": 3.0}},
		"Infinity":    {"JSON has no infinity", "${{ 'inf' }}", "inf"},
		"Percent":     {"the other delimiters", "a ${% vars.branch %} b ${{ vars.branch }}", "a main b main"},
		"Newline":     {"a newline at the end counts only in text", "${{ vars.n }}\n", 3.0},
		"NewlineText": {"where it stays", "${{ vars.branch }}\n", "main\n"},
		"Missing":     {"a variable that is not there", "${{ vars.none }}", nil},
		"Context":     {"the context", "${{ ctx.project }}/${{ ctx.stage }}/${{ ctx.promotion }}/${{ ctx.targetFreight.name }}/${{ ctx.targetFreight.origin.name }}/${{ ctx.meta.promotion.actor }}", "shop/dev/p/0123456789/web/ada"},
		"More":        {"more of the context", "${{ ctx.meta.promotion.rollback ? 'back to' : '' }} ${{ ctx.targetFreight.alias }} ${{ ctx['meta'].step.alias }}${{ ctx.uiBaseUrl }}", "back to lucky-otter task-1::b"},
		"Whole":       {"the context as a whole", "${{ quote(ctx.targetFreight) }}", `{"name":"0123456789","alias":"lucky-otter","origin":{"kind":"Warehouse","name":"web"}}`},
		"NoConfigMap": {"a ConfigMap that does not exist is empty", "${{ configMap('missing').key }}${{ len(sharedConfigMap('missing')) }}", 0.0},
		"NoSecret":    {"and so is a Secret", "x${{ secret('missing', 'key') }}${{ sharedSecret('missing').key }}", "x"},
		"NoKey":       {"and a key that is not in one", "${{ configMap('c').none }}${{ secret('s', 'none') }}", ""},
		"Outputs":     {"outputs of steps", "${{ outputs.clone.commits['./repo'] }}-x", "def-x"},
		"Task":        {"outputs in the same task", "${{ task.outputs.a.commit }}", "abc"},
		"Commit":      {"a commit", "${{ commitFrom('https://git.example.org/r').ID }}", "c0ffee"},
		"Chart":       {"a chart", "${{ chartFrom('https://charts.example.org', 'web').Version }}", "1.2.3"},
		"Warehouse":   {"of two, the one that is named", "${{ imageFrom('both', warehouse('other')).Tag }}!", "2!"},
		"ConfigMap":   {"data of a ConfigMap", "${{ configMap('c').key }}", "ConfigMap c"},
		"Secret":      {"one value of a Secret", "${{ secret('s', 'key') }}", "Secret s"},
		"Metadata":    {"metadata", "${{ freightMetadata('f', 'key') }}/${{ stageMetadata('x').key }}", "metadata of Freight f/metadata of Stage x"},
		"Status":      {"how steps went", "${{ status('a') }}/${{ status('clone') }}/${{ status('z') }}/${{ success() }}/${{ failure() }}/${{ always() }}", "Failed/Succeeded//true/false/true"},
		"StepMetas":   {"what became of them", "${{ stepMetas.clone.status }}", "Succeeded"},
		"SemverDiff":  {"versions", "${{ semverDiff('1.2.3', '1.3.0') }} ${{ semverDiff('1.0.0', '2.0.0') }} ${{ semverDiff('1.0.0', '1.0.1') }} ${{ semverDiff('1.0.0+a', '1.0.0+b') }} ${{ semverDiff('1.0.0', '1.0.0') }} ${{ semverDiff('x', '1.0.0') }}", "Minor Major Patch Metadata None Incomparable"},
		"SemverParse": {"parts of a version", "v${{ semverParse('1.2.3').Minor() }}", "v2"},
		"YAML":        {"as YAML", "${{ asYAML({a: 1}) }}", "a: 1\n"},
		"AsJSON":      {"as JSON, as text", "${{ asJSON([1]) }}", "[\n  1\n]\n"},
		"Nested":      {"in lists and objects", map[string]any{"a": []any{"${{ vars.n }}", 7.0, nil}}, map[string]any{"a": []any{3.0, 7.0, nil}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Config(v1alpha1.Config{"x": tc.in}, scope())
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got["x"]); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestConfigErrors(t *testing.T) {
	for in, want := range map[string]string{
		"${{ vars.n":       "no }} at its end",
		"${{ }}":           "empty",
		"${{ nothing() }}": "nothing",
		"${{ imageFrom('example.org/none').Tag }}":    "not in the Freight",
		"${{ imageFrom('both').Tag }}":                "warehouse()",
		"${{ imageFrom(1) }}":                         "has to be a string",
		"${{ secret('none') }}":                       "not permitted",
		"${{ stageMetadata('missing').key }}":         "there is none",
		"${{ ctx.none }}":                             "no field none",
		"${{ ctx.meta.promotion.roleback ?? false }}": "no field roleback",
		"${{ ctx['targetFreight']['nam' + 'es'] }}":   "undefined",
		"${{ secret() }}":                             "takes 1 to 2",
		"${{ semverParse('x') }}":                     "emantic",
		"${{ repeat('a', 999999999) }}":               "bytes",
		"${{ len(map(1..99999, map(1..99999, 1))) }}": "",
		strings.Repeat("${{ 1 }}", maxExpressions+1):  "more than",
		"${{ repeat('a', 2000000) }}":                 "more than",
	} {
		_, err := Config(v1alpha1.Config{"x": map[string]any{"y": []any{in}}}, scope())
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "config.x: y: [0]: ") {
			t.Errorf("%.60s: the error is %v, want %q in it", in, err, want)
		}
	}
}

func TestVars(t *testing.T) {
	got, err := Vars([]v1alpha1.ExpressionVariable{{Name: "a", Value: "${{ vars.branch }}-x"}, {Name: "branch", Value: "${{ vars.a }}-y"}, {Name: "n", Value: "7"}}, scope())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"a": "main-x", "branch": "main-x-y", "n": "7"}, got); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
	s := scope()
	if _, err := Vars([]v1alpha1.ExpressionVariable{{Name: "a", Value: "${{"}}, s); err == nil || !strings.Contains(err.Error(), "a: ") {
		t.Errorf("the error does not name the variable: %v", err)
	}
	if len(s.Vars) != 2 {
		t.Errorf("the scope changed: %v", s.Vars)
	}
}

func TestRuns(t *testing.T) {
	failed := func(s *Scope) {
		s.Steps = []v1alpha1.StepExecutionMetadata{{Alias: "x", Status: "Errored", FinishedAt: &metav1.Time{}}}
	}
	for name, tc := range map[string]struct {
		reason string
		when   string
		change func(*Scope)
		want   bool
		fails  string
	}{
		"Usually":   {reason: "a step runs", want: true},
		"AfterFail": {reason: "unless one before it failed", change: failed},
		"Always":    {reason: "or it says so", when: "${{ always() }}", change: failed, want: true},
		"OnFailure": {reason: "for what cleans up", when: "${{ failure() }}", change: failed, want: true},
		"NoFailure": {reason: "which is not needed", when: "${{ failure() }}"},
		"Retrying":  {reason: "one that is tried again has not failed", want: true, change: func(s *Scope) { failed(s); s.Steps[0].FinishedAt = nil }},
		"NoBool":    {reason: "a condition is true or false", when: "${{ 7 }}", fails: "true or false"},
		"Broken":    {reason: "and can be read", when: "${{ ( }}", fails: "if: "},
	} {
		t.Run(name, func(t *testing.T) {
			s := scope()
			if tc.change != nil {
				tc.change(s)
			}
			got, err := Runs(v1alpha1.PromotionStep{If: tc.when}, s)
			if got != tc.want || (err != nil) != (tc.fails != "") || err != nil && !strings.Contains(err.Error(), tc.fails) {
				t.Errorf("%s: %v %v", tc.reason, got, err)
			}
		})
	}
}

func FuzzConfig(f *testing.F) {
	for _, seed := range []string{"${{ vars.n }}", "${% 1 %}${{", "${{ quote(outputs) }}", "${{ imageFrom('both', warehouse('x')) }}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got, err := Config(v1alpha1.Config{"x": in}, scope())
		if err == nil && !strings.Contains(in, "${{") && !strings.Contains(in, "${%") && got["x"] != in {
			t.Errorf("%q became %v", in, got["x"])
		}
	})
}
