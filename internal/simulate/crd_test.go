package simulate_test

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v3/resource_customizations"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/simulate"
)

// validate asks the API server's own validation.
func validate(t *testing.T, crd *unstructured.Unstructured) {
	t.Helper()
	var versioned apiextensionsv1.CustomResourceDefinition
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(crd.Object, &versioned, true); err != nil {
		t.Fatalf("%s: %v", crd.GetName(), err)
	}
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	scheme.Default(&versioned)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&versioned.Spec)
	var internal apiextensions.CustomResourceDefinition
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&versioned, &internal, nil); err != nil {
		t.Fatalf("%s: %v", crd.GetName(), err)
	}
	internal.Status.StoredVersions = []string{versioned.Spec.Versions[0].Name}
	for _, err := range validation.ValidateCustomResourceDefinition(t.Context(), &internal) {
		t.Errorf("%s: %v", crd.GetName(), err)
	}
}

// tableOfKinds reads the kinds of the table, and says what is wrong with its lines.
func tableOfKinds(t *testing.T) map[schema.GroupKind][]string {
	t.Helper()
	data, err := os.ReadFile("kinds.txt")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[schema.GroupKind][]string{}
	group := ""
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		switch fields := strings.Fields(line); {
		case len(fields) == 0, fields[0] == "#":
		case len(fields) == 1 && !strings.HasPrefix(line, " ") && fields[0] > group:
			group = fields[0]
		case len(fields) == 4 && strings.HasPrefix(line, "  ") && (fields[2] == "Cluster" || fields[2] == "Namespaced"):
			gk := schema.GroupKind{Group: group, Kind: fields[0]}
			if kinds[gk] != nil {
				t.Errorf("line %d: %s is there twice", i+1, gk)
			}
			kinds[gk] = fields
		default:
			t.Errorf("line %d: %q is neither a group after the one before nor a kind", i+1, line)
		}
	}
	return kinds
}

func TestTableOfKinds(t *testing.T) {
	kinds := tableOfKinds(t)
	if len(kinds) < 500 {
		t.Errorf("only %d kinds", len(kinds))
	}
	plurals := map[string]bool{}
	for gk, fields := range kinds {
		plural, cluster, known := simulate.Known(gk)
		if !known || plural != fields[1] || cluster != (fields[2] == "Cluster") {
			t.Errorf("%s is %s, %v, %v", gk, plural, cluster, known)
		}
		crd := simulate.CRD(gk, nil)
		if plurals[crd.GetName()] {
			t.Errorf("%s is the name of two definitions", crd.GetName())
		}
		plurals[crd.GetName()] = true
		validate(t, crd)
	}
}

func TestKnown(t *testing.T) {
	type kind struct {
		Plural         string
		Cluster, Known bool
	}
	for gk, want := range map[schema.GroupKind]kind{
		{Group: "ceph.rook.io", Kind: "CephNFS"}:                        {"cephnfses", false, true},
		{Group: "k8s.cni.cncf.io", Kind: "NetworkAttachmentDefinition"}: {"network-attachment-definitions", false, true},
		{Group: "cert-manager.io", Kind: "ClusterIssuer"}:               {"clusterissuers", true, true},
		{Group: "gateway.networking.k8s.io", Kind: "Gateway"}:           {"gateways", false, true},
		{Group: "gateway.networking.k8s.io", Kind: "BackendTLSPolicy"}:  {"backendtlspolicies", false, true},
		{Group: "postgresql.cnpg.io", Kind: "Cluster"}:                  {"clusters", false, true},
		{Group: "tailscale.com", Kind: "Connector"}:                     {"connectors", true, true},
		{Group: "monitoring.coreos.com", Kind: "Prometheus"}:            {"prometheuses", false, true},
		{Group: "cilium.io", Kind: "CiliumLoadBalancerIPPool"}:          {"ciliumloadbalancerippools", true, true},
		{Group: "kaniop.rs", Kind: "KanidmPersonAccount"}:               {"kanidmpersonsaccounts", false, true},
		{Group: "dragonflydb.io", Kind: "Dragonfly"}:                    {"dragonflies", false, true},
		{Group: "e.io", Kind: "Policy"}:                                 {"policies", false, false},
		{Group: "e.io", Kind: "Gateway"}:                                {"gateways", false, false},
		{Group: "e.io", Kind: "Box"}:                                    {"boxes", false, false},
		{Group: "e.io", Kind: "Mesh"}:                                   {"meshes", false, false},
		{Group: "e.io", Kind: "StorageClass"}:                           {"storageclasses", false, false},
		{Group: "e.io", Kind: "ClusterThing"}:                           {"clusterthings", true, false},
		{Group: "e.io", Kind: "Cluster"}:                                {"clusters", false, false},
		{Group: "e.io", Kind: "Clustered"}:                              {"clustereds", false, false},
		{Group: "argoproj.io", Kind: "Rollout"}:                         {"rollouts", false, true},
		{Group: "sqs.aws.crossplane.io", Kind: "Queue"}:                 {"queues", true, false},
		{Group: "sqs.aws.upbound.io", Kind: "Queue"}:                    {"queues", true, false},
		{Group: "sqs.aws.m.upbound.io", Kind: "Queue"}:                  {"queues", false, false},
	} {
		plural, cluster, known := simulate.Known(gk)
		if diff := cmp.Diff(want, kind{plural, cluster, known}); diff != "" {
			t.Errorf("%s: -want +got:\n%s", gk, diff)
		}
	}
}

// TestKnownChecked has the table know every kind that a health check of Argo CD names: its scope is not left to a guess.
func TestKnownChecked(t *testing.T) {
	found, err := fs.Glob(resource_customizations.Embedded, "*/*/health.lua")
	if err != nil || len(found) < 100 {
		t.Fatalf("%d checks: %v", len(found), err)
	}
	builtin := []string{"apps", "batch", "policy", "apiextensions.k8s.io"}
	for _, name := range found {
		parts := strings.Split(name, "/")
		gk := schema.GroupKind{Group: parts[0], Kind: parts[1]}
		if strings.HasPrefix(gk.Group, "_") || gk.Kind == "_" || slices.Contains(builtin, gk.Group) {
			continue
		}
		if _, _, known := simulate.Known(gk); !known {
			t.Errorf("the table lacks %s", gk)
		}
	}
}

func TestCRD(t *testing.T) {
	gk := schema.GroupKind{Group: "e.io", Kind: "ClusterThing"}
	crd := simulate.CRD(gk, []string{"v2", "v1", "v2"})
	validate(t, crd)
	if crd.GetName() != "clusterthings.e.io" || crd.GetLabels()[simulate.Label] != "true" {
		t.Errorf("%s with labels %v", crd.GetName(), crd.GetLabels())
	}
	versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
	if err != nil || len(versions) != 2 {
		t.Fatalf("versions %v (%v)", versions, err)
	}
	first, _ := versions[0].(map[string]any)
	if first["name"] != "v2" || first["storage"] != true || first["served"] != true {
		t.Errorf("the first version is %v", first)
	}
	scope := func(crd *unstructured.Unstructured) string {
		scope, _, _ := unstructured.NestedString(crd.Object, "spec", "scope")
		return scope
	}
	seen := object(t, "{apiVersion: e.io/v1, kind: ClusterThing, metadata: {name: a, namespace: b}}")
	if scope(crd) != "Cluster" || scope(simulate.CRD(gk, nil, seen)) != "Namespaced" {
		t.Error("the scope is not that of the objects that were seen")
	}
	validate(t, simulate.CRD(schema.GroupKind{Group: "new.k8s.io", Kind: "Thing"}, []string{"v1alpha1"}))
}
