package scenario

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/headgate-dev/headgate/internal/controlplane"
	"github.com/headgate-dev/headgate/internal/kit"
)

// far is a second cluster, which can be taken away and brought back.
type far struct {
	t       *testing.T
	dir     string
	running *controlplane.Running
	client  kubernetes.Interface
}

func (f *far) start() {
	f.t.Helper()
	running, err := controlplane.Start(f.t.Context(), controlplane.Config{Dir: f.dir, Nodes: 1})
	if err != nil {
		f.t.Fatal(err)
	}
	f.running = running
	if f.client, err = kubernetes.NewForConfig(running.RESTConfig()); err != nil {
		f.t.Fatal(err)
	}
}

func (f *far) stop() {
	if f.running == nil {
		return
	}
	if err := f.running.Stop(context.WithoutCancel(f.t.Context())); err != nil {
		f.t.Error(err)
	}
	f.running = nil
}

// settled waits until the ConfigMaps of a namespace are as wanted.
func (f *far) settled(namespace string, want map[string]string) {
	f.t.Helper()
	eventually(f.t, fmt.Sprintf("the other cluster has %v", want), func() (bool, string) {
		diff := cmp.Diff(want, configMaps(f.t, f.client, namespace))
		return diff == "", diff
	})
}

const farUnits = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: far, namespace: fleet}
spec:
  interval: 1h
  retryInterval: 1h
  timeout: 2m
  path: ./far
  prune: true
  wait: true
  kubeConfig: {secretRef: {name: far}}
  sourceRef: {kind: GitRepository, name: repo}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: token, namespace: fleet}
spec:
  interval: 1h
  retryInterval: 1h
  path: ./token
  prune: true
  kubeConfig: {configMapRef: {name: token}}
  sourceRef: {kind: GitRepository, name: repo}
`

const farNamespace = `apiVersion: v1
kind: Namespace
metadata: {name: away}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: away}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web}]}
`

// TestRemoteClusters has units work in another cluster, which comes late, goes, and comes back, while
// those of the engine's own cluster go on.
func TestRemoteClusters(t *testing.T) {
	t.Parallel()
	k, err := kit.Start(t.Context(), shortDir(t), kit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	other := &far{t: t, dir: filepath.Join(shortDir(t), "far")}
	t.Cleanup(func() {
		other.stop()
		if err := k.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	f := newFleet(t, k)
	f.writeFar("1", "x", "y")
	writeFile(t, filepath.Join(f.repo, "flux", "far.yaml"), farUnits)
	writeFile(t, filepath.Join(f.repo, "token", "x.yaml"),
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: token}\ndata: {k: by token}\n")
	f.push("1")
	f.settled("1")
	f.condition("ks", "far", "False", `spec.kubeConfig.secretRef: reading Secret "fleet/far"`)

	other.start()
	f.credentials(other)
	f.condition("ks", "far", "True", "main@sha1:")
	other.settled("away", map[string]string{"x": "1", "y": "1"})
	f.condition("ks", "far", "True", "main@sha1:")
	if _, err := f.client.CoreV1().Namespaces().Get(t.Context(), "away", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the objects of the other cluster are in the engine's own: %v", err)
	}
	t.Run("drift", func(t *testing.T) {
		if err := other.client.CoreV1().ConfigMaps("away").Delete(t.Context(), "x", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		other.settled("away", map[string]string{"x": "1", "y": "1"})
	})
	t.Run("loss and return", func(t *testing.T) {
		other.stop()
		f.writeFar("2", "x", "y")
		f.push("2")
		f.settled("2")
		f.condition("ks", "far", "False", "connection refused")
		f.condition("ks", "c", "True", "")
		other.start()
		other.settled("away", map[string]string{"x": "2", "y": "2"})
		f.condition("ks", "far", "True", "")
	})
	t.Run("restart", func(t *testing.T) {
		k.StopEngine()
		f.writeFar("3", "x")
		f.push("3")
		// Times of writes are to the second.
		stopped := time.Now().Unix()
		eventually(t, "the second is over", func() (bool, string) { return time.Now().Unix() > stopped, "" })
		// As if the engine had been killed after it had applied this and before it could write it down.
		orphan := []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"orphan","namespace":"away","labels":{` +
			`"kustomize.toolkit.fluxcd.io/name":"far","kustomize.toolkit.fluxcd.io/namespace":"fleet"}},"data":{"k":"2"}}`)
		_, err := other.client.CoreV1().ConfigMaps("away").Patch(t.Context(), "orphan", types.ApplyPatchType, orphan,
			metav1.PatchOptions{FieldManager: "kustomize-controller"})
		if err != nil {
			t.Fatal(err)
		}
		if err := k.StartEngine(t.Context()); err != nil {
			t.Fatal(err)
		}
		other.settled("away", map[string]string{"x": "3"})
		f.condition("ks", "far", "True", "")
	})
	t.Run("account", func(t *testing.T) { farAccount(t, f, other) })
	t.Run("token", func(t *testing.T) { byToken(t, f) })
	t.Run("release", func(t *testing.T) { farRelease(t, f, other) })
	t.Run("deletion", func(t *testing.T) {
		if err := os.Remove(filepath.Join(f.repo, "flux", "far.yaml")); err != nil {
			t.Fatal(err)
		}
		f.push("5")
		f.settled("5")
		eventually(t, "the namespace of the other cluster is deleted", func() (bool, string) {
			_, err := other.client.CoreV1().Namespaces().Get(t.Context(), "away", metav1.GetOptions{})
			return apierrors.IsNotFound(err), fmt.Sprint(err)
		})
	})
}

// writeFar writes what the other cluster shall have.
func (f *fleet) writeFar(value string, names ...string) {
	f.t.Helper()
	text := farNamespace
	for _, name := range names {
		text += fmt.Sprintf("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: away}\ndata: {k: %q}\n", name, value)
	}
	writeFile(f.t, filepath.Join(f.repo, "far", "x.yaml"), text)
}

// credentials puts the kubeconfig of the other cluster where its unit reads it.
func (f *fleet) credentials(other *far) {
	f.t.Helper()
	kubeconfig, err := os.ReadFile(other.running.Kubeconfig())
	if err != nil {
		f.t.Fatal(err)
	}
	_, err = f.client.CoreV1().Secrets("fleet").Create(f.t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "far"}, Data: map[string][]byte{"value": kubeconfig},
	}, metav1.CreateOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
}

// farAccount has the unit of the other cluster act as an account that has no rights there, and then
// gives it some.
func farAccount(t *testing.T, f *fleet, other *far) {
	writeFile(t, filepath.Join(f.repo, "flux", "far.yaml"),
		strings.Replace(farUnits, "  wait: true\n", "  serviceAccountName: deployer\n", 1))
	f.writeFar("4", "x")
	f.push("4")
	f.condition("ks", "far", "False", `User "system:serviceaccount:fleet:deployer" cannot patch resource`)
	_, err := other.client.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "deployer"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "fleet", Name: "deployer"}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.request("ks", "far"); err != nil {
		t.Fatal(err)
	}
	other.settled("away", map[string]string{"x": "4"})
	f.condition("ks", "far", "True", "")
}

// request asks for a pass, as the flux command does.
func (f *fleet) request(kind, unit string) error {
	m, _, err := f.world.resource(kind)
	if err != nil {
		return err
	}
	_, err = f.world.client.Resource(m.Resource).Namespace("fleet").Patch(f.t.Context(), unit, types.MergePatchType,
		[]byte(`{"metadata":{"annotations":{"reconcile.fluxcd.io/requestedAt":"now"}}}`), metav1.PatchOptions{})
	return err
}

const farReleases = `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: release, namespace: fleet}
spec:
  interval: 1h
  timeout: 1m
  targetNamespace: released
  storageNamespace: released
  releaseName: web
  install: {createNamespace: true}
  driftDetection: {mode: enabled}
  kubeConfig: {secretRef: {name: far}}
  chart: {spec: {chart: ./charts/web, sourceRef: {kind: GitRepository, name: repo}}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: retried, namespace: fleet}
spec:
  interval: 1h
  timeout: 1m
  install: {strategy: {name: RetryOnFailure, retryInterval: 2s}}
  upgrade: {strategy: {name: RetryOnFailure, retryInterval: 2s}}
  chart: {spec: {chart: ./charts/web, sourceRef: {kind: GitRepository, name: repo}}}
  healthCheckExprs: [{apiVersion: v1, kind: ConfigMap, current: "has(data.ok)", failed: "!has(data.ok)"}]
`

// farRelease has a release in the other cluster, and one that goes on to be tried again by the next
// engine.
func farRelease(t *testing.T, f *fleet, other *far) {
	writeFile(t, filepath.Join(f.repo, "charts", "web", "Chart.yaml"), "apiVersion: v2\nname: web\nversion: 1.0.0\n")
	writeFile(t, filepath.Join(f.repo, "charts", "web", "templates", "web.yaml"),
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {k: released}\n")
	f.push("release")
	if err := f.world.put(farReleases); err != nil {
		t.Fatal(err)
	}
	f.condition("hr", "release", "True", "InstallSucceeded: Helm install succeeded for release released/web.v1")
	f.condition("hr", "retried", "False", "Failed: ")
	other.settled("released", map[string]string{"web": "released"})
	if _, err := other.client.CoreV1().Secrets("released").Get(t.Context(), "sh.helm.release.v1.web.v1", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := f.client.CoreV1().Namespaces().Get(t.Context(), "released", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the release of the other cluster is in the engine's own: %v", err)
	}
	if err := other.client.CoreV1().ConfigMaps("released").Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := f.request("hr", "release"); err != nil {
		t.Fatal(err)
	}
	other.settled("released", map[string]string{"web": "released"})

	f.kit.StopEngine()
	_, err := f.client.CoreV1().ConfigMaps("fleet").Patch(t.Context(), "web", types.MergePatchType, []byte(`{"data":{"ok":"yes"}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.kit.StartEngine(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.condition("hr", "retried", "True", "UpgradeSucceeded")
	releases, _, err := f.world.resource("hr")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"release", "retried"} {
		if err := f.world.client.Resource(releases.Resource).Namespace("fleet").Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	other.settled("released", map[string]string{})
	eventually(t, "the records of the release are gone", func() (bool, string) {
		_, err := other.client.CoreV1().Secrets("released").Get(t.Context(), "sh.helm.release.v1.web.v1", metav1.GetOptions{})
		return apierrors.IsNotFound(err), fmt.Sprint(err)
	})
}

// byToken has a unit reach a cluster by tokens of a service account, for which the engine's own
// cluster stands in: it trusts its own tokens.
func byToken(t *testing.T, f *fleet) {
	f.condition("ks", "token", "False", `ConfigMap "fleet/token"`)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "bearer"}}
	if _, err := f.client.CoreV1().ServiceAccounts("fleet").Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "token"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := f.client.RbacV1().RoleBindings("token").Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "bearer"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "admin"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "fleet", Name: "bearer"}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	audience, err := f.client.CoreV1().ServiceAccounts("fleet").CreateToken(t.Context(), "bearer", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.client.CoreV1().ConfigMaps("fleet").Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "token"},
		Data: map[string]string{
			"provider": "generic", "address": f.kit.Config.Host, "ca.crt": string(f.kit.Config.CAData),
			"audiences": strings.Join(audience.Spec.Audiences, "\n"), "serviceAccountName": "bearer",
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f.condition("ks", "token", "True", "")
	if got := configMaps(t, f.client, "token")["x"]; got != "by token" {
		t.Errorf("the object has value %q", got)
	}
}
