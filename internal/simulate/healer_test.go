package simulate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/argoproj/argo-cd/v3/resource_customizations"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/health"
	"github.com/headgate-dev/headgate/internal/health/argocd"
	"github.com/headgate-dev/headgate/internal/simulate"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = json.Unmarshal(data, &o.Object)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func healer(t *testing.T, overrides map[schema.GroupKind]map[string]any) *simulate.Healer {
	t.Helper()
	h, err := simulate.NewHealer(overrides)
	if err != nil {
		t.Fatal(err)
	}
	h.Now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return h
}

// sampledKinds are the kinds with a directory of test cases.
func sampledKinds(t *testing.T) []schema.GroupKind {
	t.Helper()
	groups, err := resource_customizations.Embedded.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var found []schema.GroupKind
	for _, group := range groups {
		if !group.IsDir() {
			continue
		}
		kinds, err := resource_customizations.Embedded.ReadDir(group.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range kinds {
			if _, err := resource_customizations.Embedded.ReadFile(group.Name() + "/" + kind.Name() + "/health_test.yaml"); err == nil {
				name := strings.ReplaceAll(kind.Name(), "_", "Anything")
				found = append(found, schema.GroupKind{Group: strings.ReplaceAll(group.Name(), "_", "any"), Kind: name})
			}
		}
	}
	if len(found) < 200 {
		t.Fatalf("only %d kinds have test cases", len(found))
	}
	return found
}

func TestStatusOfEveryKindWithASample(t *testing.T) {
	h := healer(t, nil)
	for _, gk := range sampledKinds(t) {
		t.Run(gk.String(), func(t *testing.T) {
			o := object(t, "{apiVersion: "+gk.Group+"/v1, kind: "+gk.Kind+", metadata: {name: one, namespace: here, generation: 7}}")
			status, ok, err := h.Status(o, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				if group := gk.Group; !strings.HasSuffix(group, "fluxcd.io") && !strings.HasPrefix(group, "a") && group != "policy" && group != "batch" {
					t.Error("it gets no status")
				}
				return
			}
			o.Object["status"] = status
			if verdict := health.Assess(o); verdict.Verdict != engine.Current {
				t.Errorf("it is %s: %s", verdict.Verdict, verdict.Message)
			}
			inspect(t, "status", status)
		})
	}
}

// inspect walks a status: generations are those of the object, times are those of the healer.
func inspect(t *testing.T, path string, value any) {
	t.Helper()
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			inspect(t, path+"."+key, v[key])
		}
	case []any:
		for _, item := range v {
			inspect(t, path, item)
		}
	case int64, float64:
		if strings.HasSuffix(path, ".observedGeneration") && v != int64(7) {
			t.Errorf("%s is %v", path, v)
		}
	case string:
		if at, err := time.Parse(time.RFC3339, v); err == nil && at.Before(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)) {
			t.Errorf("%s is %s", path, v)
		}
	}
}

func TestSampleBecomesTheObject(t *testing.T) {
	o := object(t, "{apiVersion: apps.openshift.io/v1, kind: DeploymentConfig, metadata: {name: web, namespace: site, generation: 3}, spec: {replicas: 2}}")
	status, ok, err := healer(t, nil).Status(o, nil, nil)
	if err != nil || !ok {
		t.Fatalf("%v %v", ok, err)
	}
	const now = "2026-03-01T12:00:00Z"
	want := map[string]any{
		"availableReplicas": int64(2), "readyReplicas": int64(2), "replicas": int64(2), "observedGeneration": int64(3),
		"details": map[string]any{"message": "config change", "causes": []any{map[string]any{"type": "ConfigChange"}}},
		"conditions": []any{
			map[string]any{
				"type": "Available", "status": "True", "lastUpdateTime": now, "lastTransitionTime": now,
				"message": "Deployment config has minimum availability.", "reason": "Simulated",
			},
			map[string]any{
				"type": "Progressing", "status": "True", "lastUpdateTime": now, "lastTransitionTime": now,
				"reason": "NewReplicationControllerAvailable", "message": `replication controller "example-1" successfully rolled out`,
			},
		},
	}
	if diff := cmp.Diff(want, status); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestDeadlinesAreToCome(t *testing.T) {
	o := object(t, "{apiVersion: postgresql.cnpg.io/v1, kind: Cluster, metadata: {name: db, namespace: site}}")
	status, _, err := healer(t, nil).Status(o, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	expirations, _, err := unstructured.NestedStringMap(status, "certificates", "expirations")
	if err != nil || len(expirations) == 0 {
		t.Fatalf("%v (%v)", expirations, err)
	}
	for name, at := range expirations {
		if at != "2026-05-30 12:00:00 +0000 UTC" {
			t.Errorf("%s ends at %s", name, at)
		}
	}
}

func TestCertificateIsValid(t *testing.T) {
	o := object(t, "{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: web, namespace: site, creationTimestamp: '2026-04-01T00:00:00Z'}}")
	h, err := simulate.NewHealer(nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		status, _, err := h.Status(o, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		conditions, _, err := unstructured.NestedSlice(status, "conditions")
		if err != nil {
			t.Fatal(err)
		}
		ready, _ := conditions[len(conditions)-1].(map[string]any)
		if ready["type"] != "Ready" || ready["status"] != "True" || ready["lastTransitionTime"] != "2026-04-01T00:00:00Z" {
			t.Errorf("without a time it is that of the object: %v", ready)
		}
	}
}

func TestRealWorkIsNeverFaked(t *testing.T) {
	for _, text := range []string{
		"{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: a}}",
		"{apiVersion: fluxcd.controlplane.io/v1, kind: ResourceSet, metadata: {name: a}}",
		"{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: a}}",
		"{apiVersion: argoproj.io/v1alpha1, kind: Workflow, metadata: {name: a}}",
		"{apiVersion: build.headgate.dev/v1alpha1, kind: Build, metadata: {name: a}}",
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}}",
		"{apiVersion: v1, kind: Pod, metadata: {name: a}}",
		"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a}}",
	} {
		o := object(t, text)
		if status, ok, err := healer(t, nil).Status(o, nil, nil); ok || err != nil || status != nil {
			t.Errorf("%s gets %v (%v)", o.GetKind(), status, err)
		}
		gk := o.GroupVersionKind().GroupKind()
		if _, err := simulate.NewHealer(map[schema.GroupKind]map[string]any{gk: {}}); err == nil || !strings.Contains(err.Error(), gk.String()) {
			t.Errorf("a status of %s can be given: %v", gk, err)
		}
	}
	o := object(t, "{apiVersion: argoproj.io/v1alpha1, kind: EventSource, metadata: {name: a}}")
	if _, ok, err := healer(t, nil).Status(o, nil, nil); !ok || err != nil {
		t.Errorf("a kind that others serve in the group of Argo CD gets no status: %v", err)
	}
}

func TestDefinitionLimitsStatus(t *testing.T) {
	crd := func(schema string) *unstructured.Unstructured {
		return object(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: xs.e.io}
spec:
  group: e.io
  names: {kind: X, plural: xs}
  scope: Namespaced
  versions:
    - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: `+schema+`}}`)
	}
	condition := func(more string) string {
		return "{type: object, properties: {status: {type: object, properties: {conditions: {type: array, items: {type: object, " +
			"required: [type, status, lastTransitionTime], properties: {type: {type: string" + more + "}, status: {type: string}, " +
			"lastTransitionTime: {type: string, format: date-time}}}}}}}}"
	}
	item := func(kind string) any {
		return map[string]any{"type": kind, "status": "True", "lastTransitionTime": "2026-03-01T12:00:00Z"}
	}
	cases := map[string]struct {
		reason, schema string
		check          simulate.Check
		want           map[string]any
	}{
		"unknown fields":  {"they are dropped", condition(""), simulate.Check{}, map[string]any{"conditions": []any{item("Ready"), item("Available")}}},
		"unknown value":   {"the element that has it is dropped", condition(", enum: [Ready]"), simulate.Check{}, map[string]any{"conditions": []any{item("Ready")}}},
		"no status":       {"there is none", "{type: object, properties: {spec: {type: object}}}", simulate.Check{}, map[string]any{}},
		"kept":            {"what a definition keeps stays", "{type: object, properties: {status: {type: object, x-kubernetes-preserve-unknown-fields: true}}}", simulate.Check{Current: "status.phase == 'Up'"}, nil},
		"phase only":      {"what a check asks for is kept", "{type: object, properties: {status: {type: object, properties: {phase: {type: string, enum: [Up, Down]}}}}}", simulate.Check{Current: "status.phase == 'Up'"}, map[string]any{"phase": "Up"}},
		"wrong type":      {"conditions that are no list are dropped", "{type: object, properties: {status: {type: object, properties: {conditions: {type: object}, observedGeneration: {type: integer}}}}}", simulate.Check{}, map[string]any{"observedGeneration": int64(4)}},
		"missing a field": {"what lacks a required field is dropped", "{type: object, properties: {status: {type: object, properties: {observedGeneration: {type: integer}, conditions: {type: array, items: {type: object, required: [more], properties: {more: {type: string}, type: {type: string}}}}}}}}", simulate.Check{}, map[string]any{"observedGeneration": int64(4), "conditions": []any{}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			o := object(t, "{apiVersion: e.io/v1, kind: X, metadata: {name: a, generation: 4}}")
			status, ok, err := healer(t, nil).Status(o, crd(c.schema), []simulate.Check{c.check})
			if err != nil || ok != (len(status) > 0) {
				t.Fatalf("%s: %v %v", c.reason, ok, err)
			}
			if c.want == nil {
				return
			}
			if diff := cmp.Diff(c.want, status); diff != "" {
				t.Errorf("%s: -want +got:\n%s", c.reason, diff)
			}
		})
	}
}

// A custom check replaces the rules for all kinds, and is tried with statuses until one satisfies it.
func TestAssess(t *testing.T) {
	assess := func(want string) simulate.Check {
		return simulate.Check{Assess: func(u *unstructured.Unstructured) engine.ObjectHealth {
			status, _, _ := unstructured.NestedMap(u.Object, "status")
			if _, there := status[want]; there {
				return engine.ObjectHealth{Verdict: engine.Current}
			}
			return engine.ObjectHealth{Verdict: engine.InProgress, Message: "no " + want}
		}}
	}
	o := object(t, "{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: a, generation: 4}, spec: {parentRefs: [{name: gateway}]}}")
	for want, passes := range map[string]bool{"parents": true, "conditions": true, "nonsense": false} {
		status, ok, err := healer(t, nil).Status(o, nil, []simulate.Check{assess(want)})
		if !ok || (err == nil) != passes {
			t.Errorf("%s: %v %v %v", want, status, ok, err)
		}
		if _, there := status[want]; there != passes {
			t.Errorf("%s is in the status: %v", want, status)
		}
	}
}

// TestArgoHealth has an object of every kind that a check of Argo CD names become healthy by that check, whatever its spec. Some checks read what
// no object of the kind is without, which is not in the status.
func TestArgoHealth(t *testing.T) {
	checks := argocd.New(argocd.Settings{})
	assess := simulate.Check{Assess: func(u *unstructured.Unstructured) engine.ObjectHealth { return checks.Assess(t.Context(), u) }}
	needs := map[string]string{
		"CloneSet.apps.kruise.io": "spec.updateStrategy", "DaemonSet.apps.kruise.io": "spec.updateStrategy", "StatefulSet.apps.kruise.io": "spec.updateStrategy",
		"Elasticsearch.elasticsearch.k8s.elastic.co": "spec.nodeSets", "SparkApplication.sparkoperator.k8s.io": "spec.executor", "ExecHook.astra.netapp.io": "spec.enabled",
		"ClusterResourceBinding.work.karmada.io": "spec.clusters", "ResourceBinding.work.karmada.io": "spec.clusters", "Shoot.core.gardener.cloud": "a label",
	}
	h := healer(t, nil)
	for _, gk := range sampledKinds(t) {
		o := object(t, "{metadata: {name: a, generation: 2}, spec: {replicas: 1}}")
		o.SetGroupVersionKind(gk.WithVersion("v1"))
		if _, ok, err := h.Status(o, nil, []simulate.Check{assess}); ok && (err == nil) != (needs[gk.String()] == "") {
			t.Errorf("%s: %v", gk, err)
		}
	}
}
