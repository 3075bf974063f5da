package deploy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestDialectsAreApart keeps the kinds of Argo CD out of the chart: only clusters that serve them get them.
func TestDialectsAreApart(t *testing.T) {
	argo, err := ArgoCRDs()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"applications.argoproj.io", "applicationsets.argoproj.io", "appprojects.argoproj.io"}
	if diff := cmp.Diff(want, names(argo)); diff != "" {
		t.Errorf("the definitions of Argo CD (-want +got):\n%s", diff)
	}
	flux, err := CRDs()
	if err != nil {
		t.Fatal(err)
	}
	if len(flux) == 0 {
		t.Error("the chart has no definitions")
	}
	for _, d := range flux {
		if group, _, _ := unstructured.NestedString(d.Object, "spec", "group"); group == "argoproj.io" {
			t.Errorf("the chart has %s", d.GetName())
		}
	}
}

// TestWorkflowDefinitions keeps spec, status and labels of a run in one update, as clients of the upstream write them.
func TestWorkflowDefinitions(t *testing.T) {
	workflows, err := WorkflowCRDs()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"clusterworkflowtemplates.argoproj.io", "cronworkflows.argoproj.io", "workflows.argoproj.io", "workflowtemplates.argoproj.io",
	}
	if diff := cmp.Diff(want, names(workflows)); diff != "" {
		t.Errorf("the definitions of workflows (-want +got):\n%s", diff)
	}
	for _, d := range workflows {
		versions, _, _ := unstructured.NestedSlice(d.Object, "spec", "versions")
		if len(versions) != 1 {
			t.Fatalf("%s has %d versions, want 1", d.GetName(), len(versions))
		}
		version, _ := versions[0].(map[string]any)
		if _, found, _ := unstructured.NestedMap(version, "subresources", "status"); found {
			t.Errorf("%s has a status subresource", d.GetName())
		}
		for _, field := range []string{"spec", "status"} {
			part, found, _ := unstructured.NestedMap(version, "schema", "openAPIV3Schema", "properties", field)
			if found && part["x-kubernetes-preserve-unknown-fields"] != true {
				t.Errorf("%s prunes unknown fields of its %s: nothing could name them", d.GetName(), field)
			}
		}
	}
}

func names(all []*unstructured.Unstructured) []string {
	var got []string
	for _, d := range all {
		got = append(got, d.GetName())
	}
	return got
}

// TestDigitalOceanDefinitions has the kinds of DigitalOcean in the groups and scopes of upstream, with a status of their own.
func TestDigitalOceanDefinitions(t *testing.T) {
	definitions, err := ProvisionCRDs()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, d := range definitions {
		group, _, _ := unstructured.NestedString(d.Object, "spec", "group")
		if !strings.Contains(group, "digitalocean") && !strings.HasSuffix(group, "do.crossplane.io") {
			continue
		}
		kind, _, _ := unstructured.NestedString(d.Object, "spec", "names", "kind")
		scope, _, _ := unstructured.NestedString(d.Object, "spec", "scope")
		versions, _, _ := unstructured.NestedSlice(d.Object, "spec", "versions")
		version, _ := versions[0].(map[string]any)
		_, status, _ := unstructured.NestedMap(version, "subresources", "status")
		if status == (kind == "ProviderConfigUsage") {
			t.Errorf("%s: has a status subresource: %t", d.GetName(), status)
		}
		got[group+"/"+version["name"].(string)+" "+kind] = scope
	}
	want := map[string]string{
		"droplet.digitalocean.crossplane.io/v1alpha1 Droplet":        "Cluster",
		"custom.digitalocean.crossplane.io/v1alpha1 Image":           "Cluster",
		"ssh.digitalocean.crossplane.io/v1alpha1 Key":                "Cluster",
		"networking.digitalocean.crossplane.io/v1alpha1 IP":          "Cluster",
		"digitalocean.crossplane.io/v1beta1 ProviderConfig":          "Cluster",
		"digitalocean.crossplane.io/v1beta1 ProviderConfigUsage":     "Cluster",
		"droplet.digitalocean.m.crossplane.io/v1alpha1 Droplet":      "Namespaced",
		"custom.digitalocean.m.crossplane.io/v1alpha1 Image":         "Namespaced",
		"ssh.digitalocean.m.crossplane.io/v1alpha1 Key":              "Namespaced",
		"networking.digitalocean.m.crossplane.io/v1alpha1 IP":        "Namespaced",
		"digitalocean.m.crossplane.io/v1beta1 ProviderConfig":        "Namespaced",
		"digitalocean.m.crossplane.io/v1beta1 ClusterProviderConfig": "Cluster",
		"digitalocean.m.crossplane.io/v1beta1 ProviderConfigUsage":   "Namespaced",
		"compute.do.crossplane.io/v1alpha1 Droplet":                  "Cluster",
		"do.crossplane.io/v1alpha1 ProviderConfig":                   "Cluster",
		"do.crossplane.io/v1alpha1 ProviderConfigUsage":              "Cluster",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the definitions of DigitalOcean (-want +got):\n%s", diff)
	}
}

// TestClusterDefinitions keeps the name of the kind, and what its status is read by.
func TestClusterDefinitions(t *testing.T) {
	crds, err := ClusterCRDs()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"virtualclusters.cluster.headgate.dev"}, names(crds)); diff != "" {
		t.Fatalf("the definitions of virtual clusters (-want +got):\n%s", diff)
	}
	versions, _, _ := unstructured.NestedSlice(crds[0].Object, "spec", "versions")
	version, _ := versions[0].(map[string]any)
	if _, has, err := unstructured.NestedMap(version, "subresources", "status"); !has || err != nil {
		t.Errorf("the status is no subresource: %v", err)
	}
}

// TestIDPBuilderDefinitions keeps the names by which scripts of idpbuilder's users find the objects and their fields, one misspelled.
func TestIDPBuilderDefinitions(t *testing.T) {
	crds, err := IDPBuilderCRDs()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"custompackages.idpbuilder.cnoe.io", "gitrepositories.idpbuilder.cnoe.io", "localbuilds.idpbuilder.cnoe.io"}
	if diff := cmp.Diff(want, names(crds)); diff != "" {
		t.Fatalf("the definitions of idpbuilder (-want +got):\n%s", diff)
	}
	for i, tc := range []struct {
		scope  string
		fields []string
	}{
		{"Namespaced", []string{"spec.argoCD.applicationFile", "spec.internalGitServeURL", "spec.remoteRepository.cloneSubmodules", "status.gitRepositoryRefs", "status.synced"}},
		{"Namespaced", []string{"spec.source.embeddedAppName", "spec.provider.organizationName", "status.commit.hash", "status.externalGitRepositoryUrl"}},
		{"Cluster", []string{"spec.packageConfigs.customPackageDirs", "spec.buildCustomization.usePathRouting", "status.ArgoCD.available", "status.gitea.adminUserSecretNameecret"}},
	} {
		if scope, _, _ := unstructured.NestedString(crds[i].Object, "spec", "scope"); scope != tc.scope {
			t.Errorf("%s has the scope %q", want[i], scope)
		}
		versions, _, _ := unstructured.NestedSlice(crds[i].Object, "spec", "versions")
		version, _ := versions[0].(map[string]any)
		for _, field := range tc.fields {
			path := []string{"schema", "openAPIV3Schema"}
			for part := range strings.SplitSeq(field, ".") {
				path = append(path, "properties", part)
			}
			if _, has, err := unstructured.NestedMap(version, path...); !has || err != nil {
				t.Errorf("%s has no field %s: %v", want[i], field, err)
			}
		}
	}
}

// TestKargoDefinitions keeps the names and defaults that manifests of Kargo's users rely on, of old versions and new ones.
func TestKargoDefinitions(t *testing.T) {
	crds, err := KargoCRDs()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"clusterpromotiontasks.kargo.akuity.io", "freights.kargo.akuity.io", "projectconfigs.kargo.akuity.io", "projects.kargo.akuity.io",
		"promotions.kargo.akuity.io", "promotiontasks.kargo.akuity.io", "stages.kargo.akuity.io", "warehouses.kargo.akuity.io",
	}
	if diff := cmp.Diff(want, names(crds)); diff != "" {
		t.Fatalf("the definitions of Kargo (-want +got):\n%s", diff)
	}
	schemas := map[string]map[string]any{}
	for i, scope := range []string{"Cluster", "Namespaced", "Namespaced", "Cluster", "Namespaced", "Namespaced", "Namespaced", "Namespaced"} {
		if got, _, _ := unstructured.NestedString(crds[i].Object, "spec", "scope"); got != scope {
			t.Errorf("%s has the scope %q, want %q", want[i], got, scope)
		}
		versions, _, _ := unstructured.NestedSlice(crds[i].Object, "spec", "versions")
		schemas[want[i]], _, _ = unstructured.NestedMap(versions[0].(map[string]any), "schema", "openAPIV3Schema")
	}
	type field struct{ kind, path, fallback string }
	for _, f := range []field{
		{"warehouses", "spec.interval", "5m0s"},
		{"warehouses", "spec.freightCreationPolicy", "Automatic"},
		{"warehouses", "spec.subscriptions[].image.imageSelectionStrategy", "SemVer"},
		{"warehouses", "spec.subscriptions[].image.discoveryLimit", "20"},
		{"warehouses", "spec.subscriptions[].image.allowTags", ""},
		{"warehouses", "spec.subscriptions[].image.allowTagsRegexes", ""},
		{"warehouses", "spec.subscriptions[].git.commitSelectionStrategy", "NewestFromBranch"},
		{"warehouses", "spec.subscriptions[].git.strictSemvers", "true"},
		{"warehouses", "spec.subscriptions[].chart.semverConstraint", ""},
		{"stages", "spec.requestedFreight[].sources.requiredSoakTime", ""},
		{"stages", "spec.requestedFreight[].sources.availabilityStrategy", ""},
		{"stages", "spec.promotionTemplate.spec.steps[].retry.errorThreshold", ""},
		{"stages", "status.freightHistory[].verificationHistory", ""},
		{"freights", "status.verifiedIn", ""},
		{"projectconfigs", "spec.promotionPolicies[].stageSelector.matchExpressions", ""},
		{"projectconfigs", "status.webhookReceivers[].path", ""},
		{"promotions", "status.stepExecutionMetadata[].errorCount", ""},
	} {
		at := schemas[f.kind+".kargo.akuity.io"]
		for part := range strings.SplitSeq(f.path, ".") {
			name, list := strings.CutSuffix(part, "[]")
			at, _, _ = unstructured.NestedMap(at, "properties", name)
			if list {
				at, _, _ = unstructured.NestedMap(at, "items")
			}
		}
		if at == nil {
			t.Errorf("%s has no field %s", f.kind, f.path)
			continue
		}
		if got, has := at["default"]; (has || f.fallback != "") && fmt.Sprint(got) != f.fallback {
			t.Errorf("%s of %s is %v by default, want %q", f.path, f.kind, got, f.fallback)
		}
	}
}

// TestExternalSecretsDefinitions keeps the kinds, and the defaults that manifests rely on.
func TestExternalSecretsDefinitions(t *testing.T) {
	crds, err := ExternalSecretsCRDs()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"clusterexternalsecrets.external-secrets.io", "clustersecretstores.external-secrets.io", "externalsecrets.external-secrets.io",
		"pushsecrets.external-secrets.io", "secretstores.external-secrets.io",
		"clustergenerators.generators.external-secrets.io", "githubaccesstokens.generators.external-secrets.io",
		"passwords.generators.external-secrets.io", "uuids.generators.external-secrets.io", "webhooks.generators.external-secrets.io",
	}
	if diff := cmp.Diff(want, names(crds)); diff != "" {
		t.Fatalf("the definitions of external secrets (-want +got):\n%s", diff)
	}
	versions, _, _ := unstructured.NestedSlice(crds[2].Object, "spec", "versions")
	version, _ := versions[0].(map[string]any)
	if beta, _ := versions[len(versions)-1].(map[string]any); beta["name"] != "v1beta1" || beta["served"] != true || beta["storage"] != false || !cmp.Equal(beta["schema"], version["schema"]) {
		t.Errorf("the last of %d versions is %v", len(versions), beta["name"])
	}
	if versions, _, _ := unstructured.NestedSlice(crds[3].Object, "spec", "versions"); len(versions) != 1 {
		t.Errorf("PushSecrets have %d versions", len(versions))
	}
	spec := []string{"schema", "openAPIV3Schema", "properties", "spec", "properties"}
	for field, value := range map[string]any{
		"refreshInterval": "1h0m0s",
		"target":          map[string]any{"creationPolicy": "Owner", "deletionPolicy": "Retain"},
	} {
		got, _, err := unstructured.NestedFieldNoCopy(version, append(spec, field, "default")...)
		if err != nil || !cmp.Equal(value, got) {
			t.Errorf("the default of %s is %v (%v), want %v", field, got, err, value)
		}
	}
}
