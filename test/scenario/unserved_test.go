package scenario

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestUpUnserved boots what a flag serves: it is named in the first lines, and --exit-when-ready ends with that instead of at its timeout.
func TestUpUnserved(t *testing.T) {
	t.Parallel()
	repo := t.TempDir()
	writeFile(t, filepath.Join(repo, "root", "a.yaml"), appOf("a", "work", ""))
	writeFile(t, filepath.Join(repo, "work", "w.yaml"), "apiVersion: kargo.akuity.io/v1alpha1\nkind: Warehouse\nmetadata: {name: w}\nspec: {subscriptions: [{image: {repoURL: docker.io/library/nginx}}]}\n")
	p := run(t, "up", repo, "--path", "root", "--state-dir", shortDir(t), "--ephemeral", "--exit-when-ready", "--timeout", "10m")
	select {
	case <-p.ended:
	case <-time.After(patience):
		t.Fatalf("it has not ended:\n%s", p.output)
	}
	const want = "kargo.akuity.io (Warehouse) is not served: add --promotions"
	if code := p.cmd.ProcessState.ExitCode(); code != 1 || strings.Count(p.output.String(), want) != 1 {
		t.Errorf("exit code %d, without one line %q:\n%s", code, want, p.output)
	}
}

// TestUpHarmless boots stores and a registry of the process itself: they are served without a flag.
func TestUpHarmless(t *testing.T) {
	t.Parallel()
	repo := t.TempDir()
	writeFile(t, filepath.Join(repo, "root", "a.yaml"), appOf("a", "work", ""))
	writeFile(t, filepath.Join(repo, "work", "all.yaml"), `apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: s}
spec: {provider: {fake: {data: [{key: k, value: v}]}}}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: e}
spec: {secretStoreRef: {name: s}, data: [{secretKey: k, remoteRef: {key: k}}]}
---
apiVersion: kargo.akuity.io/v1alpha1
kind: Warehouse
metadata: {name: w}
spec: {subscriptions: [{image: {repoURL: gitea.cnoe.localtest.me:8443/giteaadmin/web}}]}
`)
	p := run(t, "up", repo, "--path", "root", "--state-dir", shortDir(t), "--ephemeral")
	p.says("✓ ready")
	for _, want := range []string{"external-secrets.io is served", "kargo.akuity.io is served"} {
		if !strings.Contains(p.output.String(), want) {
			t.Errorf("there is no %q:\n%s", want, p.output)
		}
	}
	if code := p.interrupt(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
