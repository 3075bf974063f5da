package installation

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/headgate-dev/headgate/deploy"
	"github.com/headgate-dev/headgate/internal/dialects"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/helm"
)

// allowedFor are what the roles of tenants allow when groups are served, each as a line.
func allowedFor(t *testing.T, serve ...string) []string {
	t.Helper()
	groups, err := dialects.All().Parse(serve)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := Objects(t.Context(), Options{Serve: groups, WithoutDefinitions: true, Values: []helm.Layer{
		{From: "test", Data: []byte("rbac: {scope: tenants}\nmultitenancy: {defaultServiceAccount: tenant}")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	all, err := Permissions(objects)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, p := range all {
		texts = append(texts, p.String())
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// verbs are permissions for each of some resources.
func verbs(list string, resources ...string) []string {
	var all []string
	for _, resource := range resources {
		for verb := range strings.FieldsSeq(list) {
			all = append(all, verb+" "+resource)
		}
	}
	return all
}

// What is served decides what the controller may do on its own; what it does as an account needs nothing.
func TestTenantsServe(t *testing.T) {
	const own, read = "get list watch create patch delete", "get list watch"
	flux := allowedFor(t, "flux")
	secrets := verbs("create patch delete", "secrets")
	workflows := slices.Concat(verbs(own, "workflows.argoproj.io", "cronworkflows.argoproj.io", "pods"),
		verbs(read, "workflowtemplates.argoproj.io", "clusterworkflowtemplates.argoproj.io"), verbs("get", "pods/log"),
		verbs("update", "workflows/finalizers.argoproj.io", "cronworkflows/finalizers.argoproj.io"), verbs("get create delete", "persistentvolumeclaims"))
	builds := slices.Concat(verbs(own, "builds.build.headgate.dev", "builds/status.build.headgate.dev"),
		verbs(read, "workflows.argoproj.io", "workflowtemplates.argoproj.io", "clusterworkflowtemplates.argoproj.io",
			"images.custom.digitalocean.crossplane.io", "images.custom.digitalocean.m.crossplane.io",
			"droplets.droplet.digitalocean.crossplane.io", "droplets.droplet.digitalocean.m.crossplane.io", "droplets.compute.do.crossplane.io"))
	groups := func(names ...string) []string {
		all := slices.Clone(secrets)
		for _, name := range names {
			all = slices.Concat(all, verbs(own, "*."+name), verbs("update", "*/finalizers."+name))
		}
		return all
	}
	crossplane, err := dialects.All().Parse([]string{"crossplane"})
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		serve  []string
		want   []string
	}{
		"Workflows":  {"pods and claims are the controller's, actions and Secrets those of accounts", []string{"workflows"}, workflows},
		"Crossplane": {"every group of every provider, and connection Secrets", []string{"crossplane"}, groups(crossplane.Names()...)},
		"One":        {"the groups of other providers are left out", []string{"kubernetes.m.crossplane.io"}, groups("kubernetes.m.crossplane.io")},
		"Builds":     {"they are run and imported by other controllers, and read", []string{"build"}, builds},
		"All":        {"all of it together", []string{"workflows", "crossplane", "build"}, slices.Concat(workflows, groups(crossplane.Names()...), builds)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := slices.DeleteFunc(allowedFor(t, append(tc.serve, "flux")...), func(p string) bool { return slices.Contains(flux, p) })
			want := slices.DeleteFunc(slices.Clone(tc.want), func(p string) bool { return slices.Contains(flux, p) })
			slices.Sort(want)
			if diff := cmp.Diff(slices.Compact(want), got); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
}

// TestTenantsTokens is about accounts that log in elsewhere: the controller creates tokens of those alone that are named.
func TestTenantsTokens(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		rbac   map[string]any
		want   []string
	}{
		"None": {"by default of none", map[string]any{"scope": "tenants"}, nil},
		"Named": {"of each in its namespace", map[string]any{"scope": "tenants", "tokensOf": []any{"team/cloud", "other/vault", "team/vault", "team/cloud"}}, []string{
			"create serviceaccounts/token of vault in namespace other", "create serviceaccounts/token of cloud in namespace team", "create serviceaccounts/token of vault in namespace team",
		}},
		"All": {"where everything is permitted, no role is about tokens", map[string]any{"scope": "all", "tokensOf": []any{"team/cloud"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			values, err := helm.Compose(map[string]any{"serve": anys([]string{"flux", "argocd", "workflows", "crossplane", "build", "kargo"}), "rbac": tc.rbac, "multitenancy": map[string]any{"defaultServiceAccount": "tenant"}})
			if err != nil {
				t.Fatal(err)
			}
			got := slices.DeleteFunc(permittedBy(t, values), func(p string) bool { return !strings.Contains(p, "/token") })
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
}

// The chart knows the words of --serve as well as the groups.
func TestTenantsWords(t *testing.T) {
	for _, word := range []string{"workflows", "crossplane", "build"} {
		groups, err := dialects.All().Parse([]string{word})
		if err != nil {
			t.Fatal(err)
		}
		render := func(serve []string) []string {
			values, err := helm.Compose(map[string]any{
				"serve": anys(serve), "rbac": map[string]any{"scope": "tenants"},
				"multitenancy": map[string]any{"defaultServiceAccount": "tenant"},
			})
			if err != nil {
				t.Fatal(err)
			}
			return permittedBy(t, values)
		}
		if diff := cmp.Diff(render(groups.Names()), render([]string{word})); diff != "" {
			t.Errorf("serve: [%s] is not the same as its groups\n%s", word, diff)
		}
	}
}

// permittedBy is what the chart permits with some values.
func permittedBy(t *testing.T, values helm.Values) []string {
	t.Helper()
	packed, err := deploy.Chart()
	if err != nil {
		t.Fatal(err)
	}
	chart, err := helm.LoadChart(packed)
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := helm.Template(t.Context(), helm.TemplateOptions{
		Common:      helm.Common{Name: Name, Namespace: toolkit.Namespace, Chart: chart, Values: values, CRDs: helm.SkipCRDs},
		KubeVersion: "v1.36.0", ClusterWide: clusterWide,
	})
	if err != nil {
		t.Fatal(err)
	}
	all, err := Permissions(rendered.Objects)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, p := range all {
		texts = append(texts, p.String())
	}
	return texts
}
