package scenario

import (
	"path/filepath"
	"strings"
	"testing"
)

// With --simulate the examples boot without what they need from outside, in the same order. What a unit declares is never stood in for.
func TestSimulateExamples(t *testing.T) {
	t.Parallel()
	for name, order := range map[string][]string{
		"layered":      {"flux-system/bootstrap ", "flux-system/controllers ", "flux-system/certs ", "flux-system/shop ", "flux-system/blog "},
		"homelab":      {"flux-system/cluster-apps ", "home/notes "},
		"app-of-apps":  {"Application argocd/definitions ", "Application argocd/my-apps-notes "},
		"typed-charts": {"Application argocd/api-staging "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			output := boots(t, name, []string{"--simulate"}, order)
			if strings.Contains(output, "simulated Object") {
				t.Errorf("an object that the example declares is simulated:\n%s", output)
			}
		})
	}
}

// boots boots an example until all is ready: units become so in an order. It returns what is printed.
func boots(t *testing.T, name string, args, order []string) string {
	t.Helper()
	p := run(t, append([]string{
		"up", filepath.Join("../../examples", name), "--ephemeral", "--exit-when-ready", "--state-dir", t.TempDir(),
	}, args...)...)
	<-p.ended
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, p.output)
	}
	inOrder(t, p.output.String(), order)
	return p.output.String()
}

// inOrder wants units to be reported ready one after the other.
func inOrder(t *testing.T, output string, order []string) {
	t.Helper()
	at := 0
	for _, unit := range order {
		next := strings.Index(output[at:], "✓ "+unit)
		if next < 0 {
			t.Fatalf("%s is not ready after the one before it:\n%s", unit, output)
		}
		at += next
	}
}
