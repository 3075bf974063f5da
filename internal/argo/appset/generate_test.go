package appset

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/source"
)

// two is a generator of two elements.
const two = `generators: [{list: {elements: [{name: one, path: p/one}, {name: two, path: p/two}]}}]`

func TestApplication(t *testing.T) {
	const source = `{repoURL: https://example.com/repo, path: x}`
	cases := map[string]struct{ reason, spec, want string }{
		"Whole": {
			reason: "keys, texts and fields that nobody knows; the namespace is that of the set",
			spec: `
goTemplate: true
generators: [{list: {elements: [{name: one, path: p}]}}]
template:
  metadata: {name: 'x-{{.name}}', namespace: elsewhere, labels: {'{{.name}}/l': v, num: '{{len .name}}'}, annotations: {a: '{{.path}}'}}
  spec:
    project: '{{.name}}'
    source: {repoURL: r, path: '{{.path}}', helm: {valuesObject: {num: 1, deep: [{'{{.name}}': '{{.path}}'}]}}, futureField: '{{.name}}'}
    destination: {name: '{{.name}}'}
    syncPolicy: {automated: {prune: true}, retry: {limit: 3}}`,
			want: `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: x-one, namespace: argocd, labels: {one/l: v, num: "3"}, annotations: {a: p}, finalizers: [resources-finalizer.argocd.argoproj.io]}
spec:
  project: one
  source: {repoURL: r, path: p, helm: {valuesObject: {num: 1, deep: [{one: p}]}}, futureField: one}
  destination: {name: one}
  syncPolicy: {automated: {prune: true}, retry: {limit: 3}}`,
		},
		"Preserve": {
			reason: "no finalizer where objects outlive their Application",
			spec: `
generators: [{list: {elements: [{name: one}]}}]
syncPolicy: {preserveResourcesOnDeletion: true}
template: {metadata: {name: '{{name}}'}, spec: {source: ` + source + `, destination: {name: c}}}`,
			want: `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: one, namespace: argocd}
spec: {project: default, source: ` + source + `, destination: {name: c}}`,
		},
		"Finalizers": {
			reason: "those of the template are the only ones",
			spec: `
generators: [{list: {elements: [{name: one}]}}]
template: {metadata: {name: '{{name}}', finalizers: [a/b]}, spec: {project: p, source: ` + source + `, destination: {name: c}}}`,
			want: `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: one, namespace: argocd, finalizers: [a/b]}
spec: {project: p, source: ` + source + `, destination: {name: c}}`,
		},
		"GeneratorTemplate": {
			reason: "the template of a generator wins, but where it says nothing",
			spec: `
generators: [{list: {elements: [{name: one}], template: {metadata: {labels: {a: mine}}, spec: {project: '', destination: {namespace: '{{name}}'}, source: {path: yy}, syncPolicy: {automated: {prune: false}}}}}}]
template: {metadata: {name: '{{name}}', labels: {a: x, b: z}}, spec: {project: p, source: ` + source + `, destination: {name: c}, syncPolicy: {automated: {prune: true}}}}`,
			want: `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: one, namespace: argocd, labels: {a: mine, b: z}, finalizers: [resources-finalizer.argocd.argoproj.io]}
spec: {project: p, source: {repoURL: https://example.com/repo, path: yy}, destination: {name: c, namespace: one}, syncPolicy: {automated: {prune: true}}}`,
		},
		"Patch": {
			reason: "a patch changes and removes, finalizers join, and it has no say in the project, the place, the status and the operation",
			spec: `
goTemplate: true
generators: [{list: {elements: [{name: one, auto: true}]}}]
template: {metadata: {name: '{{.name}}'}, spec: {project: p, source: {repoURL: r, path: x, helm: {valuesObject: {a: {b: 1, c: 2}}, valueFiles: [v]}}, destination: {name: c, namespace: ns}}}
templatePatch: |
  metadata: {labels: {l: '{{.name}}'}, namespace: elsewhere, finalizers: [a/b], ownerReferences: [{name: x}]}
  spec:
    project: other
    destination: {namespace: null}
    source: {helm: {valuesObject: {a: {b: 3}, d: '4'}, valueFiles: [w, x]}}
    {{- if .auto }}
    syncPolicy: {automated: {}}
    {{- end }}
  status: {health: {status: Healthy}}
  operation: {sync: {}}`,
			want: `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: one, namespace: argocd, labels: {l: one}, finalizers: [a/b, resources-finalizer.argocd.argoproj.io]}
spec:
  project: p
  source: {repoURL: r, path: x, helm: {valuesObject: {a: {b: 3, c: 2}, d: '4'}, valueFiles: [w, x]}}
  destination: {name: c}
  syncPolicy: {automated: {}}`,
		},
		"EmptyPatch": {
			reason: "a patch that renders to nothing changes nothing",
			spec: `
goTemplate: true
generators: [{list: {elements: [{name: one}]}}]
template: {metadata: {name: '{{.name}}'}, spec: {project: p, source: ` + source + `, destination: {name: c}}}
templatePatch: '{{if false}}x{{end}}'`,
			want: `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: one, namespace: argocd, finalizers: [resources-finalizer.argocd.argoproj.io]}
spec: {project: p, source: ` + source + `, destination: {name: c}}`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			made, _, failure := generated(t, setOf(t, c.spec), known{}, Options{})
			if failure != "" || len(made.Problems) > 0 || len(made.Applications) != 1 {
				t.Fatalf("%s: %s %v", c.reason, failure, made.Problems)
			}
			if diff := cmp.Diff(objectOf(t, c.want).Object, made.Applications[0].Object); diff != "" {
				t.Errorf("%s: -want +got:\n%s", c.reason, diff)
			}
		})
	}
}

func TestGenerateFails(t *testing.T) {
	cases := map[string]struct{ reason, spec, want string }{
		"PatchWithoutGo": {
			reason: "a patch for templates of Go in a set without them changes nothing, and says what to set",
			spec:   "{" + two + `, templatePatch: "{{- if eq .name \"one\" }}\nspec: {}\n{{- end }}"}`,
			want:   `spec.templatePatch: "{{- if eq .name \"one\" }}" is Go template syntax: set spec.goTemplate: true`,
		},
		"PatchNoYAML": {reason: "a patch that is no YAML", spec: "{" + two + `, templatePatch: "a: {{name}}: x"}`, want: "with element 1 of a list: spec.templatePatch: the rendered template is not YAML"},
		"PatchNoMap":  {reason: "a patch that is no object", spec: "{" + two + `, templatePatch: "[x]"}`, want: "spec.templatePatch: the rendered template is not an object"},
		"Missing":     {reason: "a parameter that is missing names the field", spec: `{goTemplate: true, goTemplateOptions: [missingkey=error], generators: [{list: {elements: [{name: a}]}}]}`, want: `spec.generators[0]: with element 1 of a list: spec.template.spec.source.path: line 1: <.path>: map has no entry for key "path"`},
		"Options":     {reason: "options that nobody knows", spec: "{goTemplate: true, goTemplateOptions: [x], " + two + "}", want: "spec.goTemplateOptions[0]"},
		"Second":      {reason: "one generator that fails is enough", spec: `{generators: [{list: {elements: [{name: a, path: b}]}}, {pullRequest: {}}]}`, want: "spec.generators[1].pullRequest: " + ErrNotServed.Error()},
		"SameKey": {
			reason: "keys that become the same", want: `spec.template.metadata.labels.{{name}}: another key is also "one"`,
			spec: "{" + two + `, template: {metadata: {name: x, labels: {'one': a, '{{name}}': b}}, spec: {}}}`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			made, err := Generate(t.Context(), setOf(t, c.spec), known{}, Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) || len(made.Applications) > 0 {
				t.Errorf("%s: the error is %v, and should have %q; %v", c.reason, err, c.want, made.Applications)
			}
		})
	}
	set := setOf(t, `{generators: [{clusterDecisionResource: {configMapRef: x}}]}`)
	if _, err := Generate(t.Context(), set, known{}, Options{}); !errors.Is(err, ErrNotServed) {
		t.Errorf("what is not served is told from the rest: %v", err)
	}
}

func TestProblems(t *testing.T) {
	check := func(app *unstructured.Unstructured) error {
		if app.GetName() == "two" {
			return errors.New("project \"web\" is not there")
		}
		return nil
	}
	list := func(elements string) string {
		return `{goTemplate: true, generators: [{list: {elements: [` + elements + `]}}]}`
	}
	cases := map[string]struct {
		reason, spec string
		options      Options
		names        []string
		problems     []Problem
	}{
		"Twice": {
			reason: "both are named, and the first is kept", spec: list(`{name: a, path: x}, {name: b, path: x}, {name: a, path: yy}`), names: []string{"a", "b"},
			problems: []Problem{{Name: "a", Origins: []string{"element 1 of a list", "element 3 of a list"}, Message: `Application "a" is generated twice, from element 1 of a list and from element 3 of a list; ` +
				`the first one is kept: make the names differ, with more of the path for example`}},
		},
		"Directories": {
			reason: "two directories with the same last part",
			spec:   `{goTemplate: true, generators: [{git: {repoURL: https://example.com/repo, revision: HEAD, directories: [{path: '*/volsync'}]}}], template: {metadata: {name: '{{.path.basename}}'}, spec: {source: {repoURL: r}, destination: {name: c}}}}`,
			names:  []string{"volsync"},
			problems: []Problem{{Name: "volsync", Origins: []string{`directory "a/volsync"`, `directory "b/volsync"`}, Message: `Application "volsync" is generated twice, from directory "a/volsync" and from directory "b/volsync"; ` +
				`the first one is kept: make the names differ, with more of the path for example`}},
		},
		"Check": {
			reason: "what the installation does not have", spec: `{goTemplate: true, ` + two + `}`, options: Options{Check: check}, names: []string{"one"},
			problems: []Problem{{Name: "two", Origins: []string{"element 2 of a list"}, Message: `Application "two" from element 2 of a list: project "web" is not there`}},
		},
		"Nameless": {
			reason: "no name", spec: list(`{name: '', path: x}`),
			problems: []Problem{{Origins: []string{"element 1 of a list"}, Unnamed: true, Message: `the Application from element 1 of a list has the name "": set metadata.name in the template to a string with a parameter`}},
		},
		"Unrendered": {
			reason: "a template that is for templates of Go", spec: `{` + two + `}`,
			problems: []Problem{
				{Name: "{{.name}}", Origins: []string{"element 1 of a list"}, Unnamed: true, Message: `the Application from element 1 of a list has the name "{{.name}}": ` +
					`the parameter does not exist or is not a string; names such as .path.basename require spec.goTemplate: true`},
				{Name: "{{.name}}", Origins: []string{"element 2 of a list"}, Unnamed: true, Message: `the Application from element 2 of a list has the name "{{.name}}": ` +
					`the parameter does not exist or is not a string; names such as .path.basename require spec.goTemplate: true`},
			},
		},
		"NoValue": {
			reason: "a parameter that is missing", spec: list(`{path: x}`),
			problems: []Problem{{
				Name: "<no value>", Origins: []string{"element 1 of a list"}, Unnamed: true,
				Message: `the Application from element 1 of a list has the name "<no value>": a parameter is missing; set goTemplateOptions: [missingkey=error] to see which`,
			}},
		},
		"Source": {
			reason: "an Application without a source", names: []string{},
			spec:     `{generators: [{list: {elements: [{name: a}]}}], template: {metadata: {name: '{{name}}'}, spec: {destination: {name: c}}}}`,
			problems: []Problem{{Name: "a", Origins: []string{"element 1 of a list"}, Message: `Application "a" from element 1 of a list: spec.source: missing`}},
		},
		"Destination": {
			reason:   "one that goes to two places",
			spec:     `{generators: [{list: {elements: [{name: a}]}}], template: {metadata: {name: '{{name}}'}, spec: {source: {repoURL: r}, destination: {name: c, server: s}}}}`,
			problems: []Problem{{Name: "a", Origins: []string{"element 1 of a list"}, Message: `Application "a" from element 1 of a list: spec.destination: server and name are both set; remove one`}},
		},
		"Type": {
			reason:   "a patch that makes text of a list",
			spec:     `{templatePatch: "spec: {ignoreDifferences: {{name}}}", generators: [{list: {elements: [{name: a}]}}], template: {metadata: {name: '{{name}}'}, spec: {source: {repoURL: r}, destination: {name: c}}}}`,
			problems: []Problem{{Name: "a", Origins: []string{"element 1 of a list"}, Message: `Application "a" from element 1 of a list: spec.ignoreDifferences: it is a string and must be a []v1alpha1.ResourceIgnoreDifferences`}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			facts := known{trees: map[string]*source.Tree{"https://example.com/repo": treeOf(t, "\n-- a/volsync/x --\n-- b/volsync/x --\n")}}
			made, got, failure := generated(t, setOf(t, c.spec), facts, c.options)
			if failure != "" {
				t.Fatalf("%s: %s", c.reason, failure)
			}
			if !slices.Equal(got, c.names) {
				t.Errorf("%s: got %v, want %v", c.reason, got, c.names)
			}
			if diff := cmp.Diff(c.problems, made.Problems); diff != "" {
				t.Errorf("%s: -want +got:\n%s", c.reason, diff)
			}
		})
	}
}

func TestMany(t *testing.T) {
	elements := make([]string, 300)
	for i := range elements {
		elements[i] = "{a: b}"
	}
	list := `{list: {elements: [` + strings.Join(elements, ",") + `]}}`
	set := setOf(t, `{goTemplate: true, generators: [{matrix: {generators: [`+list+`, `+list+`]}}]}`)
	if _, err := Generate(t.Context(), set, known{}, Options{}); err == nil || !strings.Contains(err.Error(), "more than 50000 sets of parameters") {
		t.Errorf("generators that multiply have a bound: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Generate(ctx, setOf(t, "{"+two+"}"), known{}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a pass ends with its context: %v", err)
	}
}

func TestOwnParameters(t *testing.T) {
	set := setOf(t, `{goTemplate: true, generators: [{matrix: {generators: [{list: {elements: [{m: {k: old}}]}}, {list: {elements: [{name: one}, {name: two}]}}]}}],
template: {metadata: {name: '{{.name}}-{{.m.k}}{{$_ := set .m "k" "new"}}'}, spec: {source: {repoURL: r}, destination: {name: c}}}}`)
	if _, got, failure := generated(t, set, known{}, Options{}); failure != "" || !slices.Equal(got, []string{"one-old", "two-old"}) {
		t.Errorf("what one template changes, another one does not see: %v %s", got, failure)
	}
}

func TestOf(t *testing.T) {
	typed := setOf(t, `{goTemplate: true, `+two+`}`).ApplicationSet
	set, err := Of(typed)
	if err != nil {
		t.Fatal(err)
	}
	if _, got, failure := generated(t, set, known{}, Options{}); failure != "" || !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("a typed set gives the same: %v %s", got, failure)
	}
	if _, err := Read(objectOf(t, "{metadata: {name: x}, spec: {goTemplate: 1}}")); err == nil || !strings.Contains(err.Error(), `reading ApplicationSet "x": spec.goTemplate: it is a number`) {
		t.Errorf("a field of another type is named: %v", err)
	}
	if _, err := Read(objectOf(t, "{metadata: {name: x}, spec: {generators: [x]}}")); err == nil {
		t.Error("a generator that is no object is an error")
	}
}

func TestPolicyOf(t *testing.T) {
	set := setOf(t, `{`+two+`, syncPolicy: {applicationsSync: create-delete}}`)
	cases := map[string]struct {
		reason     string
		controller v1alpha1.ApplicationsSyncPolicy
		override   bool
		want       Policy
	}{
		"Own":     {reason: "that of the set, where it may override", controller: "sync", override: true, want: Policy{Delete: true}},
		"Forced":  {reason: "that of the controller elsewhere", controller: "create-only", want: Policy{}},
		"Updates": {reason: "no deletions", controller: "create-update", want: Policy{Update: true}},
		"Nothing": {reason: "a controller without a policy leaves it to the set", want: Policy{Delete: true}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := PolicyOf(set, c.controller, c.override); got != c.want {
				t.Errorf("%s: got %+v, want %+v", c.reason, got, c.want)
			}
		})
	}
}
