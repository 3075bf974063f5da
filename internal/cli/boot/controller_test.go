package boot

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialects"
	"github.com/headgate-dev/headgate/internal/helm"
	"github.com/headgate-dev/headgate/internal/installation"
)

// everyFlag has the chart give every flag that it can give.
const everyFlag = `
shards: [a]
multitenancy: {noCrossNamespaceRefs: true, noRemoteBases: true, defaultServiceAccount: tenant}
ageSecret: keys
otlpEndpoint: http://collector:4317
extraArgs: [--rewrite=oci://a/=oci://b/]
`

// TestChartFlags parses what the Deployments of the chart give to the command.
func TestChartFlags(t *testing.T) {
	objects, err := installation.Objects(t.Context(), installation.Options{
		Serve:              dialects.All().All(),
		WithoutDefinitions: true, Values: []helm.Layer{{From: "test", Data: []byte(everyFlag)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, o := range objects {
		if o.GetKind() != "Deployment" {
			continue
		}
		n++
		containers, _, _ := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
		args, _, err := unstructured.NestedStringSlice(containers[0].(map[string]any), "args")
		if err != nil || len(args) == 0 || args[0] != "controller" {
			t.Fatalf("%s runs %v: %v", o.GetName(), args, err)
		}
		cmd := NewController(&console.Globals{})
		if err := cmd.ParseFlags(args[1:]); err != nil {
			t.Errorf("%s: %v", o.GetName(), err)
		}
		if rest := cmd.Flags().Args(); len(rest) > 0 {
			t.Errorf("%s: %v is no flag", o.GetName(), rest)
		}
	}
	if n != 2 {
		t.Errorf("there are %d Deployments", n)
	}
}

// TestInstallValues reads the flags of install.
func TestInstallValues(t *testing.T) {
	cases := map[string]struct{ reason, image, want string }{
		"Tag":       {reason: "an image has a tag", image: "registry.example/headgate:v1", want: "registry.example/headgate:v1"},
		"Port":      {reason: "the port of a registry is no tag", image: "registry.example:5000/headgate:v1", want: "registry.example:5000/headgate:v1"},
		"Untagged":  {reason: "without one it is that of the chart", image: "registry.example:5000/headgate", want: "registry.example:5000/headgate:0.1.0"},
		"Digest":    {reason: "a digest stays", image: "registry.example/headgate@sha256:abc", want: "registry.example/headgate@sha256:abc"},
		"Number":    {reason: "a tag that looks like a number is none", image: "registry.example/headgate:1.10", want: "registry.example/headgate:1.10"},
		"Both":      {reason: "a tag may come with its digest", image: "registry.example/headgate:v1@sha256:abc", want: "registry.example/headgate:v1@sha256:abc"},
		"ShortName": {reason: "a registry need not be named", image: "headgate:v1", want: "headgate:v1"},
		"Default":   {reason: "no image is that of the chart", want: "ghcr.io/headgate-dev/headgate:0.1.0"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o, err := (&installing{serve: []string{"flux"}, image: tc.image}).options(dialects.All())
			if err != nil {
				t.Fatal(err)
			}
			o.WithoutDefinitions = true
			objects, err := installation.Objects(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(objects, func(u *unstructured.Unstructured) bool { return u.GetKind() == "Deployment" })
			containers, _, _ := unstructured.NestedSlice(objects[at].Object, "spec", "template", "spec", "containers")
			if diff := cmp.Diff(tc.want, containers[0].(map[string]any)["image"]); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
	for _, bad := range []installing{{serve: []string{"apps"}}, {set: []string{"replicas"}}, {values: []string{"/nowhere.yaml"}}} {
		if _, err := bad.options(dialects.All()); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}
