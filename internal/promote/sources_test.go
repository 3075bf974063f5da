package promote

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/promote/steps"
)

// TestSourcesOf has a step change the sources of an Application that it names, and nothing beside that.
func TestSourcesOf(t *testing.T) {
	const one = `{source: {repoURL: "https://git.example.com/shop.git", path: dev, targetRevision: main, kustomize: {namePrefix: x-, images: ["ghcr.io/x/shop:1", "ghcr.io/x/cache=mirror/cache:7"]}}}`
	const two = `{sources: [{repoURL: "https://charts.example.com", chart: shop, targetRevision: 1.0.0, helm: {parameters: [{name: image.tag, value: "1", forceString: true}]}}, {repoURL: "https://git.example.com/values", ref: values, targetRevision: main}]}`
	for name, c := range map[string]struct{ spec, updates, want, fails string }{
		"Nothing": {spec: one, updates: `[]`, want: `{}`},
		"Image of kustomize": {
			spec: one, updates: `[{repoURL: "https://git.example.com/shop", kustomize: {images: [{repoURL: ghcr.io/x/shop, tag: "2"}]}}]`,
			want: `{source: {repoURL: "https://git.example.com/shop.git", path: dev, targetRevision: main, kustomize: {namePrefix: x-, images: ["ghcr.io/x/cache=mirror/cache:7", "ghcr.io/x/shop:2"]}}}`,
		},
		"Renamed by digest": {
			spec: one, updates: `[{repoURL: "https://git.example.com/shop", kustomize: {images: [{repoURL: ghcr.io/x/cache, newName: other/cache, digest: "sha256:ab"}]}}]`,
			want: `{source: {repoURL: "https://git.example.com/shop.git", path: dev, targetRevision: main, kustomize: {namePrefix: x-, images: ["ghcr.io/x/shop:1", "ghcr.io/x/cache=other/cache@sha256:ab"]}}}`,
		},
		"Same again": {spec: one, updates: `[{repoURL: "https://git.example.com/shop", desiredRevision: main, updateTargetRevision: true}]`, want: `{revision: main}`},
		"Revision of one": {
			spec: one, updates: `[{repoURL: "https://git.example.com/shop", desiredRevision: abc}]`, want: `{revision: abc}`,
		},
		"Chart and its value": {
			spec: two, updates: `[{repoURL: "https://charts.example.com", chart: shop, desiredRevision: 1.1.0, updateTargetRevision: true, helm: {images: [{key: image.tag, value: "2"}, {key: image.name, value: shop}]}}]`,
			want: `{revisions: [1.1.0, main], sources: [{repoURL: "https://charts.example.com", chart: shop, targetRevision: 1.1.0, helm: {parameters: [{name: image.tag, value: "2", forceString: true}, {name: image.name, value: shop}]}}, {repoURL: "https://git.example.com/values", ref: values, targetRevision: main}]}`,
		},
		"No such source": {spec: one, updates: `[{repoURL: "https://git.example.com/other"}]`, fails: `sources[0]: Application "shop" has no source https://git.example.com/other`},
		"No such chart":  {spec: two, updates: `[{repoURL: "https://charts.example.com", chart: cart}]`, fails: "https://charts.example.com cart"},
		"Nothing to set": {spec: one, updates: `[{repoURL: "https://git.example.com/shop", updateTargetRevision: true}]`, fails: "updateTargetRevision needs desiredRevision"},
		"Both":           {spec: one, updates: `[{repoURL: "https://git.example.com/shop", kustomize: {images: [{repoURL: x, tag: a, digest: b}]}}]`, fails: "kustomize.images[0]: exactly one of tag and digest"},
	} {
		t.Run(name, func(t *testing.T) {
			app := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "shop"}, "spec": parsed[map[string]any](t, c.spec)}}
			before, _ := json.Marshal(app.Object)
			got, err := sourcesOf(app, parsed[[]steps.AppSource](t, c.updates))
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Fatalf("the error is %v, want one that has %q", err, c.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			all := map[string]any{}
			for key, value := range got.change {
				all[key] = value
			}
			if got.revision != "" {
				all["revision"] = got.revision
			}
			if got.revisions != nil {
				all["revisions"] = got.revisions
			}
			found, _ := json.Marshal(all)
			want, _ := json.Marshal(parsed[map[string]any](t, c.want))
			if string(found) != string(want) {
				t.Errorf("the change is\n%s\nwant\n%s", found, want)
			}
			if after, _ := json.Marshal(app.Object); string(after) != string(before) {
				t.Errorf("the Application itself was changed: %s", after)
			}
		})
	}
}

func parsed[T any](t *testing.T, text string) T {
	t.Helper()
	var value T
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return value
}
