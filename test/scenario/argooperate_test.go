package scenario

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/argo"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/kit"
)

var theApplications = schema.GroupVersionResource{Group: argo.Group, Version: "v1alpha1", Resource: "applications"}

// taken is a cluster on which Argo CD runs, with one Application.
type taken struct {
	*operated
	dynamic dynamic.Interface
	metrics string
}

// takenObjects are what the Application consists of, by their resources.
const takenObjects = `apiVersion: v1
kind: ConfigMap
metadata: {name: web, namespace: web}
data: {k: "1"}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web}]}
`

// takenApplication is as Argo CD leaves one that it has synced.
const takenApplication = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: web
  namespace: argocd
  finalizers: [resources-finalizer.argocd.argoproj.io]
spec:
  project: default
  source: {repoURL: %[1]q, targetRevision: main, path: app}
  destination: {server: "https://kubernetes.default.svc", namespace: web}
  syncPolicy: {automated: {prune: true, selfHeal: true}}
status:
  health: {status: Healthy}
  history:
  - {id: 0, revision: %[2]s, deployedAt: "2030-01-02T03:04:05Z", deployStartedAt: "2030-01-02T03:04:04Z", source: {repoURL: %[1]q, targetRevision: main, path: app}}
  operationState:
    phase: Succeeded
    message: successfully synced (all tasks run)
    startedAt: "2030-01-02T03:04:04Z"
    finishedAt: "2030-01-02T03:04:05Z"
    operation: {sync: {revision: %[2]s, prune: true}, initiatedBy: {automated: true}}
    syncResult: {revision: %[2]s, source: {repoURL: %[1]q, targetRevision: main, path: app}}
  reconciledAt: "2030-01-02T03:04:05Z"
  resources:
  - {group: "", version: v1, kind: ConfigMap, namespace: web, name: web, status: Synced}
  - {group: "", version: v1, kind: Service, namespace: web, name: web, status: Synced, health: {status: Healthy}}
  - {group: apps, version: v1, kind: Deployment, namespace: web, name: web, status: Synced, health: {status: Healthy}}
  sourceType: Directory
  sync:
    status: Synced
    revision: %[2]s
    comparedTo: {source: {repoURL: %[1]q, targetRevision: main, path: app}, destination: {server: "https://kubernetes.default.svc", namespace: web}}
`

// TestArgoOperate takes a cluster over from Argo CD, works on it, and gives it back.
func TestArgoOperate(t *testing.T) {
	t.Parallel()
	k := startKit(t, kit.Options{})
	k.StopEngine()
	o := newTaken(t, k)
	before := o.prints()
	served := run(t, "controller", "--kubeconfig", k.Plane.Kubeconfig(), "--serve", "argocd", "--storage-path", t.TempDir(),
		"--storage-addr", "127.0.0.1:0", "--health-addr", "127.0.0.1:0", "--metrics-addr", o.metrics, "--lease-duration", "10s")
	// Two engines never serve one group: Headgate waits.
	served.says("Argo CD runs on this cluster: Deployment argocd/argocd-applicationset-controller serves argoproj.io; StatefulSet argocd/argocd-application-controller serves argoproj.io")
	t.Run("refused", func(t *testing.T) {
		for _, args := range [][]string{{"install", "--serve", "argocd"}, {"check", "--serve", "argocd"}} {
			if code, said := o.command(t, args...); code == 0 || !strings.Contains(said, "headgate migrate argocd") {
				t.Errorf("%s beside Argo CD ends with %d:\n%s", args[0], code, said)
			}
		}
	})
	t.Run("migrate", func(t *testing.T) { o.migrates(t, before) })
	t.Run("serve", func(t *testing.T) { o.serves(t) })
	t.Run("scrape", func(t *testing.T) { o.scraped(t) })
	t.Run("back", func(t *testing.T) { o.goesBack(t, served) })
	if code := served.interrupt(); code != 0 {
		t.Errorf("the controller ended with %d", code)
	}
}

func newTaken(t *testing.T, k *kit.Kit) *taken {
	t.Helper()
	client, err := kubernetes.NewForConfig(k.Config)
	if err != nil {
		t.Fatal(err)
	}
	o := &taken{operated: &operated{t: t, kit: k, client: client, copy: t.TempDir()}, metrics: here + ":" + sharedPort(t)}
	if o.dynamic, err = dynamic.NewForConfig(k.Config); err != nil {
		t.Fatal(err)
	}
	if err := k.Git.CreateRepo(t.Context(), "taken"); err != nil {
		t.Fatal(err)
	}
	o.url = k.Git.URL("taken")
	writeFile(t, filepath.Join(o.copy, "app", "app.yaml"), takenObjects)
	o.push("first")
	revision := strings.TrimSpace(o.git("git rev-parse HEAD"))
	w := &world{kit: k, client: o.dynamic}
	if err := w.put(fmt.Sprintf(takenCluster, o.url, kit.User, kit.Token)); err != nil {
		t.Fatal(err)
	}
	for text := range strings.SplitSeq(takenObjects, "---\n") {
		o.leave(w, text)
	}
	eventually(t, "the Deployment is available", func() (bool, string) {
		d, err := client.AppsV1().Deployments("web").Get(t.Context(), "web", metav1.GetOptions{})
		return err == nil && d.Status.AvailableReplicas == 2, fmt.Sprint(err)
	})
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(fmt.Appendf(nil, takenApplication, o.url, revision), &u.Object); err != nil {
		t.Fatal(err)
	}
	if _, err := o.dynamic.Resource(theApplications).Namespace(argo.DefaultNamespace).Create(t.Context(), u, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	o.controllers()
	return o
}

// takenCluster is what an installation of Argo CD has beside its controllers.
const takenCluster = `apiVersion: v1
kind: Namespace
metadata: {name: web}
---
apiVersion: v1
kind: Secret
metadata: {name: repo, namespace: argocd, labels: {argocd.argoproj.io/secret-type: repository}}
stringData: {type: git, url: %q, username: %q, password: %q}
---
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: default, namespace: argocd}
spec: {sourceRepos: ["*"], destinations: [{server: "*", namespace: "*"}], clusterResourceWhitelist: [{group: "*", kind: "*"}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-cm, namespace: argocd, labels: {app.kubernetes.io/part-of: argocd}}
data: {application.resourceTrackingMethod: annotation}
`

// leave makes an object as Argo CD does: by a client-side apply, marked as the Application's.
func (o *taken) leave(w *world, text string) {
	o.t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		o.t.Fatal(err)
	}
	id := fmt.Sprintf("web:%s/%s:%s/%s", u.GroupVersionKind().Group, u.GetKind(), u.GetNamespace(), u.GetName())
	u.SetAnnotations(map[string]string{"argocd.argoproj.io/tracking-id": id})
	last, err := json.Marshal(u.Object)
	if err != nil {
		o.t.Fatal(err)
	}
	u.SetAnnotations(map[string]string{"argocd.argoproj.io/tracking-id": id, corev1.LastAppliedConfigAnnotation: string(last)})
	m, _, err := w.resource(u.GetKind())
	if err != nil {
		o.t.Fatal(err)
	}
	_, err = o.dynamic.Resource(m.Resource).Namespace(u.GetNamespace()).Create(o.t.Context(), u, metav1.CreateOptions{FieldManager: "argocd-controller"})
	if err != nil {
		o.t.Fatal(err)
	}
}

// controllers starts those of Argo CD: two that serve, and two that do not.
func (o *taken) controllers() {
	o.t.Helper()
	one := int32(1)
	meta := func(component string) (metav1.ObjectMeta, metav1.LabelSelector, corev1.PodTemplateSpec) {
		name := "argocd-" + component
		labels := map[string]string{"app.kubernetes.io/name": name}
		return metav1.ObjectMeta{Name: name, Namespace: argo.DefaultNamespace, Labels: map[string]string{
			"app.kubernetes.io/name": name, "app.kubernetes.io/component": component, dialect.PartOf: "argocd",
		}}, metav1.LabelSelector{MatchLabels: labels}, corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "argocd"}}},
		}
	}
	for _, component := range []string{"applicationset-controller", "server", "repo-server"} {
		m, selector, pod := meta(component)
		d := &appsv1.Deployment{ObjectMeta: m, Spec: appsv1.DeploymentSpec{Replicas: &one, Selector: &selector, Template: pod}}
		if _, err := o.client.AppsV1().Deployments(m.Namespace).Create(o.t.Context(), d, metav1.CreateOptions{}); err != nil {
			o.t.Fatal(err)
		}
	}
	m, selector, pod := meta("application-controller")
	s := &appsv1.StatefulSet{ObjectMeta: m, Spec: appsv1.StatefulSetSpec{Replicas: &one, Selector: &selector, Template: pod}}
	if _, err := o.client.AppsV1().StatefulSets(m.Namespace).Create(o.t.Context(), s, metav1.CreateOptions{}); err != nil {
		o.t.Fatal(err)
	}
}

// replicas are how many the controllers of Argo CD shall have.
func (o *taken) replicas(t *testing.T) map[string]int32 {
	t.Helper()
	got := map[string]int32{}
	deployments, err := o.client.AppsV1().Deployments(argo.DefaultNamespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range deployments.Items {
		got[d.Name] = *d.Spec.Replicas
	}
	s, err := o.client.AppsV1().StatefulSets(argo.DefaultNamespace).Get(t.Context(), "argocd-application-controller", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got[s.Name] = *s.Spec.Replicas
	return got
}

// application is the Application as it is.
func (o *taken) application(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	u, err := o.dynamic.Resource(theApplications).Namespace(argo.DefaultNamespace).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// prints are the objects with their uids and generations, and what the Application declares and remembers.
func (o *taken) prints() map[string]string {
	o.t.Helper()
	got := map[string]string{}
	for resource, id := range map[schema.GroupVersionResource]string{
		{Version: "v1", Resource: "configmaps"}:                 "ConfigMap",
		{Version: "v1", Resource: "services"}:                   "Service",
		{Group: "apps", Version: "v1", Resource: "deployments"}: "Deployment",
	} {
		u, err := o.dynamic.Resource(resource).Namespace("web").Get(o.t.Context(), "web", metav1.GetOptions{})
		if err != nil {
			o.t.Fatal(err)
		}
		content, err := json.Marshal([]any{u.Object["spec"], u.Object["data"]})
		if err != nil {
			o.t.Fatal(err)
		}
		got[id] = fmt.Sprint(u.GetUID(), " ", u.GetGeneration(), " ", string(content))
	}
	app := o.application(o.t)
	history, _, _ := unstructured.NestedSlice(app.Object, "status", "history")
	state, _, _ := unstructured.NestedMap(app.Object, "status", "operationState")
	kept, err := json.Marshal([]any{app.GetUID(), app.GetFinalizers(), app.Object["spec"], history, state})
	if err != nil {
		o.t.Fatal(err)
	}
	got["Application"] = string(kept)
	return got
}

func (o *taken) migrates(t *testing.T, before map[string]string) {
	code, said := o.command(t, "migrate", "argocd", "--dry-run")
	if code != 0 || !strings.Contains(said, "StatefulSet argocd/argocd-application-controller (1 replicas)") || !strings.Contains(said, "2 controllers of Argo CD, 3 objects") {
		t.Errorf("the dry run ends with %d:\n%s", code, said)
	}
	if got := o.replicas(t); got["argocd-application-controller"] != 1 {
		t.Errorf("the dry run changes something: %v", got)
	}
	code, said = o.command(t, "migrate", "argocd", "--timeout", patience.String())
	t.Log(o.application(t).Object["status"])
	if code != 0 || !strings.Contains(said, "none of 3 objects was changed") {
		t.Fatalf("migrate ends with %d:\n%s", code, said)
	}
	if strings.Index(said, "argocd/argocd-application-controller") > strings.Index(said, "argocd/argocd-applicationset-controller") {
		t.Errorf("the controller that heals is paused too late:\n%s", said)
	}
	want := map[string]int32{"argocd-application-controller": 0, "argocd-applicationset-controller": 0, "argocd-server": 1, "argocd-repo-server": 1}
	if diff := cmp.Diff(want, o.replicas(t)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, o.prints()); diff != "" {
		t.Errorf("the migration changes something:\n%s", diff)
	}
	u := o.application(t)
	if status, _, _ := unstructured.NestedString(u.Object, "status", "sync", "status"); status != "Synced" {
		t.Errorf("the Application is %s: %v", status, u.Object["status"])
	}
	if code, said := o.command(t, "migrate", "argocd", "--timeout", patience.String()); code != 0 {
		t.Errorf("the second time ends with %d:\n%s", code, said)
	}
	if diff := cmp.Diff(before, o.prints()); diff != "" {
		t.Errorf("the second time changes something:\n%s", diff)
	}
	if code, said := o.command(t, "check"); code != 0 || !strings.Contains(said, "1, 1 of them synced, 1 healthy") {
		t.Errorf("check ends with %d:\n%s", code, said)
	}
}

// serves changes what Argo CD has applied: objects stay what they are.
func (o *taken) serves(t *testing.T) {
	before, err := o.client.AppsV1().Deployments("web").Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(`k: "1"`, `j: "2"`, "image: web", "image: web:2").Replace(takenObjects)
	writeFile(t, filepath.Join(o.copy, "app", "app.yaml"), text)
	o.push("second")
	revision := strings.TrimSpace(o.git("git rev-parse HEAD"))
	if err := o.refresh(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the change is there", func() (bool, string) {
		u := o.application(t)
		at, _, _ := unstructured.NestedString(u.Object, "status", "sync", "revision")
		status, _, _ := unstructured.NestedString(u.Object, "status", "sync", "status")
		return at == revision && status == "Synced", fmt.Sprint(u.Object["status"])
	})
	cm, err := o.client.CoreV1().ConfigMaps("web").Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"j": "2"}, cm.Data); diff != "" {
		t.Errorf("a field that is declared no more is still there, or the new one is not:\n%s", diff)
	}
	after, err := o.client.AppsV1().Deployments("web").Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if after.UID != before.UID || after.Spec.Template.Spec.Containers[0].Image != "web:2" {
		t.Errorf("the Deployment is %s with %s", after.UID, after.Spec.Template.Spec.Containers[0].Image)
	}
	history, _, _ := unstructured.NestedSlice(o.application(t).Object, "status", "history")
	if len(history) != 2 {
		t.Errorf("the history is %v", history)
	}
}

func (o *taken) refresh() error {
	w := &world{kit: o.kit, client: o.dynamic}
	return w.put("apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web, namespace: argocd, annotations: {argocd.argoproj.io/refresh: normal}}\n")
}

// scraped reads the metrics as Prometheus does.
func (o *taken) scraped(t *testing.T) {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+o.metrics+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, pair := range families["argocd_app_info"].GetMetric()[0].GetLabel() {
		got[pair.GetName()] = pair.GetValue()
	}
	want := map[string]string{
		"namespace": "argocd", "name": "web", "project": "default", "autosync_enabled": "true", "repo": strings.TrimSuffix(o.url, ".git"),
		"dest_server": "https://kubernetes.default.svc", "dest_namespace": "web", "sync_status": "Synced", "health_status": got["health_status"], "operation": "",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for name, least := range map[string]float64{
		"argocd_app_sync_total": 1, "argocd_app_reconcile": 1, "argocd_git_request_total": 1, "argocd_git_request_duration_seconds": 1,
		"argocd_cluster_info": 1, "argocd_cluster_connection_status": 1, "argocd_cluster_api_resources": 20,
	} {
		value := 0.0
		for _, m := range families[name].GetMetric() {
			value += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
		if value < least {
			t.Errorf("%s is %v", name, value)
		}
	}
}

func (o *taken) goesBack(t *testing.T, served *process) {
	before := o.prints()
	if code, said := o.command(t, "migrate", "argocd", "--back"); code != 0 || !strings.Contains(said, "its controllers run as before") {
		t.Fatalf("the way back ends with %d:\n%s", code, said)
	}
	want := map[string]int32{"argocd-application-controller": 1, "argocd-applicationset-controller": 1, "argocd-server": 1, "argocd-repo-server": 1}
	if diff := cmp.Diff(want, o.replicas(t)); diff != "" {
		t.Error(diff)
	}
	if _, err := o.client.CoreV1().ConfigMaps(toolkit.Namespace).Get(t.Context(), "headgate-migration-argocd", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the migration is still written down: %v", err)
	}
	if diff := cmp.Diff(before, o.prints()); diff != "" {
		t.Errorf("the way back changes something:\n%s", diff)
	}
	if n := strings.Count(served.output.String(), "Argo CD runs on this cluster"); n < 2 {
		t.Errorf("it did not give way to the controllers that came back:\n%s", served.output)
	}
	if code, said := o.command(t, "migrate", "argocd", "--back"); code != 2 || !strings.Contains(said, "no migration is recorded") {
		t.Errorf("a way back without a migration ends with %d:\n%s", code, said)
	}
	if code, said := o.command(t, "uninstall", "--serve", "argocd"); code != 0 {
		t.Errorf("uninstall ends with %d:\n%s", code, said)
	}
	if o.application(t).GetDeletionTimestamp() != nil {
		t.Error("uninstall deletes Applications")
	}
}
