package scenario

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/cli"
)

// appOf is an Application of a directory of an unreachable repository.
func appOf(name, dir, more string) string {
	return `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: ` + name + `, namespace: argocd` + more + `}
spec:
  project: default
  source: {repoURL: "https://git.invalid/fleet.git", targetRevision: main, path: ` + dir + `}
  destination: {server: "https://kubernetes.default.svc", namespace: default}
  syncPolicy: {automated: {prune: true}}
`
}

// TestUpApplications boots a repository of Argo CD: its root is found, and the repository that this names is the working
// copy, although the clone is of another one.
func TestUpApplications(t *testing.T) {
	t.Parallel()
	repo := t.TempDir()
	for name, text := range map[string]string{
		"argocd/root.yaml": appOf("root", "apps", ""), "apps/a.yaml": appOf("a", "work/a", `, annotations: {argocd.argoproj.io/sync-wave: "1"}`),
		"apps/b.yaml":   appOf("b", "work/b", `, annotations: {argocd.argoproj.io/sync-wave: "2"}`),
		"work/a/x.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", "work/b/x.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n",
	} {
		at := filepath.Join(repo, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script := `git init -q -b main . && git remote add origin https://elsewhere.invalid/fork.git && git add -A && git -c user.name=dev -c user.email=dev@example.dev commit -q -m all`
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Dir = repo
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	dir := shortDir(t)
	p := run(t, "up", repo, "--ephemeral", "--state-dir", dir)
	p.says("https://git.invalid/fleet.git is served from ")
	p.says("1 object of argocd/root.yaml")
	p.says("get apps,pods -A")
	text := p.output.String()
	if a, b := strings.Index(text, "✓ Application argocd/a"), strings.Index(text, "✓ Application argocd/b"); a < 0 || b < a {
		t.Errorf("the waves are not in order:\n%s", text)
	}
	var out, errs bytes.Buffer
	streams := cli.IO{In: strings.NewReader(""), Out: &out, Err: &errs, Child: true}
	if code := cli.Main(t.Context(), []string{"--state-dir", dir, "diff", "app/a"}, streams); code != 0 || out.Len() > 0 {
		t.Errorf("a diff of what is synced: exit code %d\n%s%s", code, &out, &errs)
	}
	if code := p.interrupt(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestEstateOffline finds the root of a hundred Applications, and all of them.
func TestEstateOffline(t *testing.T) {
	t.Parallel()
	f, repo := newEstate(), t.TempDir()
	f.write(t, repo)
	var out, errs bytes.Buffer
	code := cli.Main(t.Context(), []string{"graph", repo}, cli.IO{In: strings.NewReader(""), Out: &out, Err: &errs})
	if code != 0 || !strings.HasPrefix(out.String(), "Application/argocd/root ") {
		t.Errorf("exit code %d\n%s%s", code, &out, &errs)
	}
	if got, want := strings.Count(out.String(), "Application/argocd/"), len(f.waves)+1; got != want {
		t.Errorf("%d Applications, want %d:\n%s", got, want, &out)
	}
}
