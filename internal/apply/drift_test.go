package apply

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/engine"
)

func TestDiffering(t *testing.T) {
	want := map[string]any{
		"spec": map[string]any{"replicas": int64(2), "containers": []any{map[string]any{"name": "a", "image": "x:1"}}},
		"data": map[string]any{"a": "1", "b": "2", "c": "3", "d": "4"},
	}
	have := map[string]any{
		"spec":   map[string]any{"replicas": int64(5), "containers": []any{map[string]any{"name": "a", "image": "x:2", "extra": "y"}}},
		"data":   map[string]any{"d": "4"},
		"status": map[string]any{"x": "y"},
	}
	got := texts(differing(want, have, nil))
	if diff := cmp.Diff([]string{"data.a", "data.b", "data.c", "spec.containers[0].image", "spec.replicas"}, got); diff != "" {
		t.Errorf("the differing fields (-want +got):\n%s", diff)
	}
	if same := differing(want, want, nil); len(same) != 0 {
		t.Errorf("an object differs from itself: %v", same)
	}
}

func TestCommon(t *testing.T) {
	value := map[string]any{"strategy": map[string]any{}, "replicas": int64(1), "ports": []any{map[string]any{"port": int64(80), "targetPort": int64(0)}}}
	other := map[string]any{"replicas": int64(2), "ports": []any{map[string]any{"port": int64(80)}}}
	want := map[string]any{"replicas": int64(1), "ports": []any{map[string]any{"port": int64(80)}}}
	if diff := cmp.Diff(want, common(value, other)); diff != "" {
		t.Errorf("what is in both (-want +got):\n%s", diff)
	}
}

func TestDriftString(t *testing.T) {
	id := engine.ObjectID{Group: "apps", Kind: "Deployment", Namespace: "n", Name: "x"}
	for want, drift := range map[string]Drift{
		"Deployment/n/x was deleted by another client":           {ID: id},
		`Deployment/n/x was changed by "kubectl"`:                {ID: id, Manager: "kubectl"},
		`Deployment/n/x was changed by "kubectl": spec.replicas`: {ID: id, Manager: "kubectl", Fields: []string{"spec.replicas"}},
	} {
		if got := drift.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
