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
	o := object(t, "{apiVersion: argoproj.io/v1alpha1, kind: Workflow, metadata: {name: a}}")
	if _, ok, err := healer(t, nil).Status(o, nil, nil); !ok || err != nil {
		t.Errorf("a Workflow gets no status: %v", err)
	}
}

func TestChecks(t *testing.T) {
	const generic = "{apiVersion: e.io/v1, kind: X, metadata: {name: a, generation: 2}, spec: {replicas: 3}}"
	cases := map[string]struct {
		reason, object string
		check          simulate.Check
	}{
		"phase":           {"an equality is made to hold", generic, simulate.Check{Current: "status.phase == 'Done'"}},
		"reversed":        {"the value may come first", generic, simulate.Check{Current: "'Done' == status.phase"}},
		"sample passes":   {"the sample has what is asked for", "{apiVersion: ceph.rook.io/v1, kind: CephCluster, metadata: {name: a}}", simulate.Check{Current: "status.ceph.health in ['HEALTH_OK', 'HEALTH_WARN']", Failed: "status.ceph.health == 'HEALTH_ERR'"}},
		"one of several":  {"the first value will do", generic, simulate.Check{Current: "status.ceph.health in ['HEALTH_OK', 'HEALTH_WARN']", Failed: "status.ceph.health == 'HEALTH_ERR'"}},
		"filter and all":  {"the idiom of the documentation", generic, simulate.Check{Current: "status.conditions.filter(e, e.type == 'Ready').all(e, e.status == 'True')", Failed: "status.conditions.filter(e, e.type == 'Ready').all(e, e.status == 'False')"}},
		"other condition": {"a condition that no sample has", generic, simulate.Check{Current: "status.conditions.exists(c, c.type == 'Synced' && c.status == 'True')"}},
		"observed":        {"a condition of the generation", generic, simulate.Check{Current: "status.conditions.filter(e, e.type == 'Programmed').all(e, e.observedGeneration == metadata.generation && e.status == 'True')", Failed: "status.conditions.exists(e, e.type == 'Programmed' && e.status == 'False')"}},
		"bool":            {"a field that is true", generic, simulate.Check{Current: "status.ready"}},
		"negated":         {"a field that is not", generic, simulate.Check{Current: "has(status.ready) && !status.pending", InProgress: "status.pending"}},
		"spec":            {"numbers of the object", generic, simulate.Check{Current: "status.readyReplicas == spec.replicas && status.replicas >= spec.replicas"}},
		"size":            {"something in a list", generic, simulate.Check{Current: "size(status.addresses) > 0 && status.endpoints.size() == 2"}},
		"index":           {"an element of a list", generic, simulate.Check{Current: "status.addresses[0].type == 'IP'"}},
		"filtered index":  {"the element that passes", generic, simulate.Check{Current: "status.conditions.filter(c, c.type == 'Live')[0].status == 'True'"}},
		"map":             {"a key that is no name", generic, simulate.Check{Current: "status['the-phase'] == 'Up'"}},
		"either":          {"one of two ways", generic, simulate.Check{Current: "spec.never == 1 || status.state == 'up'"}},
		"ternary":         {"as the object is", generic, simulate.Check{Current: "spec.replicas > 2 ? status.mode == 'ha' : status.mode == 'single'"}},
		"optional":        {"fields that may be missing", generic, simulate.Check{Current: "status.?phase.orValue('') == 'Ready'"}},
		"not equal":       {"another value than one", generic, simulate.Check{Current: "status.phase != 'Pending'", InProgress: "status.phase == 'Pending'"}},
		"none of":         {"no condition that is false", generic, simulate.Check{Current: "!status.conditions.exists(c, c.type == 'Live' && c.status != 'True') && status.conditions.exists(c, c.type == 'Live')"}},
		"prefix":          {"a text that begins", generic, simulate.Check{Current: "status.version.startsWith('v2')"}},
		"failed only":     {"nothing but a failure", generic, simulate.Check{Failed: "status.phase == 'Failed'"}},
		"nested list":     {"conditions in a list", generic, simulate.Check{Current: "status.parents.all(p, p.conditions.exists(c, c.type == 'Accepted' && c.status == 'True'))"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			o := object(t, c.object)
			status, ok, err := healer(t, nil).Status(o, nil, []simulate.Check{c.check})
			if err != nil || !ok {
				t.Fatalf("%s: %v, %v", c.reason, err, status)
			}
			gk := o.GroupVersionKind().GroupKind()
			rule := engine.HealthExpr{Group: gk.Group, Kind: gk.Kind, Current: c.check.Current, Failed: c.check.Failed, InProgress: c.check.InProgress}
			if rule.Current == "" {
				rule.Current = "true"
			}
			rules, err := health.CompileRules([]engine.HealthExpr{rule})
			if err != nil {
				t.Fatal(err)
			}
			o.Object["status"] = status
			if verdict := rules.Assess(o); verdict.Verdict != engine.Current {
				t.Errorf("%s: it is %s: %s", c.reason, verdict.Verdict, verdict.Message)
			}
			if verdict := health.Assess(o); verdict.Verdict != engine.Current {
				t.Errorf("%s: by the rules for all kinds it is %s: %s", c.reason, verdict.Verdict, verdict.Message)
			}
		})
	}
}

func TestCheckThatNothingPasses(t *testing.T) {
	o := object(t, "{apiVersion: e.io/v1, kind: X, metadata: {name: a, namespace: b}}")
	status, ok, err := healer(t, nil).Status(o, nil, []simulate.Check{{Current: "metadata.name == 'other'"}})
	if err == nil || !strings.Contains(err.Error(), `X.e.io "a" in namespace "b"`) || !strings.Contains(err.Error(), "not yet current") {
		t.Errorf("error %v", err)
	}
	if conditions, _, _ := unstructured.NestedSlice(status, "conditions"); !ok || len(conditions) == 0 {
		t.Errorf("the best status is %v", status)
	}
	_, _, err = healer(t, nil).Status(o, nil, []simulate.Check{{Current: "status ="}})
	if err == nil || !strings.Contains(err.Error(), "current: ") {
		t.Errorf("error %v does not name the field", err)
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
