package scenario

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/kit"
)

const forger = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: dead, namespace: fleet}
spec: {url: "http://localhost:1/none.git", interval: 1h, timeout: 1s, ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: a-forger, namespace: fleet}
spec: {interval: 1h, retryInterval: 1h, path: ./x, prune: true, sourceRef: {kind: GitRepository, name: dead}}
`

// TestClaimsAfterRestart starts an engine on a cluster in which the status of a unit names objects that it never applied,
// and on one from which a unit and its directory are to go.
func TestClaimsAfterRestart(t *testing.T) {
	k := startKit(t, kit.Options{})
	f := newFleet(t, k)
	f.push("1")
	f.settled("1")
	if err := f.world.put(forger); err != nil {
		t.Fatal(err)
	}
	f.condition("ks", "a-forger", "False", "")
	k.StopEngine()
	f.forge("a-forger", "fleet_b__ConfigMap", "fleet_c__ConfigMap")
	if err := k.StartEngine(t.Context()); err != nil {
		t.Fatal(err)
	}
	// What its status names is applied by its owner, by its labels.
	f.push("2")
	f.settled("2")
	f.condition("ks", "c", "True", "")

	// A unit whose root drops it goes, though its directory is gone as well, and so do its objects.
	k.StopEngine()
	writeFile(t, filepath.Join(f.repo, "flux", "units.yaml"), fmt.Sprintf(fleetUnit, "a", "")+"---\n"+fmt.Sprintf(fleetUnit, "b", ", dependsOn: [{name: a}]"))
	if err := os.RemoveAll(filepath.Join(f.repo, "c")); err != nil {
		t.Fatal(err)
	}
	f.commit("without c")
	if err := k.StartEngine(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "c is gone", func() (bool, string) {
		diff := cmp.Diff(map[string]string{"a": "2", "b": "2"}, configMaps(t, f.client, "fleet"))
		return diff == "", diff
	})
	f.condition("ks", "root", "True", "")
}

// forge has the status of a unit name objects.
func (f *fleet) forge(name string, objects ...string) {
	f.t.Helper()
	m, _, err := f.world.resource("ks")
	if err != nil {
		f.t.Fatal(err)
	}
	entries := ""
	for i, o := range objects {
		if i > 0 {
			entries += ","
		}
		entries += fmt.Sprintf(`{"id":%q,"v":"v1"}`, o)
	}
	_, err = f.world.client.Resource(m.Resource).Namespace("fleet").Patch(f.t.Context(), name, types.MergePatchType,
		[]byte(`{"status":{"inventory":{"entries":[`+entries+`]}}}`), metav1.PatchOptions{FieldManager: "someone"}, "status")
	if err != nil {
		f.t.Fatal(err)
	}
}

// commit pushes the repository as it is.
func (f *fleet) commit(message string) {
	f.t.Helper()
	cmd := exec.Command("sh", "-c", `git add -A && git -c user.name=dev -c user.email=dev@example.dev commit -q -m "$1" && git push -q "$0" HEAD:main`, f.url(), message)
	cmd.Dir = f.repo
	if out, err := cmd.CombinedOutput(); err != nil {
		f.t.Fatalf("git: %v: %s", err, out)
	}
}
