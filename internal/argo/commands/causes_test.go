package commands

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/engine"
)

func applicationFrom(t *testing.T, status string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	text := "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web, namespace: argocd}\nspec: {}\nstatus:\n" + status
	if err := yaml.Unmarshal([]byte(text), u); err != nil {
		t.Fatal(err)
	}
	return u
}

// TestUncompared has no causes of an Application that could not be compared: it asks no cluster for its objects.
func TestUncompared(t *testing.T) {
	u := applicationFrom(t, `
  sync: {status: Unknown}
  conditions: [{type: ComparisonError, message: "spec.source.path: app path does not exist"}]
  resources:
  - {group: argoproj.io, version: v1alpha1, kind: Application, namespace: argocd, name: child, status: Unknown}
  - {version: v1, kind: ConfigMap, namespace: web, name: settings, status: Unknown}
`)
	for cause := range (Verbs{}).Causes(context.Background(), nil, u) {
		t.Errorf("got %q, want nothing below the condition", cause.Text)
	}
	for name, c := range map[string]struct {
		reason, status string
		want           bool
	}{
		"Broken":   {"nothing is known of its objects", "  sync: {status: Unknown}\n  conditions: [{type: InvalidSpecError, message: no project}]\n", true},
		"Compared": {"what is known of its objects is from the last comparison", "  sync: {status: OutOfSync}\n  conditions: [{type: ComparisonError, message: late}]\n", false},
		"Other":    {"a warning says nothing against the comparison", "  sync: {status: Unknown}\n  conditions: [{type: OrphanedResourceWarning, message: one}]\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			app, err := applicationOf(applicationFrom(t, c.status))
			if err != nil {
				t.Fatal(err)
			}
			if got := uncomparable(app); got != c.want {
				t.Errorf("got %v: %s", got, c.reason)
			}
		})
	}
}

// TestTouched has the hooks of the last sync, which no inventory has.
func TestTouched(t *testing.T) {
	u := applicationFrom(t, `
  operationState:
    phase: Succeeded
    syncResult:
      resources:
      - {group: batch, version: v1, kind: Job, namespace: web, name: migrate, hookType: PostSync, hookPhase: Succeeded}
`)
	want := []engine.ObjectID{{Group: "batch", Kind: "Job", Namespace: "web", Name: "migrate"}}
	if diff := cmp.Diff(want, Verbs{}.Touched(u)); diff != "" {
		t.Error(diff)
	}
	if got := (Verbs{}).Touched(applicationFrom(t, "  sync: {status: Synced}\n")); got != nil {
		t.Errorf("without an operation: got %v", got)
	}
}
