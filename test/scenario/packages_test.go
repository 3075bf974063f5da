package scenario

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/cli"
	"github.com/headgate-dev/headgate/internal/kit"
)

// packageOf is the Application of a package in the layout of idpbuilder.
func packageOf(name, wave string) string {
	return `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: ` + name + `, namespace: argocd, annotations: {argocd.argoproj.io/sync-wave: "` + wave + `"}}
spec:
  project: default
  source: {repoURL: "cnoe://` + name + `/manifests", targetRevision: HEAD, path: .}
  destination: {server: "https://kubernetes.default.svc", namespace: ` + name + `}
  syncPolicy: {automated: {prune: true, selfHeal: true}, syncOptions: [CreateNamespace=true]}
`
}

// packages writes a tree of two packages below the ignored directory of a working copy, as a description that is synthesized leaves it.
func packages(t *testing.T) (dist string) {
	t.Helper()
	repo := t.TempDir()
	dist = filepath.Join(repo, "dist")
	for name, text := range map[string]string{
		".gitignore": "dist/\n", "dist/shop.yaml": packageOf("shop", "2"), "dist/database.yaml": packageOf("database", "1"),
		"dist/shop/manifests/kustomization.yaml":         "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n  - ConfigMap.prices.k8s.yaml\n",
		"dist/shop/manifests/ConfigMap.prices.k8s.yaml":  "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: prices}\ndata: {k: one}\n",
		"dist/database/manifests/ConfigMap.size.k8s.yml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: size}\ndata: {k: small}\n",
	} {
		writeFile(t, filepath.Join(repo, name), text)
	}
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", "-b", "main", repo).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dist
}

// TestUpPackages boots a tree of packages: the addresses of the Applications name directories beside them, and a file of one
// that is saved is applied.
func TestUpPackages(t *testing.T) {
	t.Parallel()
	dist, dir := packages(t), shortDir(t)
	p := run(t, "up", dist, "--ephemeral", "--state-dir", dir)
	p.says("2 units, 2 objects")
	client := clientOf(t, filepath.Join(dir, "ephemeral", "kubeconfig"))
	for namespace, want := range map[string]string{"shop": "prices=one", "database": "size=small"} {
		if got := joined(configMaps(t, client, namespace)); got != want {
			t.Errorf("namespace %s has %q, want %q", namespace, got, want)
		}
	}
	writeFile(t, filepath.Join(dist, "shop/manifests/ConfigMap.prices.k8s.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: prices}\ndata: {k: two}\n")
	eventually(t, "what was saved is applied", func() (bool, string) {
		got := joined(configMaps(t, client, "shop"))
		return got == "prices=two", got
	})
	if code := p.interrupt(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestPackagesElsewhere deploys packages to a cluster that is not the process's own, and follows their files there.
func TestPackagesElsewhere(t *testing.T) {
	t.Parallel()
	k := startKit(t, kit.Options{})
	k.StopEngine()
	stack := packages(t)
	refused := run(t, "up", "--package", stack, "--kubeconfig", k.Plane.Kubeconfig(), "--state-dir", shortDir(t))
	<-refused.ended
	if code, out := refused.cmd.ProcessState.ExitCode(), refused.output.String(); code != 2 || !strings.Contains(out, "--serve is missing") {
		t.Errorf("without the groups to serve, up ends with %d:\n%s", code, out)
	}
	p := run(t, "up", "--package", stack, "--kubeconfig", k.Plane.Kubeconfig(), "--serve", "argocd", "--state-dir", shortDir(t))
	p.says("2 units, 2 objects")
	client := clientOf(t, k.Plane.Kubeconfig())
	for namespace, want := range map[string]string{"shop": "prices=one", "database": "size=small"} {
		if got := joined(configMaps(t, client, namespace)); got != want {
			t.Errorf("namespace %s has %q, want %q", namespace, got, want)
		}
	}
	writeFile(t, filepath.Join(stack, "shop/manifests/ConfigMap.prices.k8s.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: prices}\ndata: {k: two}\n")
	eventually(t, "what was saved is applied", func() (bool, string) {
		got := joined(configMaps(t, client, "shop"))
		return got == "prices=two", got
	})
	if code := p.interrupt(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestPackagesOffline renders a tree of packages without a cluster, and refuses one that leaves its directory.
func TestPackagesOffline(t *testing.T) {
	t.Parallel()
	dist := packages(t)
	offline := func(args ...string) (int, string, string) {
		var out, errs bytes.Buffer
		code := cli.Main(t.Context(), args, cli.IO{In: strings.NewReader(""), Out: &out, Err: &errs, Child: true})
		return code, out.String(), errs.String()
	}
	if code, out, errs := offline("render", dist); code != 0 || !strings.Contains(out, "name: prices") || !strings.Contains(out, "name: size") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	writeFile(t, filepath.Join(dist, "leaving.yaml"), strings.Replace(packageOf("leaving", "0"), "cnoe://leaving/manifests", "cnoe://../../elsewhere", 1))
	if code, _, errs := offline("render", dist); code != 2 || !strings.Contains(errs, `Application/leaving: "cnoe://../../elsewhere" leaves the directory that is served`) {
		t.Errorf("exit code %d\n%s", code, errs)
	}
}

// joined are pairs as text.
func joined(pairs map[string]string) string {
	var all []string
	for name, value := range pairs {
		all = append(all, name+"="+value)
	}
	return strings.Join(all, " ")
}
