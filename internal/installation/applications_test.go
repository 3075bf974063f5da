package installation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestArgoTrouble(t *testing.T) {
	const app, set = "apiVersion: argoproj.io/v1alpha1\nkind: Application\n", "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\n"
	const well = "sync: {status: Synced}, health: {status: Healthy}"
	cases := map[string]struct{ reason, object, want string }{
		"Well":        {reason: "it is synced and healthy", object: app + "status: {" + well + "}"},
		"New":         {reason: "nobody has looked at it", object: app, want: "Unknown"},
		"Manual":      {reason: "nobody said that it shall be synced", object: app + "status: {sync: {status: OutOfSync}, health: {status: Healthy}}"},
		"OutOfSync":   {reason: "it shall sync by itself, and did not", object: app + "spec: {syncPolicy: {automated: {}}}\nstatus: {sync: {status: OutOfSync}, health: {status: Healthy}}", want: "OutOfSync"},
		"Degraded":    {reason: "its health counts", object: app + "status: {sync: {status: Synced}, health: {status: Degraded, message: no pods}}", want: "Degraded: no pods"},
		"Progressing": {reason: "so does what is not healthy yet", object: app + "status: {sync: {status: Synced}, health: {status: Progressing}}", want: "Progressing"},
		"Suspended":   {reason: "somebody wants it so", object: app + "status: {sync: {status: Synced}, health: {status: Suspended}}"},
		"Failed":      {reason: "the last sync failed", object: app + "status: {" + well + ", operationState: {phase: Failed, message: denied}}", want: "its last sync is Failed: denied"},
		"Condition":   {reason: "a condition says what is wrong", object: app + "status: {" + well + ", conditions: [{type: ComparisonError, message: no repository}]}", want: "ComparisonError: no repository"},
		"Warning":     {reason: "a warning is no error", object: app + "status: {" + well + ", conditions: [{type: OrphanedResourceWarning, message: one}]}"},
		"Set":         {reason: "a set has conditions of its own", object: set + "status: {conditions: [{type: ErrorOccurred, status: 'True', reason: X, message: bad}]}", want: "X: bad"},
		"SetWell":     {reason: "which may be false", object: set + "status: {conditions: [{type: ErrorOccurred, status: 'False', reason: X}]}"},
		"Project":     {reason: "a project says nothing of itself", object: "apiVersion: argoproj.io/v1alpha1\nkind: AppProject\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Trouble(object(t, tc.object))); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
}

func TestTally(t *testing.T) {
	var none, some tally
	for _, status := range []string{"{sync: {status: Synced}, health: {status: Healthy}}", "{sync: {status: OutOfSync}, health: {status: Healthy}}", "{}"} {
		some.count(object(t, "apiVersion: argoproj.io/v1alpha1\nkind: Application\nstatus: "+status))
		some.count(object(t, "apiVersion: example.dev/v1\nkind: Application\nstatus: "+status))
	}
	if none.String() != "" || some.String() != "3, 1 of them synced, 2 healthy" {
		t.Errorf("%q, %q", none.String(), some.String())
	}
}
