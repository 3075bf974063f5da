package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// TestPlatformExample boots examples/platform: the workloads of two environments are in virtual clusters of their own with the logins that are on the
// host, from a vault, what is saved arrives in one of them, and a package that is taken away leaves it. An image that is pushed is promoted to dev, to
// staging by a person, and back.
func TestPlatformExample(t *testing.T) {
	t.Parallel()
	stack, dir := filepath.Join(t.TempDir(), "packages"), shortDir(t)
	if err := os.CopyFS(stack, os.DirFS("../../examples/platform/packages")); err != nil {
		t.Fatal(err)
	}
	p := run(t, "up", "--package", stack, "--secrets", "stores", "--promotions", "--ephemeral", "--state-dir", dir)
	p.says("control plane")
	pollFor(t, 3*time.Minute, time.Second, "waiting until all packages are ready", func() (bool, string) {
		code, all := asked(t, dir, "get", "packages")
		return code == 0 && strings.Count(all, "\n") == 13 && strings.Count(all, "Synced and Healthy") == 12, all
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

	promotesImages(t, dir, host, clusters)

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

// pushesImage pushes an image to the registry of the embedded Git server.
func pushesImage(t *testing.T, host kubernetes.Interface, ref string) {
	t.Helper()
	server, err := host.CoreV1().Secrets("kube-system").Get(t.Context(), "headgate-git-server", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	at, err := name.ParseReference(strings.TrimPrefix(string(server.Data["url"]), "http://")+"/"+ref, name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	image, err := random.Image(64, 1)
	if err != nil {
		t.Fatal(err)
	}
	login := &authn.Basic{Username: string(server.Data["username"]), Password: string(server.Data["password"])}
	if err := remote.Write(at, image, remote.WithAuth(login), remote.WithContext(t.Context())); err != nil {
		t.Fatal(err)
	}
}

// promotesImages follows an image from the registry to dev, to staging and back.
func promotesImages(t *testing.T, dir string, host kubernetes.Interface, clusters map[string]kubernetes.Interface) {
	t.Helper()
	push := func(tag string) {
		t.Helper()
		pushesImage(t, host, "giteaadmin/nextjs:"+tag)
	}
	runs := func(environment, tag string) {
		t.Helper()
		eventually(t, environment+" runs "+tag, func() (bool, string) {
			d, err := clusters[environment+"-vcluster"].AppsV1().Deployments("nextjs").Get(t.Context(), "nextjs", metav1.GetOptions{})
			if err != nil {
				return false, err.Error()
			}
			image := d.Spec.Template.Spec.Containers[0].Image
			_, stages := asked(t, dir, "get", "stages", "-A")
			return image == "gitea.cnoe.localtest.me:8443/giteaadmin/nextjs:"+tag, image + "\n" + stages
		})
	}
	promote := func(stage, freight string) {
		t.Helper()
		// The Freight is verified in dev a moment after it runs there.
		eventually(t, freight+" is promoted to "+stage, func() (bool, string) {
			code, said := asked(t, dir, "promote", stage, "--freight", freight)
			return code == 0, said
		})
	}
	alias := func(tag string) string {
		t.Helper()
		_, all := asked(t, dir, "get", "freight", "-n", "pipelines")
		for line := range strings.Lines(all) {
			if fields := strings.Fields(line); slices.Contains(fields, "nextjs:"+tag) {
				return fields[slices.Index(fields, "nextjs:"+tag)-2]
			}
		}
		t.Fatalf("there is no Freight of %s:\n%s", tag, all)
		return ""
	}
	push("3.0.0")
	runs("dev", "3.0.0")
	push("3.1.0")
	runs("dev", "3.1.0")
	runs("staging", "2.0.7")
	promote("nextjs-staging", alias("3.1.0"))
	runs("staging", "3.1.0")
	// Back in dev, where it stays although there is a newer one.
	promote("pipelines/nextjs-dev", alias("3.0.0"))
	runs("dev", "3.0.0")
	eventually(t, "the Stage is held", func() (bool, string) {
		_, stages := asked(t, dir, "get", "stages", "-n", "pipelines")
		return strings.Contains(stages, "held"), stages
	})
	eventually(t, "graph --stages says what is where", func() (bool, string) {
		_, graph := asked(t, dir, "graph", "--stages")
		for _, line := range []string{"warehouse/pipelines/nextjs  nextjs:3.1.0", "\n    stage/pipelines/nextjs-staging  nextjs:3.1.0  Healthy", "the Stage is held since"} {
			if !strings.Contains(graph, line) {
				return false, graph
			}
		}
		return true, ""
	})
	if _, why := asked(t, dir, "why", "stage/backstage-staging", "-n", "pipelines"); !strings.Contains(why, "Warehouse/pipelines/backstage is not ready") {
		t.Errorf("why of a Stage without Freight:\n%s", why)
	}
	if code, said := asked(t, dir, "promote", "backstage-staging", "--freight", "no-such"); code != 2 || !strings.Contains(said, `Project "pipelines"`) {
		t.Errorf("promote of nothing: exit code %d\n%s", code, said)
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
