package trio_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/provision/trio"
)

// The objects as people write them.
const (
	trigger = `
apiVersion: kubernetes.crossplane.io/v1alpha1
kind: Object
metadata: {name: run-builder}
spec:
  forProvider:
    manifest:
      apiVersion: argoproj.io/v1alpha1
      kind: Workflow
      metadata: {generateName: build-, namespace: default}
      spec: {workflowTemplateRef: {name: builder}, serviceAccountName: robot}
`
	reader = `
apiVersion: kubernetes.crossplane.io/v1alpha1
kind: Object
metadata: {name: pull-image}
spec:
  forProvider: {manifest: {apiVersion: v1, kind: Secret, metadata: {name: nixos-image, namespace: default}}}
  connectionDetails: [{name: image, fromFieldPath: data.image}]
  writeConnectionSecretToRef: {name: nixos-connection, namespace: default}
`
	droplet = `
apiVersion: droplet.digitalocean.crossplane.io/v1alpha1
kind: Droplet
metadata: {name: proxy}
spec:
  forProvider: {region: nyc3, image: "", size: s-1vcpu-1gb}
  writeConnectionSecretToRef: {name: proxy-secret, namespace: default}
`
	otherReader = `
apiVersion: kubernetes.crossplane.io/v1alpha2
kind: Object
metadata: {name: pull-other}
spec:
  managementPolicies: [Observe]
  forProvider: {manifest: {apiVersion: v1, kind: Secret, metadata: {name: other-image, namespace: default}}}
  connectionDetails: [{apiVersion: v1, kind: Secret, name: other-image, namespace: default, fieldPath: data.image, toConnectionSecretKey: image}]
  writeConnectionSecretToRef: {name: other-connection, namespace: default}
`
	secondReader = `
apiVersion: kubernetes.crossplane.io/v1alpha1
kind: Object
metadata: {name: pull-again}
spec:
  forProvider: {manifest: {apiVersion: v1, kind: Secret, metadata: {name: nixos-connection, namespace: default}}}
  connectionDetails: [{name: image, fromFieldPath: data.image}]
  writeConnectionSecretToRef: {name: nixos-last, namespace: default}
`
	password = `
apiVersion: kubernetes.crossplane.io/v1alpha1
kind: Object
metadata: {name: password}
spec:
  managementPolicies: [Observe]
  forProvider: {manifest: {apiVersion: v1, kind: Secret, metadata: {name: database, namespace: default}}}
  connectionDetails: [{apiVersion: v1, kind: Secret, name: database, namespace: default, fieldPath: data.password, toConnectionSecretKey: password}]
  writeConnectionSecretToRef: {name: database-connection, namespace: default}
`
	build = `
apiVersion: build.headgate.dev/v1alpha1
kind: Build
metadata: {name: nixos, namespace: default}
spec: {outputs: [{secret: {name: nixos-image, keys: {image: "{{outputs.parameters.id}}"}}}]}
`
	registering = `
apiVersion: build.headgate.dev/v1alpha1
kind: Build
metadata: {name: registered, namespace: default}
spec: {image: {url: x, regions: [nyc3]}, outputs: [{secret: {name: registered-image}}]}
`
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

func objects(t *testing.T, texts ...string) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for _, text := range texts {
		all = append(all, object(t, text))
	}
	return all
}

func labelled(u *unstructured.Unstructured, kustomization string) *unstructured.Unstructured {
	u.SetLabels(map[string]string{"kustomize.toolkit.fluxcd.io/namespace": "flux-system", "kustomize.toolkit.fluxcd.io/name": kustomization})
	return u
}

func TestImageOf(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		with   []string
		want   string
		lists  []string
	}{
		"reader":             {"the connection Secret of the one reader", []string{trigger, reader, password}, "default/nixos-connection image", nil},
		"nothing":            {"nothing fits", []string{trigger, password}, "", []string{"nothing in its unit"}},
		"two":                {"two fit, and the condition lists them", []string{reader, otherReader}, "", []string{"default/nixos-connection", "default/other-connection", "Object pull-image", "imageFrom"}},
		"chain":              {"a reader of a connection Secret has the same image", []string{reader, secondReader}, "default/nixos-last image", nil},
		"build":              {"the output of a Build", []string{build}, "default/nixos-image image", nil},
		"build and reader":   {"a reader of that has the same image", []string{build, reader}, "default/nixos-connection image", nil},
		"build with image":   {"a Build that registers an image has the keys by default", []string{registering}, "default/registered-image image", nil},
		"two builds":         {"two Builds are two", []string{build, registering}, "", []string{"Build default/nixos", "Build default/registered"}},
		"reader of nothing":  {"a reader without an image is none", []string{password, reader}, "default/nixos-connection image", nil},
		"the droplet itself": {"its own connection Secret is none", []string{droplet}, "", []string{"nothing in its unit"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := labelled(object(t, droplet), "infra")
			var all []*unstructured.Unstructured
			for _, u := range objects(t, c.with...) {
				all = append(all, labelled(u, "infra"))
			}
			all = append(all, labelled(object(t, otherReader), "elsewhere"))
			image, why := trio.ImageOf(d, all)
			got := ""
			if why == "" {
				got = image.Secret.String() + " " + image.Key
			}
			if got != c.want {
				t.Errorf("%s: got %q (%s), want %q", c.reason, got, why, c.want)
			}
			for _, part := range c.lists {
				if !strings.Contains(why, part) {
					t.Errorf("%s: %q does not have %q", c.reason, why, part)
				}
			}
		})
	}
}

// TestUnits tells units apart by what declares objects.
func TestUnits(t *testing.T) {
	one, other := object(t, droplet), object(t, reader)
	same := func(want bool, reason string) {
		t.Helper()
		if got := trio.Unit(one) == trio.Unit(other); got != want {
			t.Errorf("%s: one unit %v, want %v: %s, %s", reason, got, want, trio.Unit(one), trio.Unit(other))
		}
	}
	same(true, "what a person applied without a namespace is one unit")
	one.SetNamespace("a")
	same(false, "a namespace is another unit")
	labelled(one, "a")
	labelled(other, "a")
	same(true, "a Kustomization spans namespaces")
	labelled(other, "b")
	same(false, "another Kustomization is another unit")
	one, other = object(t, droplet), object(t, reader)
	one.SetAnnotations(map[string]string{"argocd.argoproj.io/tracking-id": "web:x/Droplet:/proxy"})
	other.SetAnnotations(map[string]string{"argocd.argoproj.io/tracking-id": "web:y/Object:/pull"})
	same(true, "an Application is a unit")
	other.SetAnnotations(map[string]string{"argocd.argoproj.io/tracking-id": "db:y/Object:/pull"})
	same(false, "another Application is another unit")
}

func TestRewrite(t *testing.T) {
	named := strings.Replace(trigger, "generateName: build-", "name: build", 1)
	observed := strings.Replace(trigger, "spec:\n  forProvider", "spec:\n  managementPolicies: [Observe]\n  forProvider", 1)
	for name, text := range map[string]string{"a name": named, "observed": observed, "a reader": reader, "a Droplet": droplet} {
		if m, is := trio.Rewrite(object(t, text), nil); is {
			t.Errorf("%s: it is rewritten to %v", name, m)
		}
	}
	for name, c := range map[string]struct {
		with    []string
		outputs []any
	}{
		"reader":      {[]string{reader}, []any{map[string]any{"secret": map[string]any{"name": "nixos-image"}}}},
		"chain":       {[]string{reader, secondReader}, []any{map[string]any{"secret": map[string]any{"name": "nixos-image"}}}},
		"two readers": {[]string{reader, otherReader}, []any{map[string]any{"secret": map[string]any{"name": "nixos-image"}}, map[string]any{"secret": map[string]any{"name": "other-image"}}}},
		"no reader":   {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, is := trio.Rewrite(object(t, trigger), objects(t, append(c.with, droplet)...))
			if !is {
				t.Fatal("it is not rewritten")
			}
			spec := map[string]any{
				"workflow":           map[string]any{"workflowTemplateRef": map[string]any{"name": "builder"}, "serviceAccountName": "robot"},
				"serviceAccountName": "robot",
			}
			if c.outputs != nil {
				spec["outputs"] = c.outputs
			}
			want := map[string]any{
				"apiVersion": "build.headgate.dev/v1alpha1", "kind": "Build", "metadata": map[string]any{"name": "run-builder", "namespace": "default"}, "spec": spec,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	long := object(t, trigger)
	long.SetName(strings.Repeat("x", 100))
	got, _ := trio.Rewrite(long, nil)
	if name := (&unstructured.Unstructured{Object: got}).GetName(); len(name) != 63 {
		t.Errorf("the name %q is no value of a label", name)
	}
}

// TestNeedsImage leaves Droplets alone that name an image in any way.
func TestNeedsImage(t *testing.T) {
	for name, c := range map[string]struct {
		field string
		want  bool
	}{
		"empty": {`image: ""`, true}, "absent": {"tags: []", true}, "number": {`image: "123"`, false},
		"reference": {"imageRef: {name: x}", false}, "selector": {"imageSelector: {matchLabels: {a: b}}", false},
		"secret": {"imageFrom: {secretKeyRef: {name: x, key: y}}", false},
	} {
		d := object(t, strings.Replace(droplet, `image: ""`, c.field, 1))
		if got := trio.NeedsImage(d); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
