package scenario

import (
	"testing"

	"github.com/headgate-dev/headgate/internal/dialects"
	"github.com/headgate-dev/headgate/internal/kit"
	"github.com/headgate-dev/headgate/internal/sandbox"
	"github.com/headgate-dev/headgate/internal/workflow"
	steps "github.com/headgate-dev/headgate/internal/workflow/execute/process"
)

// TestLocalExec has containers and scripts of workflows run as processes of this machine, through the whole engine.
func TestLocalExec(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, kit.Options{Dialects: dialects.With(dialects.Options{
		Workflow: workflow.Options{Containers: steps.Containers{Program: sandbox.Self()}},
	})})
	if err := w.login(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.inTurn(t, "testdata/workflow/local/*.txtar")
}
