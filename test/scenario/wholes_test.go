package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUpWholes boots directories without units: a chart is installed, a kustomization and files of objects are applied, and what is not one of
// them is refused before a cluster is started. What they hold is waited for, and when it is stuck, the cause below it is said.
func TestUpWholes(t *testing.T) {
	t.Parallel()
	const pending = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: default}\nspec:\n  selector: {matchLabels: {a: a}}\n" +
		"  template: {metadata: {labels: {a: a}}, spec: {nodeSelector: {disk: ssd}, containers: [{name: a, image: a}]}}\n"
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n"
	for name, tc := range map[string]struct {
		files map[string]string
		says  string
		code  int
		args  []string
	}{
		"files":         {map[string]string{"a.yaml": object}, "✓ flux-system/flux-system", 0, nil},
		"stuck":         {map[string]string{"a.yaml": pending}, "    Pod/default/a-", 1, []string{"--timeout", "20s"}},
		"file":          {map[string]string{"a.yaml": object}, "declares no Kustomization, Application or other object of a kind that is served", 2, []string{"--path", "a.yaml"}},
		"kustomization": {map[string]string{"kustomization.yaml": "resources: [x/a.yaml]\n", "x/a.yaml": object}, "✓ flux-system/flux-system", 0, nil},
		"chart": {map[string]string{
			"Chart.yaml": "apiVersion: v2\nname: whole\nversion: 1.0.0\n", "templates/a.yaml": object,
		}, "✓ HelmRelease flux-system/", 0, nil},
		"nothing": {map[string]string{"compose.yaml": "services: {web: {image: web}}\n"}, "no root was found", 2, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for file, text := range tc.files {
				file = filepath.Join(dir, file)
				if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			p := run(t, append([]string{"up", dir, "--ephemeral", "--exit-when-ready", "--state-dir", t.TempDir()}, tc.args...)...)
			<-p.ended
			if code := p.cmd.ProcessState.ExitCode(); code != tc.code || !strings.Contains(p.output.String(), tc.says) {
				t.Errorf("exit code %d, want %d and %q:\n%s", code, tc.code, tc.says, p.output)
			}
		})
	}
}
