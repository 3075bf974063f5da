package simulate_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/health"
	"github.com/headgate-dev/headgate/internal/simulate"
)

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
		"generation":      {"a phase of this generation", generic, simulate.Check{Current: "status.observedGeneration == metadata.generation && status.phase in ['Running']", InProgress: "!has(status.conditions) || status.conditions.exists(c, c.type == 'Progressing' && c.status == 'True')"}},
		"counted":         {"one that passes a filter", generic, simulate.Check{Current: "size(status.conditions.filter(c, c.type == 'Up' && c.status == 'True')) == 1 && status.conditions.exists_one(c, c.type == 'Live')"}},
		"no sample's":     {"what the sample of the kind does not have", "{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: a}}", simulate.Check{Current: "status.revision > 1 && status.notBefore != ''"}},
		"two fields":      {"fields of the status that are the same", generic, simulate.Check{Current: "status.replicas == status.readyReplicas && status.readyReplicas > 0"}},
		"mapped":          {"a key of a map that is there", generic, simulate.Check{Current: "'ip' in status.addresses && has(status.loadBalancer.ingress)"}},
		"every one":       {"one of two ways for each of a list", generic, simulate.Check{Current: "status.conditions.all(c, c.reason.matches('^never$') || c.note == 'seen')"}},
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

func TestOddExpressions(t *testing.T) {
	o := object(t, "{apiVersion: e.io/v1, kind: X, metadata: {name: a}}")
	for _, text := range []string{
		"size() > 1", "has()", "exists(a, b)", "filter(a, b).all(c, d)", "status.x.all(a)", "startsWith('a')", "dyn() == 1",
		"status.x[1+1] == 2", "status[0] == 1", "status.x['a'][3] == 1", "size(status.list) > 1000000000", "status", "1", "''",
		"status.list.filter(e, e)[0]", "-status.x == 1", "status.x - 1 == status.y", "status == metadata", "[1, 2] == status.x",
		"status.conditions.all(e, e.type == 'A').b", "status.a.b.c.d.exists(x, x.exists(y, y == x))", "{'a': 1} == status.m",
		"status.t == timestamp('2026-01-01T00:00:00Z')", "status.n > 'a'", "!size(status.x)", "status.x ? 1 : 2",
	} {
		for _, check := range []simulate.Check{{Current: text}, {Failed: text}, {Current: "!(" + text + ")"}} {
			status, _, err := healer(t, nil).Status(o, nil, []simulate.Check{check})
			if err == nil && len(status) == 0 {
				t.Errorf("%v: neither a status nor an error", check)
			}
		}
	}
}
