package scenario

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/headgate-dev/headgate/internal/kit"
)

// applied are Applications, on a cluster.
type applied struct {
	*testing.T
	world  *world
	client kubernetes.Interface
}

func appliedOn(t *testing.T, w *world, client kubernetes.Interface) *applied {
	t.Helper()
	return &applied{T: t, world: w, client: client}
}

// says waits until a field of an Application matches.
func (a *applied) says(name, path, pattern string) {
	a.Helper()
	re := regexp.MustCompile(pattern)
	eventually(a.T, fmt.Sprintf("%s of Application %s matches %s", path, name, pattern), func() (bool, string) {
		r, _, err := a.world.resource("Application")
		if err != nil {
			return false, err.Error()
		}
		u, err := a.world.client.Resource(r.Resource).Namespace(argoNamespace).Get(a.Context(), name, metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		return re.MatchString(field(u, path)), told(u)
	})
}

// value waits until a ConfigMap of the namespace work has a value.
func (a *applied) value(name, want string) {
	a.Helper()
	eventually(a.T, fmt.Sprintf("ConfigMap %s has the value %s", name, want), func() (bool, string) {
		found := configMaps(a.T, a.client, "work")
		return found[name] == want, fmt.Sprint(found)
	})
}

// job waits for a Job of the namespace work, and returns which it is.
func (a *applied) job(name string) types.UID {
	a.Helper()
	var uid types.UID
	eventually(a.T, "Job "+name+" is there", func() (bool, string) {
		j, err := a.client.BatchV1().Jobs("work").Get(a.Context(), name, metav1.GetOptions{})
		if err == nil {
			uid = j.UID
		}
		return err == nil, fmt.Sprint(err)
	})
	return uid
}

// begin lets a Job of the namespace work run that was made suspended.
func (a *applied) begin(name string) {
	a.Helper()
	eventually(a.T, "Job "+name+" begins", func() (bool, string) {
		_, err := a.client.BatchV1().Jobs("work").Patch(a.Context(), name, types.MergePatchType, []byte(`{"spec":{"suspend":false}}`), metav1.PatchOptions{})
		return err == nil, fmt.Sprint(err)
	})
}

// ran are the Jobs of a name that made a pod.
func (a *applied) ran(name string) int {
	a.Helper()
	list, err := a.client.CoreV1().Events("work").List(a.Context(), metav1.ListOptions{})
	if err != nil {
		a.Fatal(err)
	}
	jobs := map[types.UID]bool{}
	for i := range list.Items {
		if e := &list.Items[i]; e.InvolvedObject.Kind == "Job" && e.InvolvedObject.Name == name && e.Reason == "SuccessfulCreate" {
			jobs[e.InvolvedObject.UID] = true
		}
	}
	return len(jobs)
}

const faultURL = "https://git.example/faults.git"

const faultApp = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: %[1]s, namespace: argocd}
spec:
  project: default
  source: {repoURL: %[2]q, targetRevision: main, path: %[1]s}
  destination: {server: https://kubernetes.default.svc, namespace: %[1]s}
  syncPolicy: {automated: {prune: true, selfHeal: true}, syncOptions: [CreateNamespace=true]}
`

// faultWork has a hook that waits for a person, a Job that runs once, and a wave that waits for a node.
const faultWork = `apiVersion: batch/v1
kind: Job
metadata: {name: pre, annotations: {argocd.argoproj.io/hook: PreSync}}
spec:
  suspend: true
  template: {spec: {restartPolicy: Never, containers: [{name: c, image: "registry.example/job:1"}]}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: brief, annotations: {argocd.argoproj.io/hook: PreSync}}
spec:
  ttlSecondsAfterFinished: 1
  template: {spec: {restartPolicy: Never, containers: [{name: c, image: "registry.example/job:1"}]}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec:
  ttlSecondsAfterFinished: 1
  template: {spec: {restartPolicy: Never, containers: [{name: c, image: "registry.example/job:1"}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, annotations: {argocd.argoproj.io/sync-wave: "1"}}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {nodeSelector: {ready: "yes"}, containers: [{name: web, image: "registry.example/web:1"}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: last, annotations: {argocd.argoproj.io/sync-wave: "2"}}
data: {k: "1"}
`

// TestArgoKilled kills the process while a hook runs, while a wave waits, and while objects are pruned: what must run once
// does, and what is to stay does.
func TestArgoKilled(t *testing.T) {
	t.Parallel()
	const many = 600
	dir, repo := shortDir(t), t.TempDir()
	command(t, repo, "git init -q -b main . && git remote add origin "+faultURL)
	writeFile(t, filepath.Join(repo, "root.yaml"), fmt.Sprintf(strings.ReplaceAll(faultApp, "namespace: %[1]s}", "namespace: argocd}"), "apps", faultURL))
	writeFile(t, filepath.Join(repo, "apps", "work.yaml"), fmt.Sprintf(faultApp, "work", faultURL))
	writeFile(t, filepath.Join(repo, "apps", "crowd.yaml"), fmt.Sprintf(faultApp, "crowd", faultURL))
	writeFile(t, filepath.Join(repo, "work", "work.yaml"), faultWork)
	manifest := filepath.Join(repo, "crowd", "crowd.yaml")
	text, want := crowd(many, "1", func(int) bool { return true })
	commit := func(text string) {
		t.Helper()
		writeFile(t, manifest, text)
		command(t, repo, "git add -A && git -c user.name=dev -c user.email=dev@example.dev commit -q -m change")
	}
	commit(text)

	var a *applied
	up := func() *process {
		p := run(t, "up", repo, "--path", "root.yaml", "--state-dir", dir)
		kubeconfig := filepath.Join(dir, "cluster", "kubeconfig")
		client := clientOf(t, kubeconfig)
		config := configOf(t, kubeconfig)
		dyn, err := dynamic.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		a = appliedOn(t, &world{client: dyn, kit: &kit.Kit{Config: config}}, client)
		return p
	}
	settled := func() {
		t.Helper()
		eventually(t, "the crowd is what the repository says", func() (bool, string) {
			diff := cmp.Diff(want, configMaps(t, a.client, "crowd"))
			return diff == "", diff
		})
	}

	p := up()
	pre := a.job("pre")
	// Events are written late, and those of a process that is killed are lost.
	eventually(t, "there is the event of the hook that its time to live deletes", func() (bool, string) { return a.ran("brief") == 1, "" })
	p.kill()
	p = up()
	a.begin("pre")
	// That the Job has completed is noted before the wave of the Deployment begins; its time to live ends in this process or in the
	// next one.
	a.says("work", "status.operationState.message", "waiting for healthy state of apps/Deployment/web")
	eventually(t, "the hook that its time to live deletes is gone", func() (bool, string) {
		_, err := a.client.BatchV1().Jobs("work").Get(t.Context(), "brief", metav1.GetOptions{})
		return apierrors.IsNotFound(err), fmt.Sprint(err)
	})
	eventually(t, "there are events of the hooks, and of the Job of the wave before", func() (bool, string) {
		ran := []int{a.ran("brief"), a.ran("pre"), a.ran("once")}
		return slices.Equal(ran, []int{1, 1, 1}), fmt.Sprint(ran)
	})
	p.kill()
	p = up()
	if _, err := a.client.CoreV1().ConfigMaps("crowd").Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "bystander"}, Data: map[string]string{"k": "by hand"},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	settled()
	if _, err := a.client.CoreV1().Nodes().Patch(t.Context(), "node-1", types.MergePatchType, []byte(`{"metadata":{"labels":{"ready":"yes"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	a.value("last", "1")
	a.says("work", "status.operationState.phase", "^Succeeded$")

	text, want = crowd(many, "1", func(i int) bool { return i < 10 })
	commit(text)
	eventually(t, "the prune has begun", func() (bool, string) {
		n := len(configMaps(t, a.client, "crowd"))
		return n < many-20, fmt.Sprint(n)
	})
	p.kill()
	p = up()
	settled()
	for _, name := range []string{"work", "crowd", "apps"} {
		a.says(name, "status.sync.status", "^Synced$")
		a.says(name, "status.health.status", "^Healthy$")
	}
	if now := a.job("pre"); now != pre {
		t.Error("the hook was recreated")
	}
	if n := a.ran("once"); n != 1 {
		t.Errorf("the Job that runs once ran %d times", n)
	}
	if n := a.ran("brief"); n != 1 {
		t.Errorf("the hook that its time to live deletes ran %d times", n)
	}
	if n := a.ran("pre"); n != 1 {
		t.Errorf("the hook ran %d times", n)
	}
	if code := p.interrupt(); code != 0 {
		t.Errorf("the process ended with %d", code)
	}
}

// command runs a command of a shell.
func command(t *testing.T, dir, script string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", script, err, out)
	}
}

// TestArgoServersVanish takes away the Git server and the API server while Applications are served, and while a hook runs.
func TestArgoServersVanish(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, kit.Options{Persistent: true})
	if err := w.login(t.Context()); err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(w.kit.Config)
	if err != nil {
		t.Fatal(err)
	}
	a, repo := appliedOn(t, w, client), t.TempDir()
	if err := w.kit.Git.CreateRepo(t.Context(), "faults"); err != nil {
		t.Fatal(err)
	}
	push := func(value string) {
		t.Helper()
		writeFile(t, filepath.Join(repo, "work", "x.yaml"), fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {k: %q}\n", value))
		url := strings.Replace(w.kit.Git.URL("faults"), "http://", "http://"+kit.User+":"+kit.Token+"@", 1)
		command(t, repo, "git init -q -b main . 2>/dev/null; git add -A && git -c user.name=dev -c user.email=dev@example.dev commit -q -m "+value+" && git push -q "+url+" HEAD:main")
	}
	heals := func(value string) {
		t.Helper()
		if err := a.client.CoreV1().ConfigMaps("work").Delete(t.Context(), "x", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		a.value("x", value)
	}
	push("1")
	if err := w.put(fmt.Sprintf(faultApp, "work", w.kit.Git.URL("faults"))); err != nil {
		t.Fatal(err)
	}
	a.value("x", "1")
	a.says("work", "status.sync.status", "^Synced$")

	if err := w.kit.Git.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	heals("1")
	a.says("work", "status.sync.status", "^Synced$")
	a.says("work", "status.health.status", "^Healthy$")
	if err := w.kit.StartGit(t.Context()); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(repo, "work", "pre.yaml"), strings.Split(faultWork, "---")[0])
	push("2")
	pre := a.job("pre")

	if err := w.kit.Plane.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.kit.StartPlane(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.begin("pre")
	a.value("x", "2")
	a.says("work", "status.operationState.phase", "^Succeeded$")
	a.says("work", "status.sync.status", "^Synced$")
	if now := a.job("pre"); now != pre {
		t.Error("the hook was recreated")
	}
	heals("2")
	a.says("work", "status.sync.status", "^Synced$")
	if n := a.ran("pre"); n != 1 {
		t.Errorf("the hook ran %d times", n)
	}
}
