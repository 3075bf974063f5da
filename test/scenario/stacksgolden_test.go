package scenario

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// TestStacksGolden boots the packages of a real platform, which STACKS_GOLDEN names: 32, of which two need what is not there. Each of the two is
// named with what it lacks, and what stands in for charts and stores of secrets is named as well. The workloads of two environments are in
// virtual clusters of their own.
func TestStacksGolden(t *testing.T) {
	tree := os.Getenv("STACKS_GOLDEN")
	if tree == "" {
		t.Skip("STACKS_GOLDEN names no tree of packages")
	}
	const packages = 32
	lacks := map[string]string{
		"vault":                              "spec.sources[0].helm.valueFiles[0]: $values/values.yaml: no such file or directory",
		"external-secrets-workload-identity": `ServiceAccount/external-secrets/external-secrets: namespace "external-secrets" does not exist`,
	}
	dir := shortDir(t)
	p := run(t, "up", "--package", tree, "--simulate", "--ephemeral", "--state-dir", dir)
	p.says("control plane")
	var out string
	pollFor(t, 4*time.Minute, time.Second, "waiting until all packages are ready that can be", func() (bool, string) {
		// A package that is not applied yet has no state.
		code, all := asked(t, dir, "get", "packages")
		if code != 0 && code != 1 || strings.Count(all, "\n") != packages+1 || strings.Contains(all, " - ") {
			return false, all
		}
		_, out = asked(t, dir, "get", "packages", "--not-ready")
		return strings.Count(out, "\n") <= len(lacks)+1, out
	})
	named := map[string]string{}
	for line := range strings.Lines(out) {
		if name := strings.Fields(line)[0]; name != "NAME" {
			named[name] = line
		}
	}
	if !slices.Equal(slices.Sorted(maps.Keys(named)), slices.Sorted(maps.Keys(lacks))) {
		t.Fatalf("these packages are not ready:\n%s", out)
	}
	for name, what := range lacks {
		if !strings.Contains(named[name], what) {
			t.Errorf("get packages says of %s: %s", name, named[name])
		}
		if code, why := asked(t, dir, "why", "package/"+name); code != 1 || !strings.Contains(why, what) {
			t.Errorf("why package/%s: exit code %d\n%s", name, code, why)
		}
	}
	for _, what := range []string{
		"simulates vault 0.27.0 of https://helm.releases.hashicorp.com", "simulates ClusterSecretStore/azure-keyvault-store",
		// The store comes after those that use it.
		"simulates externalsecrets.external-secrets.io, for which Application/argocd/bootstrap-secrets waited",
	} {
		if !strings.Contains(p.output.String(), what) {
			t.Errorf("it is not said that headgate %s", what)
		}
	}
	host := clientOf(t, filepath.Join(dir, "ephemeral", "kubeconfig"))
	for _, at := range []struct{ cluster, namespace, deployment string }{
		{"dev", "nextjs", "nextjs-dev"}, {"staging", "nextjs", "nextjs-staging"},
	} {
		access, err := host.CoreV1().Secrets(at.cluster+"-vcluster").Get(t.Context(), "vc-vcluster-"+at.cluster+"-helm", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		config, err := clientcmd.RESTConfigFromKubeConfig(access.Data["config"])
		if err != nil {
			t.Fatal(err)
		}
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.AppsV1().Deployments(at.namespace).Get(t.Context(), at.deployment, metav1.GetOptions{}); err != nil {
			t.Errorf("virtual cluster %s: %v", at.cluster, err)
		}
		if _, err := host.AppsV1().Deployments(at.namespace).Get(t.Context(), at.deployment, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("Deployment %s/%s in the host cluster: error %v, want that it is not found", at.namespace, at.deployment, err)
		}
	}
	if code := p.interrupt(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// goldenStores has what the store of the real platform gives to its pipelines.
const goldenStores = `stores:
  azure-keyvault-store: {GITHUB-PAT: s3cret-of-a-person, KARGO-ADMIN-PASSWORD-HASH: s3cret-hash, KARGO-ADMIN-TOKEN-SIGNING-KEY: s3cret-key}
`

// TestStacksGoldenStores boots the packages of the real platform with a store that is given, and with its pipelines: the credentials of these are real, what the
// store lacks is named, and an image that is pushed becomes Freight, whose Promotion uses the credentials.
func TestStacksGoldenStores(t *testing.T) {
	tree := os.Getenv("STACKS_GOLDEN")
	if tree == "" {
		t.Skip("STACKS_GOLDEN names no tree of packages")
	}
	dir, stores := shortDir(t), filepath.Join(t.TempDir(), "lab.yaml")
	writeFile(t, stores, goldenStores)
	p := run(t, "up", "--package", tree, "--simulate", "--ephemeral", "--state-dir", dir, "--secrets", stores, "--promotions")
	p.says("control plane")
	external := func(name string) (ready, message string) {
		_, all := asked(t, dir, "get", "es", "-A", "--no-headers")
		for line := range strings.Lines(all) {
			// Namespace, name, cluster, revision (empty), suspended, ready, message.
			if fields := strings.Fields(line); len(fields) > 5 && fields[1] == name {
				return fields[4], line
			}
		}
		return "", all
	}
	pollFor(t, 4*time.Minute, time.Second, "waiting for the pipelines and their credentials", func() (bool, string) {
		_, found := asked(t, dir, "get", "warehouses,stages", "-A", "--no-headers")
		for _, name := range []string{"kargo-git-credentials-external", "kargo-ghcr-chat-credentials-external", "kargo-ghcr-backstage-credentials-external", "kargo-admin-credentials"} {
			if ready, said := external(name); ready != "True" {
				return false, name + "\n" + said
			}
		}
		return strings.Count(found, "\n") == 6, found
	})
	host := clientOf(t, filepath.Join(dir, "ephemeral", "kubeconfig"))
	login, err := host.CoreV1().Secrets("kargo-pipelines").Get(t.Context(), "kargo-git-credentials", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if login.Labels["kargo.akuity.io/cred-type"] != "git" || string(login.Data["password"]) != "s3cret-of-a-person" || login.Labels["headgate.dev/simulated"] != "" {
		t.Errorf("the credentials of Git are not those of the store: labels %v", login.Labels)
	}
	eventually(t, "what the store lacks is named", func() (bool, string) {
		ready, said := external("github-pem")
		return ready == "False" && strings.Contains(said, "github-app-private-key"), said
	})
	pushesImage(t, host, "giteaadmin/backstage-cnoe:1.0.0")
	eventually(t, "the image is Freight", func() (bool, string) {
		_, all := asked(t, dir, "get", "freight", "-n", "kargo-pipelines", "--no-headers")
		_, warehouses := asked(t, dir, "get", "warehouses", "-A")
		return strings.Contains(all, "backstage-cnoe:1.0.0"), all + warehouses
	})
	if code := p.interrupt(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if strings.Contains(p.output.String(), "s3cret") {
		t.Error("a value of the store is printed")
	}
}
