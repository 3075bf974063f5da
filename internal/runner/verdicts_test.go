package runner

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/health"
)

// TestExpensiveExpressions judges 500 objects by an expression that costs as much as one may: the loop is held up for about the
// budget, and the rest waits and says why.
func TestExpensiveExpressions(t *testing.T) {
	rules, err := health.CompileRules([]engine.HealthExpr{{Group: "e.io", Kind: "X", Current: "status.items.all(a, status.items.all(b, status.items.all(c, a + b + c > -1)))"}})
	if err != nil {
		t.Fatal(err)
	}
	var items []any
	for i := range 3000 {
		items = append(items, int64(i))
	}
	record := func(i int, version uint64) cluster.Record {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "e.io/v1", "kind": "X", "status": map[string]any{"items": items}}}
		o.SetName(fmt.Sprint("x-", i))
		return cluster.Record{ID: engine.IDOf(o), UID: types.UID(fmt.Sprint(i)), ResourceVersion: version, Full: o}
	}
	r, u := New(Config{}), &unit{rules: rules}
	began, waiting := time.Now(), 0
	for i := range 500 {
		if h := r.assess(u, record(i, 1)); strings.HasPrefix(h.Message, "not evaluated yet: spec.healthCheckExprs take too long") {
			waiting++
		}
	}
	if took := time.Since(began); took > 20*time.Second || waiting < 400 {
		t.Errorf("500 objects held the loop up for %s, and %d wait", took, waiting)
	}
	if !u.paces.evaluate.due {
		t.Error("the unit is not woken when its budget permits more")
	}
}

// TestVerdictsAreKept evaluates each version of an object once.
func TestVerdictsAreKept(t *testing.T) {
	rules, err := health.CompileRules([]engine.HealthExpr{{Kind: "ConfigMap", Current: "data.k == 'v'"}})
	if err != nil {
		t.Fatal(err)
	}
	r, u := New(Config{}), &unit{rules: rules}
	record := func(uid types.UID, version uint64, k string) cluster.Record {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"k": k}}}
		return cluster.Record{ID: engine.IDOf(o), UID: uid, ResourceVersion: version, Full: o}
	}
	for i, c := range []struct {
		reason string
		rec    cluster.Record
		want   engine.Verdict
	}{
		{"it holds", record("a", 1, "v"), engine.Current},
		{"the same version is not evaluated again", record("a", 1, "x"), engine.Current},
		{"another version is", record("a", 2, "x"), engine.InProgress},
		{"and another object of the name", record("b", 2, "v"), engine.Current},
	} {
		if got := r.assess(u, c.rec); got.Verdict != c.want {
			t.Errorf("%d, %s: got %s, want %s", i, c.reason, got.Verdict, c.want)
		}
	}
}
