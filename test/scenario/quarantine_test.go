package scenario

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestQuarantine boots a repository without child processes. A file of Jsonnet that overflows the stack ends the process; the
// next one serves everything else, and says why it does not render that one.
func TestQuarantine(t *testing.T) {
	t.Parallel()
	repo := t.TempDir()
	for name, text := range map[string]string{
		"argocd/root.yaml": appOf("root", "apps", ""), "apps/bomb.yaml": appOf("bomb", "work/bomb", ""), "apps/calm.yaml": appOf("calm", "work/calm", ""),
		"work/bomb/main.jsonnet": "local f(x) = f(x + 1) tailstrict;\nf(0)\n",
		"work/calm/x.yaml":       "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: calm}\n",
	} {
		at := filepath.Join(repo, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `git init -q -b main . && git add -A && git -c user.name=dev -c user.email=dev@example.dev commit -q -m all`)
	cmd.Dir = repo
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	dir := shortDir(t)
	first := run(t, "up", repo, "--state-dir", dir, "--render-memory", "0")
	<-first.ended
	if code := first.cmd.ProcessState.ExitCode(); code != 2 {
		t.Fatalf("exit code %d: the stack did not overflow, and nothing is tested", code)
	}
	second := run(t, "up", repo, "--state-dir", dir, "--render-memory", "0")
	second.says("✓ Application argocd/calm")
	second.says("in quarantine until ")
	if code := second.interrupt(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
