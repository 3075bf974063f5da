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
