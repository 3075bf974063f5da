package scenario

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
)

// TestEstate boots a hundred Applications of which nothing can be fetched but the repository itself: every wave is
// healthy before the next one begins, and hooks run once.
func TestEstate(t *testing.T) {
	t.Parallel()
	f, repo, dir := newEstate(), t.TempDir(), shortDir(t)
	if len(f.waves) != 99 {
		t.Fatalf("there are %d Applications beside the root, want 99", len(f.waves))
	}
	f.write(t, repo)
	report := filepath.Join(t.TempDir(), "report.json")
	p := run(t, "up", repo, "--path", "infrastructure/controllers/argocd/root.yaml", "--state-dir", dir, "--ephemeral", "--simulate", "--report", report)
	p.saysWithin(slowness*4*time.Minute, "✓ ready")
	apps := applications(t, filepath.Join(dir, "ephemeral", "kubeconfig"))
	if len(apps) != len(f.waves)+1 {
		t.Errorf("there are %d Applications, want %d", len(apps), len(f.waves)+1)
	}
	for name, app := range apps {
		if app.Status.Sync.Status != v1alpha1.SyncStatusCodeSynced || app.Status.Health.Status != v1alpha1.HealthStatusHealthy {
			t.Errorf("%s is %s and %s: %s %v", name, app.Status.Sync.Status, app.Status.Health.Status, app.Status.Health.Message, app.Status.Conditions)
		}
	}
	checkEstateSecret(t, filepath.Join(dir, "ephemeral", "kubeconfig"))
	for name, jobs := range f.hooked {
		checkHooks(t, apps[name], jobs)
	}
	if code := p.interrupt(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	checkWaves(t, report, f.waves)
}

// checkEstateSecret demands a marked value where no key decrypts.
func checkEstateSecret(t *testing.T, kubeconfig string) {
	t.Helper()
	secret, err := clientOf(t, kubeconfig).CoreV1().Secrets("myapps7-1").Get(t.Context(), "encrypted", metav1.GetOptions{})
	if err != nil || string(secret.Data["token"]) != "simulated-token" {
		t.Errorf("the encrypted Secret is %v: %v", secret, err)
	}
}

// applications are the Applications of a cluster, by name.
func applications(t *testing.T, kubeconfig string) map[string]*v1alpha1.Application {
	t.Helper()
	client, err := dynamic.NewForConfig(configOf(t, kubeconfig))
	if err != nil {
		t.Fatal(err)
	}
	list, err := client.Resource(schemaGVR{Group: "argoproj.io", Version: "v1alpha1", Resource: "applications"}).Namespace("argocd").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	apps := map[string]*v1alpha1.Application{}
	for i := range list.Items {
		apps[list.Items[i].GetName()] = applicationOf(t, &list.Items[i])
	}
	return apps
}

func applicationOf(t *testing.T, u *unstructured.Unstructured) *v1alpha1.Application {
	t.Helper()
	app := &v1alpha1.Application{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, app); err != nil {
		t.Fatal(err)
	}
	return app
}

// checkHooks demands that an Application has been synced once, with its hooks.
func checkHooks(t *testing.T, app *v1alpha1.Application, jobs []string) {
	t.Helper()
	if app == nil || app.Status.OperationState == nil || len(app.Status.History) != 1 {
		t.Errorf("an Application with hooks was not synced just once: %+v", app)
		return
	}
	phases := map[string]string{}
	for _, r := range app.Status.OperationState.SyncResult.Resources {
		if r.HookType != "" {
			phases[r.Name] = string(r.HookPhase)
		}
	}
	for _, job := range jobs {
		if phases[job] != string(v1alpha1.OperationSucceeded) {
			t.Errorf("hook %s of %s is %q", job, app.Name, phases[job])
		}
	}
}

// checkWaves demands that whatever is in a wave was ready before anything of the next one began.
func checkWaves(t *testing.T, file string, waves map[string]int) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Units []struct {
			Unit         string
			Began, Ready float64
			Waits        []struct{ Since float64 }
		}
	}
	if err := json.Unmarshal(data, &report); err != nil {
		t.Fatal(err)
	}
	type edge struct {
		at   float64
		unit string
	}
	begins, ends := map[int]edge{}, map[int]edge{}
	for _, u := range report.Units {
		name := strings.TrimPrefix(u.Unit, "Application/argocd/")
		wave, known := waves[name]
		if !known {
			continue
		}
		began := u.Began
		if len(u.Waits) > 0 {
			began = min(began, u.Waits[0].Since)
		}
		if first, is := begins[wave]; !is || began < first.at {
			begins[wave] = edge{began, name}
		}
		if last := ends[wave]; u.Ready == 0 || u.Ready > last.at {
			ends[wave] = edge{u.Ready, name}
		}
	}
	for wave := range len(begins) - 1 {
		if first, last := begins[wave+1], ends[wave]; first.at < last.at || last.at == 0 {
			t.Errorf("%s of wave %d began at %.3f, and %s of wave %d was ready at %.3f", first.unit, wave+1, first.at, last.unit, wave, last.at)
		}
	}
}
