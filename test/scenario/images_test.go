package scenario

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/headgate-dev/headgate/internal/kit"
)

const shownImages = `apiVersion: v1
kind: Namespace
metadata: {name: team}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: repo, namespace: team}
spec: {url: "https://git.example/images.git", interval: 1h, ref: {branch: main}}
---
apiVersion: image.toolkit.fluxcd.io/v1
kind: ImageRepository
metadata: {name: app, namespace: team}
spec: {image: registry.example/team/app, interval: 1h, insecure: true}
---
apiVersion: image.toolkit.fluxcd.io/v1
kind: ImagePolicy
metadata: {name: app, namespace: team}
spec: {imageRepositoryRef: {name: app}, policy: {semver: {range: "*"}}}
---
apiVersion: image.toolkit.fluxcd.io/v1
kind: ImagePolicy
metadata: {name: foreign, namespace: default}
spec: {imageRepositoryRef: {name: app, namespace: team}, policy: {semver: {range: "*"}}}
---
apiVersion: image.toolkit.fluxcd.io/v1
kind: ImageUpdateAutomation
metadata: {name: app, namespace: team}
spec:
  sourceRef: {kind: GitRepository, name: repo}
  interval: 1h
  git: {commit: {author: {email: bot@example.com}}}
---
apiVersion: image.toolkit.fluxcd.io/v1
kind: ImageUpdateAutomation
metadata: {name: foreign, namespace: default}
spec:
  sourceRef: {kind: GitRepository, name: repo, namespace: team}
  interval: 1h
  git: {commit: {author: {email: bot@example.com}}}
`

// TestImagesOfWorkingCopy boots a repository that has its own images updated: the files of the user's stay as
// they are. References to other namespaces are closed, and the registry is fetched from elsewhere.
func TestImagesOfWorkingCopy(t *testing.T) {
	t.Parallel()
	repo, dir := t.TempDir(), shortDir(t)
	app := filepath.Join(repo, "app", "x.yaml")
	const text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {tag: old} # {\"$imagepolicy\": \"team:app:tag\"}\n"
	writeFile(t, filepath.Join(repo, "cluster", "images.yaml"), shownImages)
	writeFile(t, app, text)
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"remote", "add", "origin", "https://git.example/images.git"}} {
		if out, err := exec.Command("git", append([]string{"-C", repo}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git: %v: %s", err, out)
		}
	}
	mirror, err := kit.StartRegistry()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mirror.Stop(context.WithoutCancel(t.Context())) })
	if err := mirror.Push(t.Context(), "app:1.2.3", map[string][]byte{"x": []byte("x")}, nil); err != nil {
		t.Fatal(err)
	}

	run(t, "up", repo, "--path", "cluster", "--ephemeral", "--state-dir", dir, "--no-cross-namespace-refs",
		"--rewrite", "oci://registry.example/team/=oci://"+mirror.Host+"/")
	kubeconfig := filepath.Join(dir, "ephemeral", "kubeconfig")
	clientOf(t, kubeconfig)
	rest, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	dyn, err := dynamic.NewForConfig(rest)
	if err != nil {
		t.Fatal(err)
	}
	for object, want := range map[string]string{
		"imagerepositories/team/app":             `^True Succeeded: successful scan: found 1 tags`,
		"imagepolicies/team/app":                 `^True Succeeded: Latest image tag for registry.example/team/app resolved to 1.2.3$`,
		"imagepolicies/default/foreign":          `^False AccessDenied: .*cross-namespace references have been blocked`,
		"imageupdateautomations/team/app":        `^True Succeeded: repository up-to-date; the source is a working copy, so nothing is committed or pushed; 1 file\(s\) would change: app/x.yaml$`,
		"imageupdateautomations/default/foreign": `^False AccessDenied: can't access 'GitRepository/team/repo', cross-namespace references have been blocked$`,
	} {
		parts := strings.Split(object, "/")
		resource := dyn.Resource(schemaGVR{Group: "image.toolkit.fluxcd.io", Version: "v1", Resource: parts[0]}).Namespace(parts[1])
		eventually(t, object+" is "+want, func() (bool, string) {
			u, err := resource.Get(t.Context(), parts[2], metav1.GetOptions{})
			if err != nil {
				return false, err.Error()
			}
			status, text := conditionOf(u, "Ready")
			return regexp.MustCompile(want).MatchString(status + " " + text), status + " " + text
		})
	}
	if data, err := os.ReadFile(app); err != nil || string(data) != text {
		t.Errorf("the file of the user's is %q, %v", data, err)
	}
	if out, err := exec.Command("git", "-C", repo, "rev-list", "--all").CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("the repository of the user's has commits: %q, %v", out, err)
	}
}

// restartedImages are the objects of an automation in namespace default.
const restartedImages = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: repo, namespace: default}
spec: {url: %[1]q, interval: 1h, ref: {branch: main}, secretRef: {name: git}}
---
apiVersion: image.toolkit.fluxcd.io/v1
kind: ImageRepository
metadata: {name: app, namespace: default}
spec: {image: %[2]s/default/app, interval: 1h, insecure: true}
---
apiVersion: image.toolkit.fluxcd.io/v1
kind: ImagePolicy
metadata: {name: app, namespace: default}
spec: {imageRepositoryRef: {name: app}, policy: {semver: {range: "*"}}}
---
apiVersion: image.toolkit.fluxcd.io/v1
kind: ImageUpdateAutomation
metadata: {name: app, namespace: default}
spec:
  sourceRef: {kind: GitRepository, name: repo}
  interval: 1h
  git: {commit: {author: {email: bot@example.com}}}
`

// TestImagesAfterRestart has an engine go on where another one left off: what was chosen holds while the
// registry is away, nothing is pushed again, and what came meanwhile is found.
func TestImagesAfterRestart(t *testing.T) {
	t.Parallel()
	k := startKit(t, kit.Options{})
	registry, err := kit.StartRegistry()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = registry.Stop(context.WithoutCancel(t.Context())) })
	client, err := dynamic.NewForConfig(k.Config)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{kit: k, client: client}
	push := func(tag string) {
		t.Helper()
		if err := registry.Push(t.Context(), "default/app:"+tag, map[string][]byte{"x": []byte(tag)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	kind := func(resource string) dynamic.ResourceInterface {
		return client.Resource(schemaGVR{Group: "image.toolkit.fluxcd.io", Version: "v1", Resource: resource}).Namespace("default")
	}
	state := func(resource, path, want string) {
		t.Helper()
		eventually(t, resource+" has "+want, func() (bool, string) {
			u, err := kind(resource).Get(t.Context(), "app", metav1.GetOptions{})
			if err != nil {
				return false, err.Error()
			}
			is := field(u, path)
			if path == "" {
				status, text := conditionOf(u, "Ready")
				is = status + " " + text
			}
			return regexp.MustCompile(want).MatchString(is), is
		})
	}

	push("1.0.0")
	url := pushed(t, k, "images", map[string]string{"x.yaml": "tag: old # {\"$imagepolicy\": \"default:app:tag\"}\n"})
	if err := w.put(fmt.Sprintf(restartedImages, url, registry.Host)); err != nil {
		t.Fatal(err)
	}
	state("imageupdateautomations", "status.observedPolicies.app.tag", "^1.0.0$")
	u, err := kind("imageupdateautomations").Get(t.Context(), "app", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	commit := field(u, "status.lastPushCommit")

	k.StopEngine()
	registry.Down("default", true)
	if err := k.StartEngine(t.Context()); err != nil {
		t.Fatal(err)
	}
	state("imagerepositories", "", "^False ReadOperationFailed")
	state("imagepolicies", "", "^True Succeeded: Latest image tag for .* resolved to 1.0.0$")
	state("imageupdateautomations", "", "^True Succeeded: repository up-to-date$")
	state("imageupdateautomations", "status.lastPushCommit", "^"+commit+"$")
	registry.Down("default", false)
	push("1.1.0")
	state("imagerepositories", "", "^True Succeeded: successful scan: found [12] tags")
	if _, err := kind("imagerepositories").Patch(t.Context(), "app", types.MergePatchType,
		[]byte(`{"metadata":{"annotations":{"reconcile.fluxcd.io/requestedAt":"now"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	state("imagepolicies", "", "resolved to 1.1.0 \\(previously .*:1.0.0\\)$")
	state("imageupdateautomations", "status.observedPolicies.app.tag", "^1.1.0$")
}

// pushed makes a repository of the Git server that has files, and the Secret git that opens it.
func pushed(t *testing.T, k *kit.Kit, name string, files map[string]string) string {
	t.Helper()
	if err := k.Git.CreateRepo(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for file, text := range files {
		writeFile(t, filepath.Join(dir, file), text)
	}
	to := strings.Replace(k.Git.URL(name), "http://", "http://"+kit.User+":"+kit.Token+"@", 1)
	cmd := exec.Command("sh", "-c", `git init -q -b main . && git add -A && git -c user.name=dev -c user.email=dev@example.dev commit -q -m first && git push -q "$0" main`, to)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git: %v: %s", err, out)
	}
	client, err := kubernetes.NewForConfig(k.Config)
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.CoreV1().Secrets("default").Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "git"},
		Data:       map[string][]byte{"username": []byte(kit.User), "password": []byte(kit.Token)},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return k.Git.URL(name)
}
