package scenario

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/cli"
)

// chartedCluster is a virtual cluster by its chart, whose values are in another source.
const chartedCluster = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: vcluster-dev-helm, namespace: argocd, finalizers: [resources-finalizer.argocd.argoproj.io]}
spec:
  project: default
  sources:
    - repoURL: https://charts.loft.sh
      chart: vcluster
      targetRevision: 0.26.0
      helm: {valueFiles: [$values/dev.yaml], parameters: [{name: exportKubeConfig.context, value: dev}]}
    - {repoURL: "cnoe://vcluster-dev/values", targetRevision: HEAD, ref: values}
  destination: {server: "https://kubernetes.default.svc", namespace: dev-vcluster}
  syncPolicy: {automated: {prune: true, selfHeal: true}, syncOptions: [CreateNamespace=true]}
`

// chartedValues are as platforms have them.
const chartedValues = `controlPlane: {proxy: {extraSANs: [vcluster-dev-helm.dev-vcluster.svc]}}
exportKubeConfig: {server: "https://vcluster-dev-helm.dev-vcluster.svc:443"}
sync:
  fromHost:
    nodes: {enabled: true}
    secrets: {enabled: true, mappings: {byName: {"dev-vcluster/*": "web/*"}}}
  toHost: {serviceAccounts: {enabled: true}, ingresses: {enabled: false}}
`

// upVirtual is a cluster of up with a virtual one.
type upVirtual struct {
	t    *testing.T
	dir  string
	host kubernetes.Interface
}

// TestUpVirtualClusters deploys to a virtual cluster that is declared by its chart, which is not fetched. A registration of the repository's
// own makes no second one.
func TestUpVirtualClusters(t *testing.T) {
	t.Parallel()
	stack, dir := t.TempDir(), shortDir(t)
	for name, text := range map[string]string{
		"vcluster-dev.yaml": chartedCluster, "vcluster-dev/values/dev.yaml": chartedValues,
		// A pointer that names nothing has no effect, as with the upstream.
		"web.yaml": strings.NewReplacer(`server: "https://kubernetes.default.svc"`, "name: dev-vcluster", "spec:\n", "spec:\n  ignoreDifferences: [{kind: ConfigMap, jsonPointers: ['*']}]\n").
			Replace(withdrawable("web", "50")),
		"web/manifests/prices.yaml": settings("prices", "one"),
		"other.yaml":                packageOf("other", "1"),
		"other/manifests/size.yaml": settings("size", "small"),
	} {
		writeFile(t, filepath.Join(stack, name), text)
	}
	p := run(t, "up", "--package", stack, "--ephemeral", "--state-dir", dir)
	kubeconfig := filepath.Join(dir, "ephemeral", "kubeconfig")
	eventually(t, "there is a cluster", func() (bool, string) {
		_, err := os.Stat(kubeconfig)
		return err == nil, fmt.Sprint(err)
	})
	u := &upVirtual{t: t, dir: dir, host: clientOf(t, kubeconfig)}
	virtual := u.inside()
	u.has(virtual, "web", "prices=one")
	u.has(u.host, "other", "size=small")
	u.has(u.host, "web", "")
	eventually(t, "every package is ready", func() (bool, string) {
		code, out := asked(t, dir, "get", "packages", "--not-ready")
		return code == 0, out
	})
	t.Run("registration", func(t *testing.T) { u.registered(t) })
	t.Run("names", func(t *testing.T) { u.named(t) })
	t.Run("causes", func(t *testing.T) { u.causes(t, filepath.Join(stack, "web/manifests/server.yaml")) })
	t.Run("silent", func(t *testing.T) { u.silent(t) })
	writeFile(t, filepath.Join(stack, "web/manifests/prices.yaml"), settings("prices", "two"))
	u.has(virtual, "web", "prices=two")

	if err := os.Remove(filepath.Join(stack, "vcluster-dev.yaml")); err != nil {
		t.Fatal(err)
	}
	for _, name := range [][2]string{{"dev-vcluster", "vc-vcluster-dev-helm"}, {"argocd", "cluster-dev-vcluster"}} {
		eventually(t, "Secret "+name[1]+" is gone", func() (bool, string) {
			_, err := u.host.CoreV1().Secrets(name[0]).Get(t.Context(), name[1], metav1.GetOptions{})
			return apierrors.IsNotFound(err), fmt.Sprint(err)
		})
	}
	u.has(u.host, "other", "size=small")
	if code := p.interrupt(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// inside is a client of the virtual cluster, by the Secret that scripts read.
func (u *upVirtual) inside() kubernetes.Interface {
	u.t.Helper()
	var access *corev1.Secret
	eventually(u.t, "the virtual cluster has credentials", func() (bool, string) {
		var err error
		access, err = u.host.CoreV1().Secrets("dev-vcluster").Get(u.t.Context(), "vc-vcluster-dev-helm", metav1.GetOptions{})
		return err == nil, fmt.Sprint(err)
	})
	config, err := clientcmd.RESTConfigFromKubeConfig(access.Data["config"])
	if err != nil {
		u.t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		u.t.Fatal(err)
	}
	return client
}

// has waits until a namespace has these ConfigMaps.
func (u *upVirtual) has(client kubernetes.Interface, namespace, want string) {
	u.t.Helper()
	eventually(u.t, fmt.Sprintf("namespace %s has %q", namespace, want), func() (bool, string) {
		got := joined(configMaps(u.t, client, namespace))
		return got == want, got
	})
}

// registered has the Job of a repository register the virtual cluster by the address that it would have in pods: over the Secret that is there,
// and instead.
func (u *upVirtual) registered(t *testing.T) {
	secrets := u.host.CoreV1().Secrets("argocd")
	get := func() *corev1.Secret {
		t.Helper()
		s, err := secrets.Get(t.Context(), "cluster-dev-vcluster", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	before := get()
	written := map[string][]byte{
		"name": []byte("dev-vcluster"), "server": []byte("https://vcluster-dev-helm.dev-vcluster.svc:443"), "config": []byte(`{"tlsClientConfig":{"insecure":true}}`),
	}
	settled := func() {
		t.Helper()
		eventually(t, "the address is that of the control plane, and the labels of the Job are there", func() (bool, string) {
			s := get()
			return string(s.Data["server"]) == string(before.Data["server"]) && string(s.Data["config"]) == string(before.Data["config"]) &&
				s.Labels["environment"] == "dev", fmt.Sprintf("%s %v", s.Data["server"], s.Labels)
		})
		list, err := secrets.List(t.Context(), metav1.ListOptions{LabelSelector: "argocd.argoproj.io/secret-type=cluster"})
		if err != nil || len(list.Items) != 1 {
			t.Errorf("Argo CD knows %d clusters: %v", len(list.Items), err)
		}
	}
	over := before.DeepCopy()
	over.Data, over.Labels["environment"] = written, "dev"
	if _, err := secrets.Update(t.Context(), over, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	settled()
	if err := secrets.Delete(t.Context(), before.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	anew := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: before.Name, Labels: over.Labels}, Data: written}
	eventually(t, "the Job writes its own Secret", func() (bool, string) {
		_, err := secrets.Create(t.Context(), anew, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			// Another was made meanwhile: the Job replaces it.
			err = secrets.Delete(t.Context(), before.Name, metav1.DeleteOptions{})
			return false, fmt.Sprint(err)
		}
		return err == nil, fmt.Sprint(err)
	})
	settled()
}

// named has each command name the clusters, and goes to causes in the virtual one.
func (u *upVirtual) named(t *testing.T) {
	u.shows(t, []shown{
		{[]string{"get", "packages"}, 0, []string{"NAME CLUSTER KIND", "web dev-vcluster Application", "other in-cluster Application"}},
		{[]string{"get", "apps"}, 0, []string{"NAMESPACE NAME CLUSTER", "argocd web dev-vcluster", "argocd other in-cluster"}},
		{[]string{"get", "apps", "--cluster", "dev-vcluster", "-o", "name"}, 0, []string{"Application/argocd/web"}},
		{[]string{"get", "apps", "--cluster", "prod"}, 2, []string{"there is no cluster with this name; there are in-cluster, dev-vcluster"}},
		{[]string{"tree", "app/web", "-n", "argocd"}, 0, []string{"→ dev-vcluster", "ConfigMap/web/prices @ dev-vcluster"}},
		{[]string{"tree", "ConfigMap/web/prices"}, 0, []string{"→ dev-vcluster", "ConfigMap/web/prices @ dev-vcluster"}},
		{[]string{"graph"}, 0, []string{"web → dev-vcluster", "other → in-cluster"}},
		{[]string{"why", "app/web", "-n", "argocd"}, 0, []string{"Application/argocd/web → dev-vcluster is ready"}},
		{[]string{"why", "ConfigMap/web/prices"}, 0, []string{"ConfigMap/web/prices in dev-vcluster is held by:", "Application/argocd/web → dev-vcluster is ready"}},
		{[]string{"why", "ConfigMap/web/prices", "--cluster", "in-cluster"}, 2, []string{`no unit holds ConfigMap/prices in namespace "web" of cluster in-cluster`}},
	})
}

// shown is a command with its exit code and what it prints, with one space between words.
type shown struct {
	args []string
	code int
	want []string
}

// shows runs commands.
func (u *upVirtual) shows(t *testing.T, commands []shown) {
	t.Helper()
	for _, c := range commands {
		code, out := asked(t, u.dir, c.args...)
		words := strings.Join(strings.Fields(out), " ")
		for _, want := range c.want {
			if code != c.code || !strings.Contains(words, want) {
				t.Errorf("headgate %s: exit code %d, want %d and %q\n%s", strings.Join(c.args, " "), code, c.code, want, out)
			}
		}
	}
}

// causes has the commands say what keeps objects in the virtual cluster from being healthy.
func (u *upVirtual) causes(t *testing.T, file string) {
	writeFile(t, file, `apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: disk}
spec: {accessModes: [ReadWriteOnce], storageClassName: none, resources: {requests: {storage: 1Gi}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: server}
spec:
  progressDeadlineSeconds: 1
  selector: {matchLabels: {app: server}}
  template:
    metadata: {labels: {app: server}}
    spec:
      nodeSelector: {disk: none}
      containers: [{name: server, image: "example.com/server:1"}]
`)
	for _, target := range [][]string{{"why", "app/web", "-n", "argocd"}, {"why", "Deployment/web/server"}} {
		eventually(t, strings.Join(target, " ")+" goes to the objects in the virtual cluster", func() (bool, string) {
			code, out := asked(t, u.dir, target...)
			return code == 1 && strings.Contains(out, "PersistentVolumeClaim/web/disk in dev-vcluster is Progressing") &&
				strings.Contains(out, `Deployment/web/server in dev-vcluster is Degraded: Deployment "server" exceeded its progress deadline`), out
		})
	}
	eventually(t, "events of the virtual cluster are listed", func() (bool, string) {
		code, out := asked(t, u.dir, "events", "PersistentVolumeClaim/web/disk")
		words := strings.Join(strings.Fields(out), " ")
		return code == 0 && strings.Contains(words, "ProvisioningFailed dev-vcluster PersistentVolumeClaim/web/disk"), out
	})
	var out bytes.Buffer
	code := cli.Main(t.Context(), []string{"logs", "app/web", "-n", "argocd", "--state-dir", u.dir}, cli.IO{In: strings.NewReader(""), Out: &out, Err: &out, Child: true})
	if words := strings.Join(strings.Fields(out.String()), " "); code != 0 || !strings.Contains(words, "Application/argocd/web → dev-vcluster Ready ready:") {
		t.Errorf("headgate logs app/web: exit code %d\n%s", code, &out)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the Application is healthy again", func() (bool, string) {
		code, out := asked(t, u.dir, "why", "app/web", "-n", "argocd")
		return code == 0, out
	})
}

// silentApplication deployed to a cluster that does not respond any more. Nothing reconciles it, so that its status stays.
const silentApplication = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: far, namespace: argocd, annotations: {argocd.argoproj.io/skip-reconcile: "true"}}
spec:
  project: default
  source: {repoURL: "https://git.invalid/far.git", path: .}
  destination: {name: silent, namespace: web}
status:
  sync: {status: Synced}
  health: {status: Progressing}
  resources: [{version: v1, kind: ConfigMap, namespace: web, name: prices, status: Synced}, {version: v1, kind: ConfigMap, namespace: web, name: sizes, status: Synced}]
`

// silent has a cluster not respond: it is named, and keeps nothing of the others from being shown.
func (u *upVirtual) silent(t *testing.T) {
	cluster := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "silent", Labels: map[string]string{"argocd.argoproj.io/secret-type": "cluster"}},
		Data:       map[string][]byte{"name": []byte("silent"), "server": []byte("https://127.0.0.1:1"), "config": []byte(`{}`)},
	}
	if _, err := u.host.CoreV1().Secrets("argocd").Create(t.Context(), cluster, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(u.dir, "ephemeral", "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	far := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(silentApplication), &far.Object); err != nil {
		t.Fatal(err)
	}
	apps := client.Resource(schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "applications"}).Namespace("argocd")
	if _, err := apps.Create(t.Context(), far, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	u.shows(t, []shown{
		{[]string{"get", "apps"}, 0, []string{"argocd far silent", "argocd web dev-vcluster"}},
		{[]string{"tree", "app/far", "-n", "argocd"}, 0, []string{"→ silent", "ConfigMap/web/prices @ silent"}},
		{[]string{"why", "app/far", "-n", "argocd"}, 1, []string{"Application/argocd/far → silent", "the health of objects in silent is unknown: "}},
		{[]string{"why", "ConfigMap/web/prices"}, 2, []string{"is in several clusters: ", "ConfigMap/web/prices in silent", "ConfigMap/web/prices in dev-vcluster"}},
		{[]string{"why", "ConfigMap/web/prices", "--cluster", "dev-vcluster"}, 0, []string{"ConfigMap/web/prices in dev-vcluster is held by:"}},
		{[]string{"events", "PersistentVolumeClaim/web/disk"}, 0, []string{
			"the events of cluster silent are missing: ", "ProvisioningFailed dev-vcluster PersistentVolumeClaim/web/disk",
		}},
	})
	if err := apps.Delete(t.Context(), far.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	if err := u.host.CoreV1().Secrets("argocd").Delete(t.Context(), cluster.Name, metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}
