package scenario

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// inGit runs commands in a directory that is a repository of Git, with a remote.
func inGit(t *testing.T, dir, script string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", script)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

const commitAll = "git add -A && git -c user.name=dev -c user.email=dev@example.dev commit -q -m change\n"

// TestUpBranch boots a branch of a repository whose objects name main: they get what is checked out. Other branches are what they are.
func TestUpBranch(t *testing.T) {
	t.Parallel()
	for name, checkout := range map[string]string{"a branch": "git checkout -q -b pr-7\n", "no branch": "git checkout -q --detach\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo, dir := t.TempDir(), shortDir(t)
			staging := strings.Replace(appOf("staging", "web", ""), "targetRevision: main", "targetRevision: staging", 1)
			staging = strings.Replace(staging, "namespace: default}", "namespace: staging}", 1)
			writeFile(t, filepath.Join(repo, "root", "web.yaml"), appOf("web", "web", ""))
			writeFile(t, filepath.Join(repo, "root", "staging.yaml"), staging)
			writeFile(t, filepath.Join(repo, "root", "ns.yaml"), "apiVersion: v1\nkind: Namespace\nmetadata: {name: staging}\n")
			configMap := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {v: BRANCH}\n"
			writeFile(t, filepath.Join(repo, "web", "c.yaml"), strings.Replace(configMap, "BRANCH", "old", 1))
			inGit(t, repo, "git init -q -b main .\ngit remote add origin https://git.invalid/fleet.git\n"+commitAll+"git branch staging\n"+checkout)
			writeFile(t, filepath.Join(repo, "web", "c.yaml"), strings.Replace(configMap, "BRANCH", "new", 1))
			inGit(t, repo, commitAll)
			p := run(t, "up", repo, "--path", "root", "--ephemeral", "--state-dir", dir)
			p.says("✓ ready")
			if checkout := strings.Contains(checkout, "pr-7"); checkout && !strings.Contains(p.output.String(), "branch pr-7") || !strings.Contains(p.output.String(), "branch main") {
				t.Errorf("the branches are not named:\n%s", p.output)
			}
			client := clientOf(t, filepath.Join(dir, "ephemeral", "kubeconfig"))
			for namespace, want := range map[string]string{"default": "new", "staging": "old"} {
				cm, err := client.CoreV1().ConfigMaps(namespace).Get(t.Context(), "c", metav1.GetOptions{})
				if err != nil || cm.Data["v"] != want {
					t.Errorf("namespace %s has %v, want %q: %v", namespace, cm.Data, want, err)
				}
			}
			if code := p.interrupt(); code != 0 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

// TestUpMixedRoot boots directories that hold Applications among other things: everything is applied, and what is saved is.
func TestUpMixedRoot(t *testing.T) {
	t.Parallel()
	const (
		unit      = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: more, namespace: flux-system}\nspec: {interval: 1h, prune: true, path: ./more, targetNamespace: default, sourceRef: {kind: GitRepository, name: flux-system}}\n"
		namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: extra}\n"
		configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME}\n"
	)
	for name, c := range map[string]struct {
		reason string
		files  map[string]string
		maps   []string
	}{
		"units of Flux":   {"a unit of Flux applies the directory", map[string]string{"root/ks.yaml": unit, "more/c.yaml": strings.Replace(configMap, "NAME", "more", 1)}, []string{"web", "more"}},
		"namespaces":      {"objects are applied as they are", nil, []string{"web"}},
		"a kustomization": {"it lists everything", map[string]string{"root/kustomization.yaml": "resources: [web.yaml, ns.yaml]\n"}, []string{"web"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo, dir := t.TempDir(), shortDir(t)
			for name, text := range c.files {
				writeFile(t, filepath.Join(repo, name), text)
			}
			writeFile(t, filepath.Join(repo, "root", "web.yaml"), appOf("web", "app", ""))
			writeFile(t, filepath.Join(repo, "root", "ns.yaml"), namespace)
			writeFile(t, filepath.Join(repo, "app", "c.yaml"), strings.Replace(configMap, "NAME", "web", 1))
			p := run(t, "up", repo, "--path", "root", "--ephemeral", "--state-dir", dir)
			p.says("✓ ready")
			client := clientOf(t, filepath.Join(dir, "ephemeral", "kubeconfig"))
			for _, name := range c.maps {
				eventually(t, "ConfigMap "+name, func() (bool, string) {
					_, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), name, metav1.GetOptions{})
					return err == nil, "it is not there"
				})
			}
			if _, err := client.CoreV1().Namespaces().Get(t.Context(), "extra", metav1.GetOptions{}); err != nil {
				t.Errorf("%s: %v", c.reason, err)
			}
			writeFile(t, filepath.Join(repo, "root", "ns.yaml"), strings.Replace(namespace, "{name: extra}", "{name: extra, labels: {saved: 'yes'}}", 1))
			eventually(t, "what was saved is applied", func() (bool, string) {
				ns, err := client.CoreV1().Namespaces().Get(t.Context(), "extra", metav1.GetOptions{})
				return err == nil && ns.Labels["saved"] == "yes", p.output.String()
			})
			if code := p.interrupt(); code != 0 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

// TestUpArtifactRoot boots repositories that are deployed as an OCI artifact: the OCIRepository that a FluxInstance or another tool makes is the working
// copy, with Git or without, and follows what is saved. No registry is asked.
func TestUpArtifactRoot(t *testing.T) {
	t.Parallel()
	const (
		apps     = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\nspec: {interval: 1h, prune: true, path: ./apps, targetNamespace: default, sourceRef: {kind: OCIRepository, name: flux-system}}\n"
		instance = "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux, namespace: flux-system}\nspec:\n  distribution: {version: 2.x, registry: ghcr.io/fluxcd}\n  sync: {kind: OCIRepository, url: 'oci://registry.invalid/fleet', ref: latest, path: clusters/a}\n"
		source   = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {interval: 1m, url: 'oci://registry.invalid/fleet', ref: {tag: latest}}\n"
		prices   = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: prices}\ndata: {k: VALUE}\n"
	)
	for name, tc := range map[string]struct {
		reason, below, root string
		files               map[string]string
		git                 bool
	}{
		"Instance":           {"a FluxInstance makes it", "", "clusters/a", map[string]string{"clusters/a/flux.yaml": instance}, true},
		"Instance, no Git":   {"the repository is a directory", "", "clusters/a", map[string]string{"clusters/a/flux.yaml": instance}, false},
		"Another tool":       {"nothing in the repository makes it", "", "clusters/a", nil, false},
		"Declared":           {"a file declares it, with the address of a registry", "", "clusters/a", map[string]string{"clusters/a/source.yaml": source}, true},
		"A directory pushed": {"paths are relative to what is pushed", "deploy/", "deploy/clusters/a", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo, dir := t.TempDir(), shortDir(t)
			writeFile(t, filepath.Join(repo, tc.below+"clusters/a/apps.yaml"), apps)
			writeFile(t, filepath.Join(repo, tc.below+"apps/prices.yaml"), strings.Replace(prices, "VALUE", "one", 1))
			for name, text := range tc.files {
				writeFile(t, filepath.Join(repo, name), text)
			}
			if tc.git {
				inGit(t, repo, "git init -q -b main .\n"+commitAll)
			}
			p := run(t, "up", repo, "--path", tc.root, "--ephemeral", "--state-dir", dir)
			p.says("OCIRepository flux-system/flux-system is the working copy")
			p.says("✓ ready")
			client := clientOf(t, filepath.Join(dir, "ephemeral", "kubeconfig"))
			has := func(want string) {
				t.Helper()
				eventually(t, tc.reason+": the ConfigMap is as the file says", func() (bool, string) {
					got := configMaps(t, client, "default")
					return got["prices"] == want, joined(got)
				})
			}
			has("one")
			writeFile(t, filepath.Join(repo, tc.below+"apps/prices.yaml"), strings.Replace(prices, "VALUE", "two", 1))
			has("two")
			if code, out := asked(t, dir, "get", "all"); strings.Contains(out, "registry.invalid") {
				t.Errorf("a registry is asked: exit code %d\n%s", code, out)
			}
			if code := p.interrupt(); code != 0 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}
