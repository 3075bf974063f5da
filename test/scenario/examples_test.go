package scenario

import (
	"path/filepath"
	"strings"
	"testing"
)

// The examples boot as their READMEs say, in the order that they declare.
func TestExamples(t *testing.T) {
	t.Parallel()
	for name, example := range map[string]struct {
		args []string
		// order are units, each of which is ready before the next.
		order []string
	}{
		"layered": {
			args:  []string{"--age-key-file", "../../examples/layered/age.agekey"},
			order: []string{"flux-system/bootstrap ", "flux-system/controllers ", "flux-system/certs ", "flux-system/shop ", "flux-system/blog "},
		},
		"homelab": {
			args:  []string{"--serve-charts", "oci://registry.example/charts=../../examples/homelab/charts"},
			order: []string{"flux-system/cluster-apps ", "network/proxy ", "home/notes ", "media/player "},
		},
		"app-of-apps": {
			order: []string{
				"Application argocd/definitions ", "Application argocd/storage ", "Application argocd/secrets ", "Application argocd/database ",
				"Application argocd/infrastructure-gateway ", "Application argocd/monitoring-metrics ", "Application argocd/my-apps-notes ",
			},
		},
		"nixos-image": {
			args:  []string{"--cloud", "simulated", "--allow-local-exec"},
			order: []string{"flux-system/cloud ", "flux-system/image ", "flux-system/machine "},
		},
		"nixos-trio": {
			args:  []string{"--cloud", "simulated", "--allow-local-exec"},
			order: []string{"flux-system/trio "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			boots(t, name, example.args, example.order)
		})
	}
}

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
	at := 0
	for _, unit := range order {
		next := strings.Index(p.output.String()[at:], "✓ "+unit)
		if next < 0 {
			t.Fatalf("%s is not ready after the one before it:\n%s", unit, p.output)
		}
		at += next
	}
	return p.output.String()
}
