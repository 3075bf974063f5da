package scenario

import (
	"os"
	"testing"

	"github.com/headgate-dev/headgate/internal/dialects"
	"github.com/headgate-dev/headgate/internal/kit"
	"github.com/headgate-dev/headgate/internal/sandbox"
	"github.com/headgate-dev/headgate/internal/workflow"
	steps "github.com/headgate-dev/headgate/internal/workflow/execute/process"
)

// needsConfinement skips a test where steps cannot be confined, and are not run. CI can: there it fails.
func needsConfinement(t *testing.T) {
	t.Helper()
	reason, err := steps.Unable(t.Context(), sandbox.Self())
	switch {
	case err != nil:
		t.Fatal(err)
	case reason == "":
	case os.Getenv("CI") != "":
		t.Fatal("steps cannot be confined here: " + reason)
	default:
		t.Skip("steps cannot be confined here: " + reason)
	}
}

// TestLocalExec has containers and scripts of workflows run as processes of this machine, through the whole engine.
func TestLocalExec(t *testing.T) {
	t.Parallel()
	needsConfinement(t)
	w := newWorldOf(t, kit.Options{Dialects: dialects.With(dialects.Options{
		Workflow: workflow.Options{Containers: steps.Containers{Program: sandbox.Self()}},
	})})
	if err := w.login(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.inTurn(t, "testdata/workflow/local/*.txtar")
}
