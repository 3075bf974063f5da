package idp

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRewrite puts URLs into each field that may have an address. In what is wanted, G is the server.
func TestRewrite(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, kind, spec, want string
		problem                  string
	}{
		"Source": {
			reason: "spec.source.repoURL", spec: `{source: {repoURL: "cnoe://x", path: a, targetRevision: HEAD}}`,
			want: `{source: {repoURL: G/idpbuilder-localdev-app-x.git, path: a, targetRevision: HEAD}}`,
		},
		"Sources": {
			reason: "spec.sources[].repoURL, and others stay; $values needs no change, since the repository is the directory",
			spec: `{sources: [{repoURL: "https://charts.invalid", chart: v, helm: {valueFiles: [$values/v.yaml]}}, {repoURL: "cnoe://x", ref: values},
				{repoURL: "cnoe://./x", path: b}, {repoURL: "cnoe://", path: c}]}`,
			want: `{sources: [{repoURL: "https://charts.invalid", chart: v, helm: {valueFiles: [$values/v.yaml]}}, {repoURL: G/idpbuilder-localdev-app-x.git, ref: values},
				{repoURL: G/idpbuilder-localdev-app-x.git, path: b}, {repoURL: G/idpbuilder-localdev-app-p.git, path: c}]}`,
		},
		"Values object": {
			reason: "any string in helm.valuesObject that begins with the scheme",
			spec:   `{source: {repoURL: "https://charts.invalid", chart: v, helm: {valuesObject: {a: [{b: "cnoe://x", c: 5}, "cnoe://y"], d: "see cnoe://z", valueFiles: ["cnoe://x"]}}}}`,
			want: `{source: {repoURL: "https://charts.invalid", chart: v, helm: {valuesObject: {a: [{b: G/idpbuilder-localdev-app-x.git, c: 5}, G/idpbuilder-localdev-app-y.git],
				d: "see cnoe://z", valueFiles: [G/idpbuilder-localdev-app-x.git]}}}}`,
		},
		"Values": {
			reason: "scalars in the text of helm.values, but for comments and for text around them",
			spec:   `{source: {repoURL: "https://charts.invalid", chart: v, helm: {values: "# cnoe://none\na: cnoe://x # of x\nb: [\"cnoe://y\", 'cnoe://x']\nc:\n- cnoe://y\nd: go to cnoe://none\n"}}}`,
			want: `{source: {repoURL: "https://charts.invalid", chart: v, helm: {values: "# cnoe://none\na: G/idpbuilder-localdev-app-x.git # of x\nb: [\"G/idpbuilder-localdev-app-y.git\",
				'G/idpbuilder-localdev-app-x.git']\nc:\n- G/idpbuilder-localdev-app-y.git\nd: go to cnoe://none\n"}}}`,
		},
		"Parameters": {
			reason: "helm.parameters, variables of Jsonnet and parameters of plugins",
			spec:   `{source: {repoURL: "cnoe://x", helm: {parameters: [{name: repo, value: "cnoe://y"}]}, directory: {jsonnet: {extVars: [{name: r, value: "cnoe://x"}]}}, plugin: {parameters: [{name: r, string: "cnoe://y"}]}}}`,
			want: `{source: {repoURL: G/idpbuilder-localdev-app-x.git, helm: {parameters: [{name: repo, value: G/idpbuilder-localdev-app-y.git}]},
				directory: {jsonnet: {extVars: [{name: r, value: G/idpbuilder-localdev-app-x.git}]}}, plugin: {parameters: [{name: r, string: G/idpbuilder-localdev-app-y.git}]}}}`,
		},
		"Value files of the source": {
			reason: "a file in the directory of the source is named from its root", spec: `{source: {repoURL: "cnoe://x", path: chart, helm: {valueFiles: ["cnoe://x/deep/v.yaml", own.yaml], fileParameters: [{name: a, path: "cnoe://x/v.yaml"}]}}}`,
			want: `{source: {repoURL: G/idpbuilder-localdev-app-x.git, path: chart, helm: {valueFiles: [/deep/v.yaml, own.yaml], fileParameters: [{name: a, path: /v.yaml}]}}}`,
		},
		"Value files beside a chart": {
			reason: "a file elsewhere takes a source that others refer to", spec: `{source: {repoURL: "https://charts.invalid", chart: v, helm: {valueFiles: ["cnoe://x/v.yaml"]}}}`,
			want: `{sources: [{repoURL: "https://charts.invalid", chart: v, helm: {valueFiles: [$package0/v.yaml]}}, {repoURL: G/idpbuilder-localdev-app-x.git, targetRevision: HEAD, ref: package0}]}`,
		},
		"Value files with a reference": {
			reason: "which is that of the repository, if there is one",
			spec:   `{sources: [{repoURL: "https://charts.invalid", chart: v, helm: {valueFiles: ["cnoe://x/v.yaml"]}}, {repoURL: "cnoe://x", ref: mine}]}`,
			want:   `{sources: [{repoURL: "https://charts.invalid", chart: v, helm: {valueFiles: [$mine/v.yaml]}}, {repoURL: G/idpbuilder-localdev-app-x.git, ref: mine}]}`,
		},
		"Hydrator": {
			reason: "spec.sourceHydrator, where there is no spec.source",
			spec:   `{sourceHydrator: {drySource: {repoURL: "cnoe://x", path: a, targetRevision: HEAD}, syncSource: {targetBranch: env, path: b}}}`,
			want:   `{sourceHydrator: {drySource: {repoURL: G/idpbuilder-localdev-app-x.git, path: a, targetRevision: HEAD}, syncSource: {targetBranch: env, path: b}}}`,
		},
		"Hydrator's files": {
			reason: "it has one source, and none can be added", spec: `{sourceHydrator: {drySource: {repoURL: "cnoe://x", helm: {valueFiles: ["cnoe://x/v.yaml"]}}}}`,
			problem: `spec.sourceHydrator.drySource.helm.valueFiles[0]: "cnoe://x/v.yaml": a dry source names files only below its own path`,
		},
		"Kustomize": {
			reason: "addresses in patches", spec: `{source: {repoURL: "cnoe://x", kustomize: {patches: [{patch: "- op: replace\n  path: /spec/url\n  value: cnoe://y\n"}]}}}`,
			want: `{source: {repoURL: G/idpbuilder-localdev-app-x.git, kustomize: {patches: [{patch: "- op: replace\n  path: /spec/url\n  value: G/idpbuilder-localdev-app-y.git\n"}]}}}`,
		},
		"Left alone": {
			reason: "what no source is read from", spec: `{info: [{name: a, value: "cnoe://none"}], source: {repoURL: "https://git.invalid/x.git"}}`,
			want: `{info: [{name: a, value: "cnoe://none"}], source: {repoURL: "https://git.invalid/x.git"}}`,
		},
		"Git generator": {
			reason: "spec.generators[].git.repoURL, and the template", kind: applicationSetKind,
			spec: `{generators: [{git: {repoURL: "cnoe://x", directories: [{path: "*"}]}}], template: {spec: {source: {repoURL: "cnoe://y", path: "{{path}}"}}}}`,
			want: `{generators: [{git: {repoURL: G/idpbuilder-localdev-app-x.git, directories: [{path: "*"}]}}], template: {spec: {source: {repoURL: G/idpbuilder-localdev-app-y.git, path: "{{path}}"}}}}`,
		},
		"Nested generators": {
			reason: "matrix and merge, in each other, with templates of their own", kind: applicationSetKind,
			spec: `{generators: [{matrix: {generators: [{git: {repoURL: "cnoe://x"}}, {merge: {mergeKeys: [a], generators: [{git: {repoURL: "cnoe://y"}}, {matrix: {generators: [{git: {repoURL: "cnoe://x"}}]}}]}}]}},
				{list: {elements: [{repo: "cnoe://y"}], template: {spec: {source: {repoURL: "cnoe://x"}}}}}, {list: {elementsYaml: "- repo: cnoe://x\n"}}], template: {spec: {sources: [{repoURL: "cnoe://y"}]}}}`,
			want: `{generators: [{matrix: {generators: [{git: {repoURL: G/idpbuilder-localdev-app-x.git}}, {merge: {mergeKeys: [a], generators: [{git: {repoURL: G/idpbuilder-localdev-app-y.git}},
				{matrix: {generators: [{git: {repoURL: G/idpbuilder-localdev-app-x.git}}]}}]}}]}},
				{list: {elements: [{repo: G/idpbuilder-localdev-app-y.git}], template: {spec: {source: {repoURL: G/idpbuilder-localdev-app-x.git}}}}}, {list: {elementsYaml: "- repo: G/idpbuilder-localdev-app-x.git\n"}}],
				template: {spec: {sources: [{repoURL: G/idpbuilder-localdev-app-y.git}]}}}`,
		},
		"Template patch": {
			reason: "the text of spec.templatePatch, with templates in it", kind: applicationSetKind,
			spec: `{template: {spec: {source: {repoURL: "cnoe://x"}}}, templatePatch: "spec:\n  source:\n{{- if .y }}\n    repoURL: cnoe://y\n{{- end }}\n"}`,
			want: `{template: {spec: {source: {repoURL: G/idpbuilder-localdev-app-x.git}}}, templatePatch: "spec:\n  source:\n{{- if .y }}\n    repoURL: G/idpbuilder-localdev-app-y.git\n{{- end }}\n"}`,
		},
		"Template's value files": {
			reason: "a source is added to a template too", kind: applicationSetKind,
			spec: `{template: {spec: {source: {repoURL: "https://charts.invalid", chart: v, helm: {valueFiles: ["cnoe://x/v.yaml"]}}}}}`,
			want: `{template: {spec: {sources: [{repoURL: "https://charts.invalid", chart: v, helm: {valueFiles: [$package0/v.yaml]}}, {repoURL: G/idpbuilder-localdev-app-x.git, targetRevision: HEAD, ref: package0}]}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := app("app", tc.spec)
			if tc.kind == applicationSetKind {
				file = appSet("app", tc.spec)
			}
			dir := lay(t, map[string]string{"p/app.yaml": file, "p/x/v.yaml": "", "p/x/deep/v.yaml": "", "p/y/": ""})
			result := Read(Options{Inputs: inputs(t, dir, "p")})
			if len(result.Packages) != 1 {
				t.Fatalf("%s: %+v", tc.reason, result)
			}
			if tc.problem != "" {
				if len(result.Problems) != 1 || !strings.Contains(result.Problems[0].Error(), tc.problem) {
					t.Errorf("%s: %v", tc.reason, result.Problems)
				}
				return
			}
			if len(result.Problems) > 0 {
				t.Fatalf("%s: %v", tc.reason, result.Problems)
			}
			before := result.Packages[0].Object.DeepCopy()
			got := result.Packages[0].Rewrite(Rewrites("https://git.invalid/"))
			want, failed := Documents([]byte(app("app", strings.ReplaceAll(tc.want, "G/", "https://git.invalid/giteaAdmin/"))))
			if len(failed) > 0 {
				t.Fatal(failed)
			}
			if diff := cmp.Diff(want[0].Object["spec"], got.Object["spec"]); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(before, result.Packages[0].Object); diff != "" {
				t.Errorf("the package is changed (-before +after):\n%s", diff)
			}
		})
	}
}

// TestLabels marks objects as idpbuilder does, and leaves others' labels.
func TestLabels(t *testing.T) {
	for name, want := range map[string]string{"shop": "custom", "gitea": "core", "argocd": "core", "nginx": "core"} {
		dir := lay(t, map[string]string{"p/a.yaml": strings.Replace(app(name, "{}"), "}", ", labels: {mine: kept, cnoe.io/package-type: odd}}", 1)})
		result := Read(Options{Inputs: inputs(t, dir, "p"), Namespace: "gitops"})
		o := result.Packages[0].Rewrite(Rewrites(""))
		labels := map[string]string{"mine": "kept", PackageNameLabel: name, PackageTypeLabel: want}
		if diff := cmp.Diff(labels, o.GetLabels()); diff != "" || o.GetNamespace() != "gitops" {
			t.Errorf("%s in namespace %q (-want +got):\n%s", name, o.GetNamespace(), diff)
		}
		if key := result.Packages[0].Key(); key != "Application/gitops/"+name || result.Packages[0].File != filepath.Join(dir, "p", "a.yaml") {
			t.Errorf("the package is %s of %s", key, result.Packages[0].File)
		}
	}
}
