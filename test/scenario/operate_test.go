package scenario

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/flux/roots"
	"github.com/headgate-dev/headgate/internal/flux/sources"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/kit"
)

// operated is a cluster other than the embedded one, and a repository: examples/layered, and a release.
type operated struct {
	t      *testing.T
	kit    *kit.Kit
	client kubernetes.Interface
	url    string
	// secrets is a directory with the files of credentials.
	secrets string
	copy    string
}

// TestOperate bootstraps a cluster from Git, hands it to Flux and back, and restores it after
// it was deleted.
func TestOperate(t *testing.T) {
	t.Parallel()
	k := startKit(t, kit.Options{})
	k.StopEngine()
	o := newOperated(t, k)
	o.push("first")
	served := o.controller()
	t.Run("bootstrap", func(t *testing.T) { bootstraps(t, o) })
	t.Run("terraform", func(t *testing.T) { terraforms(t, o) })
	t.Run("migrate", func(t *testing.T) { migrates(t, o, served) })
	t.Run("disaster", func(t *testing.T) { recovers(t, o) })
}

func newOperated(t *testing.T, k *kit.Kit) *operated {
	t.Helper()
	client, err := kubernetes.NewForConfig(k.Config)
	if err != nil {
		t.Fatal(err)
	}
	o := &operated{t: t, kit: k, client: client, secrets: t.TempDir(), copy: t.TempDir()}
	if err := k.Git.CreateRepo(t.Context(), "operated"); err != nil {
		t.Fatal(err)
	}
	o.url = k.Git.URL("operated")
	writeFile(t, filepath.Join(o.secrets, "password"), kit.Token+"\n")
	if out, err := exec.Command("cp", "-r", "../../examples/layered/.", o.copy).CombinedOutput(); err != nil {
		t.Fatalf("copying the example: %v: %s", err, out)
	}
	if out, err := exec.Command("cp", "-r", "../../examples/homelab/charts", o.copy).CombinedOutput(); err != nil {
		t.Fatalf("copying the chart: %v: %s", err, out)
	}
	writeFile(t, filepath.Join(o.copy, "clusters", "demo", "release.yaml"), operatedRelease)
	// The key is no part of a repository.
	if err := os.Rename(filepath.Join(o.copy, "age.agekey"), filepath.Join(o.secrets, "age.agekey")); err != nil {
		t.Fatal(err)
	}
	return o
}

const operatedRelease = `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: echo, namespace: flux-system}
spec:
  interval: 1h
  targetNamespace: echo
  chart: {spec: {chart: ./charts/app, sourceRef: {kind: GitRepository, name: flux-system}}}
  install: {createNamespace: true}
  values: {image: {repository: example/echo, tag: "1.4"}}
`

// withLogin is the URL with its credentials.
func (o *operated) withLogin() string {
	return strings.Replace(o.url, "http://", "http://"+kit.User+":"+kit.Token+"@", 1)
}

func (o *operated) git(script string) string {
	o.t.Helper()
	cmd := exec.Command("sh", "-c", script, o.withLogin())
	cmd.Dir = o.copy
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=dev", "GIT_AUTHOR_EMAIL=dev@example.dev", "GIT_COMMITTER_NAME=dev", "GIT_COMMITTER_EMAIL=dev@example.dev")
	out, err := cmd.CombinedOutput()
	if err != nil {
		o.t.Fatalf("%s: %v: %s", script, err, out)
	}
	return string(out)
}

func (o *operated) push(message string) {
	o.t.Helper()
	o.git(`git init -q -b main . 2>/dev/null; git add -A && git commit -q -m ` + message + ` && git push -q "$0" HEAD:main`)
}

// controller runs what the pods of the installation would: those of this cluster only seem to run.
func (o *operated) controller() *process {
	return run(o.t, "controller", "--kubeconfig", o.kit.Plane.Kubeconfig(), "--serve", "flux", "--storage-path", o.t.TempDir(),
		"--storage-addr", "127.0.0.1:0", "--health-addr", "127.0.0.1:0", "--lease-duration", "10s")
}

// command runs headgate on the cluster to its end, and returns its exit code and what it printed.
func (o *operated) command(t *testing.T, args ...string) (int, string) {
	t.Helper()
	p := run(t, append(args, "--kubeconfig", o.kit.Plane.Kubeconfig())...)
	<-p.ended
	return p.cmd.ProcessState.ExitCode(), p.output.String()
}

func (o *operated) bootstrap(t *testing.T, url string, more ...string) (int, string) {
	t.Helper()
	return o.command(t, append([]string{
		"bootstrap", url, "--path", "clusters/demo", "--git-username", kit.User, "--git-password-file", filepath.Join(o.secrets, "password"),
		"--age-key-file", filepath.Join(o.secrets, "age.agekey"),
	}, more...)...)
}

func bootstraps(t *testing.T, o *operated) {
	deployments := o.client.AppsV1().Deployments(toolkit.Namespace)
	if code, said := o.command(t, "install", "--set", "shards={a}"); code != 0 {
		t.Fatalf("install ends with %d:\n%s", code, said)
	}
	if _, err := deployments.Get(t.Context(), "headgate-a", metav1.GetOptions{}); err != nil {
		t.Fatal(err)
	}
	code, said := o.bootstrap(t, o.url, "--push")
	if _, err := deployments.Get(t.Context(), "headgate-a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the shard that there is no more is still there: %v", err)
	}
	if code != 0 || !strings.Contains(said, "matches Git") {
		t.Fatalf("exit code %d:\n%s", code, said)
	}
	for _, secret := range []string{kit.Token, "AGE-SECRET-KEY"} {
		if strings.Contains(said, secret) {
			t.Errorf("a secret is printed:\n%s", said)
		}
	}
	o.git(`git pull -q "$0" main`)
	pushed, err := os.ReadFile(filepath.Join(o.copy, "clusters/demo/flux-system/headgate.yaml"))
	if err != nil || !strings.Contains(string(pushed), "kind: Deployment") {
		t.Errorf("the manifests are not in the repository: %v", err)
	}
	if sync, err := os.ReadFile(filepath.Join(o.copy, "clusters/demo/flux-system/gotk-sync.yaml")); err != nil || strings.Contains(string(sync), "kind: Secret") {
		t.Errorf("the root in the repository is %s: %v", sync, err)
	}
	before := holdings(t, o.kit.Config)
	if code, said = o.bootstrap(t, o.url, "--push"); code != 0 || !strings.Contains(said, "already has the manifests") {
		t.Errorf("the second time ends with %d:\n%s", code, said)
	}
	if diff := cmp.Diff(before, holdings(t, o.kit.Config)); diff != "" {
		t.Errorf("the second time changes objects:\n%s", diff)
	}
	if code, said = o.command(t, "check"); code != 0 {
		t.Errorf("check ends with %d:\n%s", code, said)
	}
	for name, refused := range map[string]struct {
		url  string
		args []string
		says string
	}{
		"another repository": {url: o.url + "x", says: "the cluster has another root"},
		"another directory":  {url: o.url, args: []string{"--path", "clusters/other"}, says: "the cluster has another root"},
		"another key":        {url: o.url, args: []string{"--age-key-file", otherKey(t)}, says: "the cluster has another age key"},
		"no key":             {url: o.url, args: []string{"--age-key-file", filepath.Join(o.secrets, "password")}, says: "the cluster has another age key"},
		"credentials in it":  {url: o.withLogin(), says: "the URL of the repository contains credentials"},
	} {
		if code, said := o.bootstrap(t, refused.url, append(refused.args, "--without-install", "--without-wait")...); code != 2 || !strings.Contains(said, refused.says) {
			t.Errorf("%s ends with %d:\n%s", name, code, said)
		}
	}
}

// otherKey makes an age key.
func otherKey(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "other.agekey")
	writeFile(t, name, "AGE-SECRET-KEY-1QYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQS3G2ZCZ\n")
	return name
}

// fluxDeployment is a controller of Flux, as its installation has it.
func fluxDeployment(name string, replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: toolkit.Namespace, Labels: map[string]string{dialect.PartOf: "flux", "app.kubernetes.io/component": name}},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "manager", Image: "flux/" + name}}},
			},
		},
	}
}

// migrates moves the cluster from Flux to Headgate and back. What Headgate has applied until now is what Flux
// would have: the same managers, labels, inventories and finalizers.
func migrates(t *testing.T, o *operated, served *process) {
	deployments := o.client.AppsV1().Deployments(toolkit.Namespace)
	for name, replicas := range map[string]int32{"source-controller": 1, "kustomize-controller": 2, "helm-controller": 1, "flux-operator": 1} {
		if _, err := deployments.Create(t.Context(), fluxDeployment(name, replicas), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	// Two engines never serve one group: Headgate stops.
	served.says("Deployment flux-system/source-controller serves source.toolkit.fluxcd.io")
	before := holdings(t, o.kit.Config)
	if code, said := o.command(t, "migrate", "flux", "--dry-run"); code != 0 || !strings.Contains(said, "would pause") || !strings.Contains(said, "kustomize-controller (2 replicas)") {
		t.Errorf("the dry run ends with %d:\n%s", code, said)
	}
	code, said := o.command(t, "migrate", "flux")
	if code != 0 || !strings.Contains(said, "objects was changed") {
		t.Fatalf("migrate ends with %d:\n%s", code, said)
	}
	if strings.Index(said, "flux-operator") > strings.Index(said, "flux-system/source-controller") {
		t.Errorf("flux-operator is paused too late:\n%s", said)
	}
	if diff := cmp.Diff(before, holdings(t, o.kit.Config)); diff != "" {
		t.Errorf("the migration changes objects:\n%s", diff)
	}
	// Done again it finds nothing else to do, and forgets nothing.
	if code, said := o.command(t, "migrate", "flux", "--without-install"); code != 0 {
		t.Errorf("the second time ends with %d:\n%s", code, said)
	}
	back := run(t, "migrate", "flux", "--back", "--kubeconfig", o.kit.Plane.Kubeconfig())
	fetches(t, o)
	<-back.ended
	if code, said := back.cmd.ProcessState.ExitCode(), back.output.String(); code != 0 || !strings.Contains(said, "remove the manifests of Headgate from the repository") || strings.Contains(said, "not fetched") {
		t.Errorf("the way back ends with %d:\n%s", code, said)
	}
	if code := served.interrupt(); code != 0 {
		t.Errorf("the controller ended with %d", code)
	}
	live, err := deployments.Get(t.Context(), "kustomize-controller", metav1.GetOptions{})
	if err != nil || *live.Spec.Replicas != 2 {
		t.Errorf("kustomize-controller has %v replicas: %v", live.Spec.Replicas, err)
	}
	if _, err := o.client.CoreV1().ConfigMaps(toolkit.Namespace).Get(t.Context(), "headgate-migration", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the migration is still written down: %v", err)
	}
	// Its own pods are all that Headgate gives up.
	after := holdings(t, o.kit.Config)
	delete(before, "Deployment/flux-system/headgate")
	delete(after, "Deployment/flux-system/headgate")
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the way back changes objects:\n%s", diff)
	}
	if code, said := o.command(t, "migrate", "flux", "--back"); code != 2 || !strings.Contains(said, "no migration is recorded") {
		t.Errorf("a way back without a migration ends with %d:\n%s", code, said)
	}
}

// fetches does what source-controller does once it runs: it names the artifacts where it serves them. Until then no other controller of Flux is started, which
// would fetch from where Headgate served them.
func fetches(t *testing.T, o *operated) {
	t.Helper()
	replicas := func(name string) int32 {
		live, err := o.client.AppsV1().Deployments(toolkit.Namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return live.Status.ReadyReplicas
	}
	eventually(t, "source-controller is started", func() (bool, string) { return replicas("source-controller") == 1, "it is not" })
	client, err := dynamic.NewForConfig(o.kit.Config)
	if err != nil {
		t.Fatal(err)
	}
	fetched := 0
	for _, resource := range sources.FetchedResources() {
		list, err := client.Resource(resource).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range list.Items {
			if _, has, _ := unstructured.NestedString(u.Object, "status", "artifact", "url"); !has {
				continue
			}
			if n := replicas("kustomize-controller"); n != 0 {
				t.Errorf("kustomize-controller has %d replicas before source-controller serves %s", n, u.GetName())
			}
			patch := fmt.Appendf(nil, `{"status":{"artifact":{"url":"http://source-controller.flux-system.svc/%s.tar.gz"}}}`, u.GetName())
			if _, err := client.Resource(resource).Namespace(u.GetNamespace()).Patch(t.Context(), u.GetName(), types.MergePatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
				t.Fatal(err)
			}
			fetched++
		}
	}
	if fetched == 0 {
		t.Error("no source has an artifact")
	}
}

// recovers deletes a cluster with everything that is kept of it, and has one command bring it back.
func recovers(t *testing.T, o *operated) {
	dir := shortDir(t)
	up := func() *process {
		return run(t, "up", o.withLogin(), "--path", "clusters/demo", "--age-key-file", filepath.Join(o.secrets, "age.agekey"), "--state-dir", dir)
	}
	state := func() map[string]string {
		client := clientOf(t, filepath.Join(dir, "cluster", "kubeconfig"))
		config := configOf(t, filepath.Join(dir, "cluster", "kubeconfig"))
		if _, err := client.CoreV1().Secrets(toolkit.Namespace).Get(t.Context(), roots.AgeSecret, metav1.GetOptions{}); err != nil {
			t.Fatal(err)
		}
		return contents(t, config)
	}
	first := up()
	first.says("ready ")
	first.says("units, ")
	before := state()
	if len(before) < 20 {
		t.Fatalf("only %d objects: %v", len(before), before)
	}
	first.kill()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	second := up()
	second.says("units, ")
	t.Logf("from nothing to %d objects in %s", len(before), time.Since(began).Round(10*time.Millisecond))
	if diff := cmp.Diff(before, state()); diff != "" {
		t.Errorf("not everything came back (-before +after):\n%s", diff)
	}
	second.interrupt()
}

// holdings are the objects that units hold, with their uids and generations.
func holdings(t *testing.T, config *rest.Config) map[string]string {
	t.Helper()
	out := map[string]string{}
	held(t, config, func(id string, o *unstructured.Unstructured) {
		version := fmt.Sprint(o.GetGeneration())
		if o.GetGeneration() == 0 && o.GetKind() != "Namespace" {
			version = o.GetResourceVersion()
		}
		out[id] = string(o.GetUID()) + " " + version
	})
	return out
}

// contents are what was declared of the objects that units hold.
func contents(t *testing.T, config *rest.Config) map[string]string {
	t.Helper()
	out := map[string]string{}
	held(t, config, func(id string, o *unstructured.Unstructured) {
		content := map[string]any{"labels": o.GetLabels()}
		for _, field := range []string{"data", "stringData", "type", "spec", "rules", "subjects", "roleRef"} {
			content[field] = o.Object[field]
		}
		if spec, ok := o.Object["spec"].(map[string]any); ok {
			for _, field := range []string{"clusterIP", "clusterIPs", "volumeName", "finalizers"} {
				delete(spec, field)
			}
		}
		text, err := json.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		out[id] = given.ReplaceAllString(string(text), "")
	})
	return out
}

// given is what a cluster assigns to objects: uids and ports.
var given = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|"(nodePort|healthCheckNodePort)":\d+,?`)

// held visits the objects that units hold.
func held(t *testing.T, config *rest.Config, visit func(id string, o *unstructured.Unstructured)) {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	mapper, err := roots.Mapper(config)
	if err != nil {
		t.Fatal(err)
	}
	for _, resource := range sources.UnitResources() {
		list, err := client.Resource(resource).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			for _, e := range sources.HeldBy(&list.Items[i]) {
				mapping, err := mapper.RESTMapping(e.ID.GroupKind(), e.Version)
				if err != nil {
					t.Fatal(err)
				}
				o, err := client.Resource(mapping.Resource).Namespace(e.ID.Namespace).Get(t.Context(), e.ID.Name, metav1.GetOptions{})
				if err != nil {
					t.Fatal(err)
				}
				visit(e.ID.String(), o)
			}
		}
	}
}
