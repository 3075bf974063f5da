package scenario

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
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
		"imageupdateautomations/team/app":        `^True Succeeded: repository up-to-date; a working copy is shown here, so nothing is committed or pushed; 1 file\(s\) would change: app/x.yaml$`,
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
