package scenario

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/headgate-dev/headgate/internal/kit"
)

// crowd is a manifest of many ConfigMaps in a namespace of their own: those for which keep says yes.
func crowd(n int, value string, keep func(i int) bool) (manifest string, want map[string]string) {
	var text strings.Builder
	text.WriteString("apiVersion: v1\nkind: Namespace\nmetadata: {name: crowd}\n")
	want = map[string]string{"bystander": "by hand"}
	for i := range n {
		if keep(i) {
			fmt.Fprintf(&text, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: m%d, namespace: crowd}\ndata: {k: %q}\n", i, value)
			want[fmt.Sprintf("m%d", i)] = value
		}
	}
	return text.String(), want
}

// TestKilled kills the process in the middle of an apply and in the middle of a prune, lets Git go on
// meanwhile, and looks whether the next process ends with what Git says, and with nothing less.
func TestKilled(t *testing.T) {
	t.Parallel()
	const many = 1500
	dir, repo := shortDir(t), t.TempDir()
	manifest := filepath.Join(repo, "cluster", "crowd.yaml")
	up := func() (*process, kubernetes.Interface) {
		p := run(t, "up", repo, "--path", "cluster", "--state-dir", dir)
		return p, clientOf(t, filepath.Join(dir, "cluster", "kubeconfig"))
	}
	settled := func(client kubernetes.Interface, want map[string]string) {
		t.Helper()
		eventually(t, "the cluster is what Git says", func() (bool, string) {
			diff := cmp.Diff(want, configMaps(t, client, "crowd"))
			return diff == "", diff
		})
	}

	text, _ := crowd(many, "1", func(int) bool { return true })
	writeFile(t, manifest, text)
	p, client := up()
	eventually(t, "the apply has begun", func() (bool, string) {
		n := len(configMaps(t, client, "crowd"))
		return n > many/20, fmt.Sprint(n)
	})
	p.kill()
	// What was applied and is no longer in Git is only known from the objects themselves.
	text, want := crowd(many, "2", func(i int) bool { return i%2 == 0 })
	writeFile(t, manifest, text)
	p, client = up()
	_, err := client.CoreV1().ConfigMaps("crowd").Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "bystander"}, Data: map[string]string{"k": "by hand"},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	settled(client, want)

	text, want = crowd(many, "2", func(i int) bool { return i < 10 })
	writeFile(t, manifest, text)
	eventually(t, "the prune has begun", func() (bool, string) {
		n := len(configMaps(t, client, "crowd"))
		return n < many/2-20, fmt.Sprint(n)
	})
	p.kill()
	p, client = up()
	settled(client, want)
	p.says("ready")
	if code := p.interrupt(); code != 0 {
		t.Errorf("the process ended with %d", code)
	}
}

// shortDir is a directory whose name is short enough for the sockets below it.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hg-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestServersVanish takes away the Git server and the API server for a while, and then lets two
// processes contend for the cluster.
func TestServersVanish(t *testing.T) {
	t.Parallel()
	k := startKit(t, kit.Options{Persistent: true})
	f := newFleet(t, k)
	f.push("1")
	f.settled("1")
	t.Run("git", func(t *testing.T) { gitVanishes(t, f) })
	t.Run("api server", func(t *testing.T) { apiServerVanishes(t, f) })
	k.StopEngine()
	t.Run("two processes", func(t *testing.T) { twoProcesses(t, f) })
	t.Run("remote", func(t *testing.T) { remoteRepository(t, f) })
}

// fleet is a chain of three units on a kit.
type fleet struct {
	kit    *kit.Kit
	client kubernetes.Interface
	world  *world
	repo   string
	t      *testing.T
}

const fleetUnit = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: %[1]s, namespace: fleet}
spec: {interval: 1h, retryInterval: 1h, path: ./%[1]s, prune: true, sourceRef: {kind: GitRepository, name: repo}%[2]s}
`

const fleetRoot = `apiVersion: v1
kind: Namespace
metadata: {name: fleet}
---
apiVersion: v1
kind: Secret
metadata: {name: git, namespace: fleet}
stringData: {username: dev, password: a-token-for-tests}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: repo, namespace: fleet}
spec: {url: %q, interval: 1s, timeout: 5s, ref: {branch: main}, secretRef: {name: git}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: root, namespace: fleet}
spec: {interval: 1h, retryInterval: 1h, path: ./flux, prune: true, sourceRef: {kind: GitRepository, name: repo}}
`

func newFleet(t *testing.T, k *kit.Kit) *fleet {
	t.Helper()
	client, err := kubernetes.NewForConfig(k.Config)
	if err != nil {
		t.Fatal(err)
	}
	dyn, err := dynamic.NewForConfig(k.Config)
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{kit: k, client: client, world: &world{kit: k, client: dyn}, repo: t.TempDir(), t: t}
	if err := k.Git.CreateRepo(t.Context(), "fleet"); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(f.repo, "flux", "units.yaml"), fmt.Sprintf(fleetUnit, "a", "")+"---\n"+
		fmt.Sprintf(fleetUnit, "b", ", dependsOn: [{name: a}]")+"---\n"+fmt.Sprintf(fleetUnit, "c", ", dependsOn: [{name: b}]"))
	if err := f.world.put(fmt.Sprintf(fleetRoot, k.Git.URL("fleet"))); err != nil {
		t.Fatal(err)
	}
	return f
}

// write gives the object of each unit a value.
func (f *fleet) write(value string) {
	f.t.Helper()
	for _, unit := range []string{"a", "b", "c"} {
		writeFile(f.t, filepath.Join(f.repo, unit, "x.yaml"), fmt.Sprintf(
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: fleet}\ndata: {k: %q}\n", unit, value))
	}
}

// url is where the fleet is pushed to and can be fetched from.
func (f *fleet) url() string {
	return strings.Replace(f.kit.Git.URL("fleet"), "http://", "http://"+kit.User+":"+kit.Token+"@", 1)
}

// push writes and pushes.
func (f *fleet) push(value string) {
	f.t.Helper()
	f.write(value)
	url := f.url()
	cmd := exec.Command("sh", "-c", `git init -q -b main . 2>/dev/null; git add -A && git -c user.name=dev -c user.email=dev@example.dev commit -q -m "$1" && git push -q "$0" HEAD:main`, url, value)
	cmd.Dir = f.repo
	if out, err := cmd.CombinedOutput(); err != nil {
		f.t.Fatalf("git: %v: %s", err, out)
	}
}

// settled waits until every unit has applied a value.
func (f *fleet) settled(value string) {
	f.t.Helper()
	want := map[string]string{"a": value, "b": value, "c": value}
	eventually(f.t, "the fleet has value "+value, func() (bool, string) {
		diff := cmp.Diff(want, configMaps(f.t, f.client, "fleet"))
		return diff == "", diff
	})
}

// condition waits for the Ready condition of an object of the fleet.
func (f *fleet) condition(kind, name, status, text string) {
	f.t.Helper()
	f.conditionIn("fleet", kind, name, status, text)
}

func (f *fleet) conditionIn(namespace, kind, name, status, text string) {
	f.t.Helper()
	eventually(f.t, fmt.Sprintf("%s/%s is ready: %s", kind, name, status), func() (bool, string) {
		m, _, err := f.world.resource(kind)
		if err != nil {
			return false, err.Error()
		}
		u, err := f.world.client.Resource(m.Resource).Namespace(namespace).Get(f.t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		is, why := conditionOf(u, "Ready")
		return is == status && strings.Contains(why, text), is + " " + why
	})
}

func gitVanishes(t *testing.T, f *fleet) {
	if err := f.kit.Git.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.condition("git", "repo", "False", "")
	// What was fetched last still holds, and still heals.
	if err := f.client.CoreV1().ConfigMaps("fleet").Delete(t.Context(), "b", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	f.settled("1")
	f.condition("ks", "c", "True", "")
	if err := f.kit.StartGit(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.push("2")
	f.settled("2")
	f.condition("git", "repo", "True", "")
}

func apiServerVanishes(t *testing.T, f *fleet) {
	if err := f.kit.Plane.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.push("3")
	if err := f.kit.StartPlane(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.settled("3")
	f.condition("ks", "c", "True", "main@sha1:")
	if err := f.client.CoreV1().ConfigMaps("fleet").Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	f.settled("3")
}

// twoProcesses kills the process that serves the cluster; the one that waited goes on.
func twoProcesses(t *testing.T, f *fleet) {
	repo := t.TempDir()
	up := func() *process {
		return run(t, "up", repo, "--path", "pair", "--kubeconfig", f.kit.Plane.Kubeconfig(), "--serve", "flux", "--state-dir", shortDir(t), "--lease-duration", "15s")
	}
	change := func(value string) {
		t.Helper()
		writeFile(t, filepath.Join(repo, "pair", "x.yaml"), fmt.Sprintf(
			"apiVersion: v1\nkind: Namespace\nmetadata: {name: pair}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: pair}\ndata: {k: %q}\n", value))
	}
	settled := func(value string) {
		t.Helper()
		eventually(t, "the cluster has value "+value, func() (bool, string) {
			got := configMaps(t, f.client, "pair")["x"]
			return got == value, got
		})
	}
	change("1")
	first := up()
	first.says("served by this process")
	second := up()
	second.says("this process takes over when that one ends")
	settled("1")
	change("2")
	settled("2")
	if strings.Contains(second.output.String(), "served by this process") {
		t.Error("both processes serve the cluster")
	}
	first.kill()
	change("3")
	second.says("served by this process")
	settled("3")

	third := up()
	third.says("this process takes over when that one ends")
	if code := second.interrupt(); code != 0 {
		t.Errorf("the second process ended with %d", code)
	}
	third.says("served by this process")
	change("4")
	settled("4")
}

// remoteRepository boots a repository that is somewhere else, and one of whose directories is missing.
func remoteRepository(t *testing.T, f *fleet) {
	up := func(dir string) *process {
		return run(t, "up", f.url(), "--path", dir, "--ephemeral", "--exit-when-ready", "--state-dir", shortDir(t))
	}
	p := up("elsewhere")
	<-p.ended
	if code := p.cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(p.output.String(), "kustomization path not found") {
		t.Errorf("a missing path ends with %d:\n%s", code, p.output)
	}
	if strings.Contains(p.output.String(), kit.Token) {
		t.Error("the password of the URL is printed")
	}
	writeFile(t, filepath.Join(f.repo, "there", "x.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: default}\n")
	f.push("7")
	p = up("there")
	<-p.ended
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("a repository elsewhere ends with %d:\n%s", code, p.output)
	}
}
