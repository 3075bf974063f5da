package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// TestPlatformExample boots examples/platform: the workloads of two environments are in virtual clusters of their own with the logins that are on the
// host, what is saved arrives in one of them, and a package that is taken away leaves it.
func TestPlatformExample(t *testing.T) {
	stack, dir := filepath.Join(t.TempDir(), "packages"), shortDir(t)
	if err := os.CopyFS(stack, os.DirFS("../../examples/platform/packages")); err != nil {
		t.Fatal(err)
	}
	p := run(t, "up", "--package", stack, "--ephemeral", "--state-dir", dir)
	p.says("control plane")
	pollFor(t, 3*time.Minute, time.Second, "waiting until all packages are ready", func() (bool, string) {
		code, all := asked(t, dir, "get", "packages")
		return code == 0 && strings.Count(all, "\n") == 11 && strings.Count(all, "Synced and Healthy") == 10, all
	})
	host := clientOf(t, filepath.Join(dir, "ephemeral", "kubeconfig"))
	clusters := map[string]kubernetes.Interface{}
	for cluster, level := range map[string]string{"dev-vcluster": "debug", "staging-vcluster": "info"} {
		code, file := asked(t, dir, "cluster", "kubeconfig", cluster, "--state-dir", dir)
		if code != 0 {
			t.Fatalf("cluster kubeconfig %s: exit code %d\n%s", cluster, code, file)
		}
		inside := clientOf(t, strings.TrimSpace(file))
		clusters[cluster] = inside
		if _, err := inside.AppsV1().StatefulSets("backstage").Get(t.Context(), "backstage", metav1.GetOptions{}); err != nil {
			t.Errorf("%s: %v", cluster, err)
		}
		if got := levelOf(t, inside); got != level {
			t.Errorf("%s: LOG_LEVEL is %q, want %q", cluster, got, level)
		}
		for _, team := range []string{"backstage", "nextjs"} {
			sameLogin(t, host, inside, cluster, team)
		}
	}
	if _, err := host.AppsV1().Deployments("nextjs").Get(t.Context(), "nextjs", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("Deployment nextjs/nextjs on the host: error %v, want that it is not found", err)
	}

	file := filepath.Join(stack, "nextjs-dev/manifests/ConfigMap.nextjs-settings.k8s.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, file, strings.Replace(string(text), "LOG_LEVEL: debug", "LOG_LEVEL: trace", 1))
	eventually(t, "what was saved is in the virtual cluster", func() (bool, string) {
		got := levelOf(t, clusters["dev-vcluster"])
		return got == "trace", got
	})
	if err := os.Remove(filepath.Join(stack, "nextjs-staging.yaml")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "what a package deployed goes with it", func() (bool, string) {
		_, err := clusters["staging-vcluster"].AppsV1().Deployments("nextjs").Get(t.Context(), "nextjs", metav1.GetOptions{})
		return apierrors.IsNotFound(err), fmt.Sprint(err)
	})
	if _, err := clusters["dev-vcluster"].AppsV1().Deployments("nextjs").Get(t.Context(), "nextjs", metav1.GetOptions{}); err != nil {
		t.Errorf("dev-vcluster: %v", err)
	}
	if code := p.interrupt(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func levelOf(t *testing.T, client kubernetes.Interface) string {
	t.Helper()
	settings, err := client.CoreV1().ConfigMaps("nextjs").Get(t.Context(), "nextjs-settings", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return settings.Data["LOG_LEVEL"]
}

// sameLogin waits until a virtual cluster has the login of a team that is on the host.
func sameLogin(t *testing.T, host, inside kubernetes.Interface, cluster, team string) {
	t.Helper()
	login := func(client kubernetes.Interface) (*corev1.Secret, error) {
		return client.CoreV1().Secrets(team).Get(t.Context(), "database-login", metav1.GetOptions{})
	}
	want, err := login(host)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, cluster+" has the login of "+team, func() (bool, string) {
		got, err := login(inside)
		return err == nil && string(got.Data["POSTGRES_USER"]) == team && string(got.Data["POSTGRES_PASSWORD"]) == string(want.Data["POSTGRES_PASSWORD"]), fmt.Sprint(err)
	})
}
