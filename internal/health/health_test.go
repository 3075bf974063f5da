package health_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/health"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = u.UnmarshalJSON(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestAssess(t *testing.T) {
	cases := map[string]struct {
		reason, object string
		want           engine.Verdict
	}{
		"no status":       {"what has no status is what it should be", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", engine.Current},
		"rolling out":     {"a Deployment without its replicas is on its way", "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, generation: 1}, spec: {replicas: 1}, status: {observedGeneration: 1}}", engine.InProgress},
		"running Job":     {"a Job that has started is waited for", "{apiVersion: batch/v1, kind: Job, metadata: {name: a}, status: {active: 1, startTime: '2026-01-01T00:00:00Z'}}", engine.InProgress},
		"suspended Job":   {"nobody waits for a Job that is suspended", "{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {suspend: true}, status: {startTime: '2026-01-01T00:00:00Z'}}", engine.Current},
		"finished Job":    {"a Job that has completed is done", "{apiVersion: batch/v1, kind: Job, metadata: {name: a}, status: {startTime: '2026-01-01T00:00:00Z', conditions: [{type: Complete, status: 'True'}]}}", engine.Current},
		"failed Job":      {"a Job that has failed is broken", "{apiVersion: batch/v1, kind: Job, metadata: {name: a}, status: {conditions: [{type: Failed, status: 'True'}]}}", engine.Failed},
		"finished Pod":    {"a Pod that ran to its end is done", "{apiVersion: v1, kind: Pod, metadata: {name: a}, status: {phase: Succeeded, conditions: [{type: Ready, status: 'False'}]}}", engine.Current},
		"terminating":     {"what is being deleted is terminating", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, deletionTimestamp: '2026-01-01T00:00:00Z'}}", engine.Terminating},
		"custom, ready":   {"a custom resource is judged by its Ready condition", "{apiVersion: e.io/v1, kind: X, metadata: {name: a}, status: {conditions: [{type: Ready, status: 'True'}]}}", engine.Current},
		"custom, unready": {"a custom resource whose Ready is False is on its way", "{apiVersion: e.io/v1, kind: X, metadata: {name: a}, status: {conditions: [{type: Ready, status: 'False'}]}}", engine.InProgress},
		"custom, stalled": {"a custom resource that is stalled is broken", "{apiVersion: e.io/v1, kind: X, metadata: {name: a}, status: {conditions: [{type: Stalled, status: 'True'}]}}", engine.Failed},
		"custom, behind":  {"a status of an older generation says nothing", "{apiVersion: e.io/v1, kind: X, metadata: {name: a, generation: 2}, status: {observedGeneration: 1, conditions: [{type: Ready, status: 'True'}]}}", engine.InProgress},
	}
	const managed = "{apiVersion: droplet.digitalocean.crossplane.io/v1alpha1, kind: Droplet, metadata: {name: a}, spec: {forProvider: {}}, status: {conditions: [%s]}}"
	for name, c := range map[string]struct {
		reason, object string
		want           engine.Verdict
	}{
		"managed, new":      {"a managed resource that was not observed yet is on its way", fmt.Sprintf(managed, ""), engine.InProgress},
		"managed, refused":  {"one that cannot be observed is on its way, though nothing says that it is not ready", fmt.Sprintf(managed, "{type: Synced, status: 'False', reason: ReconcileError, message: no login}"), engine.InProgress},
		"managed, creating": {"one that is being created is on its way", fmt.Sprintf(managed, "{type: Synced, status: 'True'}, {type: Ready, status: 'False', reason: Creating}"), engine.InProgress},
		"managed, ready":    {"one that is there is what it should be", fmt.Sprintf(managed, "{type: Synced, status: 'True'}, {type: Ready, status: 'True'}"), engine.Current},
		"managed, paused":   {"nothing becomes of one that is paused", fmt.Sprintf(managed, "{type: Synced, status: 'False', reason: ReconcilePaused, message: paused}"), engine.Current},
		"configuration":     {"a configuration is no managed resource", "{apiVersion: digitalocean.crossplane.io/v1beta1, kind: ProviderConfig, metadata: {name: a}, spec: {}}", engine.Current},
		"build, new":        {"a Build without a status is on its way", "{apiVersion: build.headgate.dev/v1alpha1, kind: Build, metadata: {name: a}}", engine.InProgress},
		"virtual, new":      {"a VirtualCluster without a status is on its way", "{apiVersion: cluster.headgate.dev/v1alpha1, kind: VirtualCluster, metadata: {name: a}}", engine.InProgress},
		"build, stalled":    {"one that does not continue is broken", "{apiVersion: build.headgate.dev/v1alpha1, kind: Build, metadata: {name: a}, status: {conditions: [{type: Ready, status: 'False'}, {type: Stalled, status: 'True'}]}}", engine.Failed},
		"workflow, new":     {"a Workflow that has not started is on its way", "{apiVersion: argoproj.io/v1alpha1, kind: Workflow, metadata: {name: a}}", engine.InProgress},
		"workflow, running": {"so is one that runs", "{apiVersion: argoproj.io/v1alpha1, kind: Workflow, metadata: {name: a}, status: {phase: Running}}", engine.InProgress},
		"workflow, done":    {"one that succeeded is done", "{apiVersion: argoproj.io/v1alpha1, kind: Workflow, metadata: {name: a}, status: {phase: Succeeded}}", engine.Current},
		"workflow, error":   {"one that did not is broken", "{apiVersion: argoproj.io/v1alpha1, kind: Workflow, metadata: {name: a}, status: {phase: Error, message: no template}}", engine.Failed},
	} {
		cases[name] = c
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := health.Assess(object(t, c.object)); got.Verdict != c.want {
				t.Errorf("%s: got %s (%s), want %s", c.reason, got.Verdict, got.Message, c.want)
			}
		})
	}
}

func TestRules(t *testing.T) {
	rules, err := health.CompileRules([]engine.HealthExpr{{
		Group: "e.io", Kind: "X", InProgress: "status.phase == 'Pending'", Failed: "status.phase == 'Broken'", Current: "status.phase == 'Done'",
	}})
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason, object string
		want           engine.Verdict
		says           string
	}{
		"current":     {"the expression says so", "{apiVersion: e.io/v2, kind: X, metadata: {name: a}, status: {phase: Done}}", engine.Current, ""},
		"failed":      {"the expression says so", "{apiVersion: e.io/v1, kind: X, metadata: {name: a}, status: {phase: Broken}}", engine.Failed, "failed"},
		"in progress": {"the expression says so", "{apiVersion: e.io/v1, kind: X, metadata: {name: a}, status: {phase: Pending}}", engine.InProgress, "inProgress"},
		"neither":     {"what is not current is on its way", "{apiVersion: e.io/v1, kind: X, metadata: {name: a}, status: {phase: Odd}}", engine.InProgress, "not yet current"},
		"no status":   {"an expression that cannot be evaluated waits, and says why", "{apiVersion: e.io/v1, kind: X, metadata: {name: a}}", engine.InProgress, "status"},
		"behind":      {"a status of an older generation is not asked", "{apiVersion: e.io/v1, kind: X, metadata: {name: a, generation: 2}, status: {observedGeneration: 1, phase: Done}}", engine.InProgress, "latest generation"},
		"other group": {"other kinds follow the built-in rules", "{apiVersion: f.io/v1, kind: X, metadata: {name: a}, status: {phase: Broken}}", engine.Current, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := rules.Assess(object(t, c.object))
			if got.Verdict != c.want || !strings.Contains(got.Message, c.says) {
				t.Errorf("%s: got %s (%s), want %s saying %q", c.reason, got.Verdict, got.Message, c.want, c.says)
			}
		})
	}
}

func TestRulesOfGroup(t *testing.T) {
	rules, err := health.CompileRules([]engine.HealthExpr{
		{Group: "e.io", Current: "status.phase == 'Done'"}, {Group: "e.io", Kind: "W", Current: "status.phase == 'Up'"},
	})
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason, object string
		want           engine.Verdict
	}{
		"every kind":  {"an entry without a kind is for every kind of its group", "{apiVersion: e.io/v1, kind: X, metadata: {name: a}, status: {phase: Broken}}", engine.InProgress},
		"that passes": {"which passes when it is true", "{apiVersion: e.io/v1, kind: Z, metadata: {name: a}, status: {phase: Done}}", engine.Current},
		"own":         {"one that names the kind comes first", "{apiVersion: e.io/v1, kind: W, metadata: {name: a}, status: {phase: Up}}", engine.Current},
		"other group": {"other groups are not meant", "{apiVersion: f.io/v1, kind: X, metadata: {name: a}, status: {phase: Broken}}", engine.Current},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			u := object(t, c.object)
			if got := rules.Assess(u); got.Verdict != c.want {
				t.Errorf("%s: got %s (%s), want %s", c.reason, got.Verdict, got.Message, c.want)
			}
			if gk := u.GroupVersionKind().GroupKind(); rules.Has(gk) != (gk.Group == "e.io") {
				t.Errorf("whether there are rules for %s: %v", gk, rules.Has(gk))
			}
		})
	}
	if _, err := health.CompileRules([]engine.HealthExpr{{Group: "a/b/v1", Kind: "X", Current: "true"}}); err == nil || !strings.Contains(err.Error(), `healthCheckExprs[0] (X): apiVersion: "a/b/v1"`) {
		t.Errorf("an apiVersion that is none gives %v", err)
	}
}

func TestCompileRulesNamesTheField(t *testing.T) {
	for field, expr := range map[string]engine.HealthExpr{
		"current": {Kind: "X", Current: "a =="}, "inProgress": {Kind: "X", Current: "true", InProgress: "("}, "failed": {Kind: "X", Current: "true", Failed: "1 +"},
	} {
		_, err := health.CompileRules([]engine.HealthExpr{expr})
		if want := "healthCheckExprs[0] (X): failed to parse the expression " + field + ": failed to parse the CEL expression '"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

func TestReady(t *testing.T) {
	dep := map[string]any{"metadata": map[string]any{"name": "dep"}, "status": map[string]any{"version": int64(3)}}
	self := map[string]any{"metadata": map[string]any{"name": "self"}, "spec": map[string]any{"needs": int64(2)}}
	for text, want := range map[string]bool{
		"dep.status.version >= self.spec.needs": true, "dep.status.version == 1": false, "dep.metadata.name == 'dep' && self.metadata.name == 'self'": true,
	} {
		expr, err := health.CompileReady(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := expr.Holds(map[string]any{"dep": dep, "self": self}); err != nil || got != want {
			t.Errorf("%s is %v (%v), want %v", text, got, err, want)
		}
	}
	expr, err := health.CompileReady("dep.status.nothing == 1")
	if err != nil {
		t.Fatal(err)
	}
	if met, err := expr.Holds(map[string]any{"dep": dep, "self": self}); err == nil || met {
		t.Errorf("a missing field is %v (%v), want an error", met, err)
	}
	for _, text := range []string{"dep.", "'text'", ""} {
		if _, err := health.CompileReady(text); err == nil {
			t.Errorf("%q compiles as a condition", text)
		}
	}
}
