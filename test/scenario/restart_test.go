package scenario

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/kit"
	"github.com/headgate-dev/headgate/internal/runner"
)

const forger = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: dead, namespace: fleet}
spec: {url: "http://localhost:1/none.git", interval: 1h, timeout: 1s, ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: a-forger, namespace: fleet}
spec: {interval: 1h, retryInterval: 1h, path: ./x, prune: true, serviceAccountName: nobody, sourceRef: {kind: GitRepository, name: dead}}
`

// claimed is an object that only its owner and the engine may read.
const claimed = `apiVersion: v1
kind: Secret
metadata: {name: claimed, namespace: fleet}
`

// TestClaimsAfterRestart starts an engine on a cluster in which the status of a unit names objects that it never applied,
// and on one from which a unit and its directory are to go.
func TestClaimsAfterRestart(t *testing.T) {
	t.Parallel()
	k := startKit(t, kit.Options{})
	f := newFleet(t, k)
	writeFile(t, filepath.Join(f.repo, "b", "claimed.yaml"), claimed)
	f.push("1")
	f.settled("1")
	f.condition("ks", "b", "True", "")
	if err := f.world.put(forger); err != nil {
		t.Fatal(err)
	}
	f.condition("ks", "a-forger", "False", "")
	k.StopEngine()
	f.forge("a-forger", "fleet_b__ConfigMap", "fleet_c__ConfigMap", "fleet_claimed__Secret")
	if err := os.Remove(filepath.Join(f.repo, "b", "claimed.yaml")); err != nil {
		t.Fatal(err)
	}
	f.push("2")
	if err := k.StartEngine(t.Context()); err != nil {
		t.Fatal(err)
	}
	// What its status names is applied by its owner, by its labels.
	f.settled("2")
	f.condition("ks", "c", "True", "")

	// Nor does it keep the owner from deleting what went from Git meanwhile, though the account of the forger may not read whose it is.
	eventually(t, "what the forger claims is gone", func() (bool, string) {
		_, err := f.client.CoreV1().Secrets("fleet").Get(t.Context(), "claimed", metav1.GetOptions{})
		return apierrors.IsNotFound(err), fmt.Sprint(err)
	})

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

// TestSharedAfterRestart starts an engine on a cluster in which two units own an object together.
func TestSharedAfterRestart(t *testing.T) {
	t.Parallel()
	k := startKit(t, kit.Options{})
	f := newFleet(t, k)
	f.share("a", `{x: "1", a: "1"}`)
	f.share("c", `{x: "1", c: "1"}`)
	f.push("1")
	f.settledShared(map[string]string{"x": "1", "a": "1", "c": "1"}, "a")
	f.condition("ks", "c", "True", "main@sha1:")
	before := f.shared().ResourceVersion
	restart := func(change func()) {
		t.Helper()
		k.StopEngine()
		change()
		if err := k.StartEngine(t.Context()); err != nil {
			t.Fatal(err)
		}
	}

	// Who owns it together is found again: no one writes it.
	restart(func() { f.push("2") })
	f.settled("2")
	f.condition("ks", "c", "True", "main@sha1:")
	if after := f.shared().ResourceVersion; after != before {
		t.Errorf("the shared object was written by the engine that came after: %s, then %s", before, after)
	}

	// What a suspended unit declares alone is unknown to an engine that begins then, and stays.
	suspended := func(more string) {
		writeFile(t, filepath.Join(f.repo, "flux", "units.yaml"), fmt.Sprintf(fleetUnit, "a", "")+"---\n"+
			fmt.Sprintf(fleetUnit, "b", ", dependsOn: [{name: a}]")+"---\n"+fmt.Sprintf(fleetUnit, "c", more))
	}
	suspended(", suspend: true")
	// Units read a commit at once, whichever of them it changes: what c must not apply comes later.
	f.commit("suspend c")
	f.knowsSuspended("c")
	f.push("3")
	eventually(t, "c stays as it is", func() (bool, string) {
		data := configMaps(t, f.client, "fleet")
		return data["b"] == "3" && data["c"] == "2", fmt.Sprint(data)
	})
	restart(func() {
		f.share("a", `{x: "1", a: "2"}`)
		f.push("4")
	})
	f.settledShared(map[string]string{"x": "1", "a": "2", "c": "1"}, "a")

	// When it is resumed and declares it no more, it goes; when the first releases, the other one has the rest.
	suspended("")
	f.share("c", `{x: "1"}`)
	f.push("5")
	f.settledShared(map[string]string{"x": "1", "a": "2"}, "a")
	restart(func() {
		if err := os.Remove(filepath.Join(f.repo, "a", "shared.yaml")); err != nil {
			t.Fatal(err)
		}
		f.push("6")
	})
	f.settledShared(map[string]string{"x": "1"}, "c")
	restart(func() {
		if err := os.Remove(filepath.Join(f.repo, "c", "shared.yaml")); err != nil {
			t.Fatal(err)
		}
		f.push("7")
	})
	eventually(t, "the shared object is gone", func() (bool, string) {
		_, err := f.client.CoreV1().ConfigMaps("fleet").Get(t.Context(), "shared", metav1.GetOptions{})
		return apierrors.IsNotFound(err), fmt.Sprint(err)
	})
}

// knowsSuspended waits until the engine knows that a unit is suspended.
func (f *fleet) knowsSuspended(name string) {
	f.t.Helper()
	eventually(f.t, name+" is suspended", func() (bool, string) {
		states, _ := f.kit.Engine.States(f.t.Context())
		return slices.ContainsFunc(states, func(s runner.State) bool { return s.Unit.Name == name && s.Suspended }), fmt.Sprint(len(states), " units")
	})
}

// share has a unit declare the shared object.
func (f *fleet) share(unit, data string) {
	f.t.Helper()
	writeFile(f.t, filepath.Join(f.repo, unit, "shared.yaml"),
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared, namespace: fleet}\ndata: "+data+"\n")
}

// shared is the shared object as it is.
func (f *fleet) shared() *corev1.ConfigMap {
	f.t.Helper()
	c, err := f.client.CoreV1().ConfigMaps("fleet").Get(f.t.Context(), "shared", metav1.GetOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	return c
}

// settledShared waits until the shared object has the data, and the name of its first owner.
func (f *fleet) settledShared(want map[string]string, owner string) {
	f.t.Helper()
	eventually(f.t, fmt.Sprint("the shared object is ", want), func() (bool, string) {
		c, err := f.client.CoreV1().ConfigMaps("fleet").Get(f.t.Context(), "shared", metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		diff := cmp.Diff(want, c.Data) + cmp.Diff(owner, c.Labels["kustomize.toolkit.fluxcd.io/name"])
		return diff == "", diff
	})
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
