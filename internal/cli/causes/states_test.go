package causes

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialects"
	"github.com/headgate-dev/headgate/internal/engine"
)

// TestStateOf reads where objects stand from what they say, whose API has a status of its own form.
func TestStateOf(t *testing.T) {
	const (
		set      = "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: a, namespace: b, generation: 1}\n"
		app      = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a, namespace: b, generation: 7}\n"
		apps     = "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: a, namespace: b, generation: 7}\n"
		compared = "sync: {status: OutOfSync}, health: {status: Missing}"
	)
	type stance struct {
		Phase engine.Phase
		Ready bool
	}
	g := &console.Globals{Catalogue: dialects.All()}
	for name, tc := range map[string]struct {
		reason, object string
		want           stance
	}{
		"Ready set":      {"its condition alone says of which generation it is", set + "status: {conditions: [{type: Ready, status: 'True', observedGeneration: 1}]}", stance{engine.PhaseReady, true}},
		"Changed set":    {"and that it was changed since", set + "status: {conditions: [{type: Ready, status: 'True', observedGeneration: 0}]}", stance{engine.PhaseWaitingForHealth, false}},
		"Waiting set":    {"what waits is behind what it waits for", set + "status: {conditions: [{type: Ready, status: Unknown, reason: DependencyNotReady, observedGeneration: 1}]}", stance{engine.PhaseWaitingForDependencies, false}},
		"Manual":         {"nothing moves until a user syncs it", app + "spec: {}\nstatus: {" + compared + "}", stance{engine.PhaseReady, true}},
		"Out of sync":    {"it is about to be synced", app + "spec: {syncPolicy: {automated: {}}}\nstatus: {" + compared + "}", stance{engine.PhaseWaitingForHealth, false}},
		"Manual, failed": {"a failed sync is not ready", app + "spec: {}\nstatus: {" + compared + ", operationState: {phase: Failed, operation: {}, startedAt: '2026-01-02T03:04:05Z', syncResult: {revision: ''}}}", stance{engine.PhaseWaitingForHealth, false}},
		"Manual, ill":    {"nor are objects that are not healthy", app + "spec: {}\nstatus: {sync: {status: OutOfSync}, health: {status: Degraded}}", stance{engine.PhaseWaitingForHealth, false}},
		"Broken set":     {"it generates nothing", apps + "status: {conditions: [{type: ErrorOccurred, status: 'True', reason: X, message: no}]}", stance{engine.PhaseFailed, false}},
	} {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{}
			if err := utilyaml.Unmarshal([]byte(tc.object), &u.Object); err != nil {
				t.Fatal(err)
			}
			s := stateOf(g, u)
			if diff := cmp.Diff(tc.want, stance{s.Phase, s.Ready}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
