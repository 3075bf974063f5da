package idp

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestResolve(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, dir, spec, want string
		found, escapes          bool
	}{
		"Directory": {
			reason: "the directory of a package becomes the path", found: true,
			spec: `{source: {repoURL: "cnoe://shop/manifests", path: ".", targetRevision: HEAD}}`,
			want: `{source: {repoURL: "cnoe://", path: shop/manifests, targetRevision: HEAD}}`,
		},
		"Below": {
			reason: "an address is relative to its file, a path to the address", dir: "packages", found: true,
			spec: `{source: {repoURL: "cnoe://shop", path: manifests}}`,
			want: `{source: {repoURL: "cnoe://", path: packages/shop/manifests}}`,
		},
		"Bare": {
			reason: "an address without a directory is that of its file", dir: "packages", found: true,
			spec: `{source: {repoURL: "cnoe://", path: "."}}`,
			want: `{source: {repoURL: "cnoe://", path: packages}}`,
		},
		"Upwards": {
			reason: "an address may lead upwards in the working copy", dir: "packages", found: true,
			spec: `{source: {repoURL: "cnoe://../base", path: "."}}`,
			want: `{source: {repoURL: "cnoe://", path: base}}`,
		},
		"Escape": {
			reason: "it may not leave it", dir: "packages", escapes: true,
			spec: `{source: {repoURL: "cnoe://../../etc", path: "."}}`,
			want: `{source: {repoURL: "cnoe://../../etc", path: "."}}`,
		},
		"Values": {
			reason: "files of a source that others refer to are found in its directory", found: true,
			spec: `{sources: [{repoURL: "https://charts.invalid", chart: vault, helm: {valueFiles: ["$values/values.yaml", "$other/x.yaml", own.yaml],
				fileParameters: [{name: a, path: $values/a.txt}]}}, {repoURL: "cnoe://vault", ref: values}, {repoURL: "https://git.invalid/x.git", ref: other}]}`,
			want: `{sources: [{repoURL: "https://charts.invalid", chart: vault, helm: {valueFiles: ["$values/vault/values.yaml", "$other/x.yaml", own.yaml],
				fileParameters: [{name: a, path: $values/vault/a.txt}]}}, {repoURL: "cnoe://", ref: values}, {repoURL: "https://git.invalid/x.git", ref: other}]}`,
		},
		"Set": {
			reason: "the template of an ApplicationSet has sources as well", found: true,
			spec: `{generators: [{list: {elements: [{env: dev}]}}], template: {spec: {source: {repoURL: "cnoe://shop", path: "{{env}}"}}}}`,
			want: `{generators: [{list: {elements: [{env: dev}]}}], template: {spec: {source: {repoURL: "cnoe://", path: "shop/{{env}}"}}}}`,
		},
		"Elsewhere": {
			reason: "other repositories stay",
			spec:   `{source: {repoURL: "https://git.invalid/x.git", path: a}}`, want: `{source: {repoURL: "https://git.invalid/x.git", path: a}}`,
		},
		"Bad": {reason: "what is no Application is left alone", spec: `{source: 1, sources: {a: b}}`, want: `{source: 1, sources: {a: b}}`},
	} {
		t.Run(name, func(t *testing.T) {
			o, want := application(t, tc.spec), application(t, tc.want)
			found, err := Resolve(o, tc.dir)
			escape := (*EscapeError)(nil)
			if found != tc.found || errors.As(err, &escape) != tc.escapes {
				t.Errorf("%s: found %t, error %v", tc.reason, found, err)
			}
			if diff := cmp.Diff(want.Object, o.Object); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func application(t *testing.T, spec string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte("apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: shop}\nspec: "+spec), &o.Object); err != nil {
		t.Fatal(err)
	}
	return o
}
