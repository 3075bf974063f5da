package scenario

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage"
	"helm.sh/helm/v4/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/controlplane"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/helm"
	"github.com/headgate-dev/headgate/internal/helm/plan"
)

// helmCluster is a control plane, and the clients that look into it.
type helmCluster struct {
	config  *rest.Config
	client  kubernetes.Interface
	dynamic dynamic.Interface
	counted *counter
}

// TestHelm runs Helm's actions on a real API server. Each part works in a namespace of its own.
func TestHelm(t *testing.T) {
	t.Parallel()
	plane, err := controlplane.Start(t.Context(), controlplane.Config{Dir: shortDir(t), Ephemeral: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	c := &helmCluster{config: plane.RESTConfig(), counted: &counter{paths: map[string]int{}}}
	c.config.Wrap(c.counted.wrap)
	if c.client, err = kubernetes.NewForConfig(c.config); err != nil {
		t.Fatal(err)
	}
	if c.dynamic, err = dynamic.NewForConfig(c.config); err != nil {
		t.Fatal(err)
	}
	for name, part := range map[string]func(*testing.T, *helmCluster, *helm.Client, string){
		"life": life, "rollback": rollback, "hooks": hooks, "tests": tests, "locks": locks, "crds": crds,
		"schema": schemas, "owned": owned, "parallel": parallel, "drift": drift, "values": preserved,
		"cancelled": cancelled,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, err := helm.New(c.config, name)
			if err != nil {
				t.Fatal(err)
			}
			c.namespace(t, name)
			part(t, c, client, name)
		})
	}
}

func (c *helmCluster) namespace(t *testing.T, name string) {
	t.Helper()
	_, err := c.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// configMap is one that has to be there.
func (c *helmCluster) configMap(t *testing.T, namespace, name string) *corev1.ConfigMap {
	t.Helper()
	found, err := c.client.CoreV1().ConfigMaps(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func (c *helmCluster) gone(t *testing.T, namespace, name string) {
	t.Helper()
	if _, err := c.client.CoreV1().ConfigMaps(namespace).Get(t.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("ConfigMap %s/%s is there: %v", namespace, name, err)
	}
}

// chart packs a chart; the files are its templates.
func chart(t *testing.T, version string, files map[string]string) *helm.Chart {
	t.Helper()
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	archive := tar.NewWriter(packed)
	all := map[string]string{"Chart.yaml": fmt.Sprintf("apiVersion: v2\nname: web\nversion: %s\nappVersion: \"7\"\n", version)}
	maps.Copy(all, files)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if err := archive.WriteHeader(&tar.Header{Name: "web/" + name, Mode: 0o644, Size: int64(len(all[name]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(all[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(archive.Close(), packed.Close()); err != nil {
		t.Fatal(err)
	}
	c, err := helm.LoadChart(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// mapOf is the template of a ConfigMap that says one value.
func mapOf(name, value string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {k: %q}\n", name, value)
}

func common(chart *helm.Chart, namespace string) helm.Common {
	return helm.Common{Name: "web", Namespace: namespace, Chart: chart, Timeout: time.Minute}
}

func values(t *testing.T, text string) helm.Values {
	t.Helper()
	v, err := helm.Compose(nil, helm.Layer{From: "a test", Data: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// stored reads the release by Helm's own storage, as the helm command does.
func (c *helmCluster) stored(t *testing.T, namespace, name string) []*releasev1.Release {
	t.Helper()
	found, err := storage.Init(driver.NewSecrets(c.client.CoreV1().Secrets(namespace))).History(name)
	if err != nil {
		t.Fatal(err)
	}
	var out []*releasev1.Release
	for _, f := range found {
		out = append(out, f.(*releasev1.Release))
	}
	slices.SortFunc(out, func(a, b *releasev1.Release) int { return b.Version - a.Version })
	return out
}

// history is the statuses of a release, the newest revision first.
func history(t *testing.T, client *helm.Client, name string) []string {
	t.Helper()
	snapshots, err := client.History(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, s := range snapshots {
		out = append(out, fmt.Sprintf("%d %s %s", s.Version, s.Status, s.ChartVersion))
	}
	return out
}

func wantHistory(t *testing.T, client *helm.Client, want ...string) {
	t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), history(t, client, "web")); diff != "" {
		t.Error(diff)
	}
}

// life installs, upgrades and uninstalls.
func life(t *testing.T, c *helmCluster, client *helm.Client, ns string) {
	target := ns + "-target"
	v := values(t, "big: 12345678901234567890\nvalue: one\n")
	one := chart(t, "1.0.0", map[string]string{
		"templates/a.yaml": mapOf("a", "{{ .Values.value }}") + "---\n" + mapOf("old", "x"),
		"templates/b.yaml": `{{ if .Capabilities.APIVersions.Has "v1/ConfigMap" }}` + mapOf("served", "{{ .Capabilities.KubeVersion.Version }}") + "{{ end }}",
	})
	o := common(one, target)
	o.Values = v
	s, err := client.Install(t.Context(), helm.InstallOptions{Common: o, CreateNamespace: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{"web", target, 1, plan.Deployed, "web", "1.0.0", "7", v.Digest()},
		[]any{s.Name, s.Namespace, s.Version, s.Status, s.ChartName, s.ChartVersion, s.AppVersion, s.ConfigDigest}); diff != "" {
		t.Error(diff)
	}
	a := c.configMap(t, target, "a")
	if a.Data["k"] != "one" || a.Labels["app.kubernetes.io/managed-by"] != "Helm" || a.Annotations["meta.helm.sh/release-name"] != "web" {
		t.Errorf("it is %v %v %v", a.Data, a.Labels, a.Annotations)
	}
	if m := a.ManagedFields; len(m) != 1 || m[0].Manager != "helm-controller" || m[0].Operation != metav1.ManagedFieldsOperationApply {
		t.Errorf("it is managed by %v", m)
	}
	c.configMap(t, target, "served")
	release := c.stored(t, ns, "web")
	if len(release) != 1 || release[0].ApplyMethod != "ssa" || release[0].Info.Status != plan.Deployed {
		t.Errorf("Helm reads %v", release)
	}
	secret, err := c.client.CoreV1().Secrets(ns).Get(t.Context(), "sh.helm.release.v1.web.v1", metav1.GetOptions{})
	if err != nil || secret.Type != "helm.sh/release.v1" || secret.Labels["owner"] != "helm" {
		t.Errorf("the record is %v: %v", secret, err)
	}
	recorded := plan.Observe(nil, nil, &s)
	found, err := client.History(t.Context(), "web", recorded...)
	if err != nil {
		t.Fatal(err)
	}
	step := plan.Decide(plan.State{
		Declared: plan.Declared{Name: "web", Namespace: target, StorageNamespace: ns, ChartName: "web", ChartVersion: "1.0.0", ConfigDigest: v.Digest()},
		Recorded: plan.Recorded{History: plan.Observe(recorded, found, nil), StorageNamespace: ns},
		Storage:  found,
	})
	if step.Action != plan.Done {
		t.Errorf("after an install it is %s: %s", step.Action, step.Reason)
	}
	if _, err := client.Install(t.Context(), helm.InstallOptions{Common: o}); err == nil || !strings.Contains(err.Error(), "still in use") {
		t.Errorf("a second install: %v", err)
	}

	o = common(chart(t, "2.0.0", map[string]string{"templates/a.yaml": mapOf("a", "two")}), target)
	if s, err = client.Upgrade(t.Context(), helm.UpgradeOptions{Common: o, MaxHistory: 2}); err != nil || s.Version != 2 {
		t.Fatal(s, err)
	}
	if got := c.configMap(t, target, "a").Data["k"]; got != "two" {
		t.Errorf("it is %q", got)
	}
	c.gone(t, target, "old")
	if _, err = client.Upgrade(t.Context(), helm.UpgradeOptions{Common: o, MaxHistory: 2}); err != nil {
		t.Fatal(err)
	}
	wantHistory(t, client, "3 deployed 2.0.0", "2 superseded 2.0.0")

	if s, err = client.Uninstall(t.Context(), helm.UninstallOptions{Name: "web", Namespace: target, KeepHistory: true, Wait: true}); err != nil || s.Status != plan.Uninstalled {
		t.Fatal(s, err)
	}
	c.gone(t, target, "a")
	if _, err = client.Install(t.Context(), helm.InstallOptions{Common: o, Replace: true}); err != nil {
		t.Fatal(err)
	}
	wantHistory(t, client, "4 deployed 2.0.0", "3 superseded 2.0.0", "2 superseded 2.0.0")
	for range 2 {
		if s, err = client.Uninstall(t.Context(), helm.UninstallOptions{Name: "web", Namespace: target, Wait: true}); err != nil || s.Version != 0 {
			t.Fatal(s, err)
		}
	}
	wantHistory(t, client)
}

// rollback goes back, by hand and after a failure, and moves a release from client-side apply to
// server-side apply.
func rollback(t *testing.T, c *helmCluster, client *helm.Client, ns string) {
	o := common(chart(t, "1.0.0", map[string]string{"templates/a.yaml": mapOf("a", "one")}), ns)
	o.ServerSideApply = helm.Disabled
	if _, err := client.Install(t.Context(), helm.InstallOptions{Common: o}); err != nil {
		t.Fatal(err)
	}
	if m := c.configMap(t, ns, "a").ManagedFields; len(m) != 1 || m[0].Operation != metav1.ManagedFieldsOperationUpdate || m[0].Manager != "helm-controller" {
		t.Errorf("it is managed by %v", m)
	}
	broken := common(chart(t, "2.0.0", map[string]string{
		"templates/a.yaml": mapOf("a", "two") + "---\n" + mapOf("fresh", "x"),
		"templates/b.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: broken}\nspec: {ports: [{port: 99999}]}\n",
	}), ns)
	s, err := client.Upgrade(t.Context(), helm.UpgradeOptions{Common: broken, CleanupOnFail: true})
	if err == nil || s.Status != plan.Failed || s.Version != 2 || !strings.Contains(err.Error(), "upgrading release rollback/web with chart web@2.0.0") {
		t.Fatal(s, err)
	}
	c.gone(t, ns, "fresh")
	if s, err = client.Rollback(t.Context(), helm.RollbackOptions{Name: "web", Namespace: ns, Version: 1, ServerSideApply: helm.Enabled}); err != nil || s.Version != 3 || s.ChartVersion != "1.0.0" {
		t.Fatal(s, err)
	}
	a := c.configMap(t, ns, "a")
	if a.Data["k"] != "one" {
		t.Errorf("it is %v", a.Data)
	}
	if m := a.ManagedFields; len(m) != 1 || m[0].Operation != metav1.ManagedFieldsOperationApply {
		t.Errorf("after the move to server-side apply it is managed by %v", m)
	}
	wantHistory(t, client, "3 deployed 1.0.0", "2 failed 2.0.0", "1 superseded 1.0.0")
	if s, err = client.Rollback(t.Context(), helm.RollbackOptions{Name: "web", Namespace: ns, Version: 9}); err == nil || s.Version != 3 || s.Status != plan.Deployed {
		t.Error(s, err)
	}
}

const hook = `apiVersion: v1
kind: ConfigMap
metadata: {name: %s, annotations: {helm.sh/hook: %q, helm.sh/hook-delete-policy: %s}}
`

// job is a hook that the simulated nodes end well, or one that never begins.
const job = `apiVersion: batch/v1
kind: Job
metadata: {name: %[1]s, annotations: {helm.sh/hook: %[2]q}}
spec:
  suspend: %[3]v
  backoffLimit: 0
  template:
    spec: {restartPolicy: Never, containers: [{name: c, image: busybox}]}
`

// hooks run, are left out, fail, and have their time.
func hooks(t *testing.T, c *helmCluster, client *helm.Client, ns string) {
	o := common(chart(t, "1.0.0", map[string]string{
		"templates/a.yaml":    mapOf("a", "one"),
		"templates/keep.yaml": fmt.Sprintf(hook, "keep", "pre-install", "before-hook-creation"),
		"templates/drop.yaml": fmt.Sprintf(hook, "drop", "post-install", "hook-succeeded"),
		"templates/out.yaml":  fmt.Sprintf(hook, "out", "pre-delete", "before-hook-creation"),
		"templates/job.yaml":  fmt.Sprintf(job, "work", "pre-install", false),
	}), ns)
	s, err := client.Install(t.Context(), helm.InstallOptions{Common: o})
	if err != nil {
		t.Fatal(err)
	}
	c.configMap(t, ns, "keep")
	c.gone(t, ns, "drop")
	c.gone(t, ns, "out")
	manifest, err := client.Manifest(t.Context(), "web", s.Version)
	if err != nil {
		t.Fatal(err)
	}
	phases := map[string]string{}
	for _, h := range manifest.Hooks {
		phases[h.Object.GetName()] = h.Phase
	}
	if diff := cmp.Diff(map[string]string{"keep": "Succeeded", "drop": "Succeeded", "work": "Succeeded", "out": ""}, phases); diff != "" {
		t.Error(diff)
	}
	if len(manifest.Objects) != 1 || manifest.Objects[0].GetNamespace() != ns || manifest.Objects[0].GetLabels()["app.kubernetes.io/managed-by"] != "Helm" {
		t.Errorf("the manifest is %v", manifest.Objects)
	}
	late := common(chart(t, "2.0.0", map[string]string{"templates/job.yaml": fmt.Sprintf(job, "never", "pre-upgrade", true)}), ns)
	late.Timeout = 300 * time.Millisecond
	if s, err = client.Upgrade(t.Context(), helm.UpgradeOptions{Common: late}); err == nil || s.Status != plan.Failed || !strings.Contains(err.Error(), "pre-upgrade") {
		t.Errorf("a hook that never ends: %+v, %v", s, err)
	}
	late.DisableHooks = true
	if s, err = client.Upgrade(t.Context(), helm.UpgradeOptions{Common: late}); err != nil || s.Status != plan.Deployed {
		t.Errorf("without hooks: %+v, %v", s, err)
	}
	back := helm.RollbackOptions{Name: "web", Namespace: ns, Version: 1}
	if _, err = client.Rollback(t.Context(), back); err != nil {
		t.Fatal(err)
	}
	if _, err = client.Uninstall(t.Context(), helm.UninstallOptions{Name: "web", Namespace: ns}); err != nil {
		t.Fatal(err)
	}
	c.configMap(t, ns, "out")
}

// tests run, by name, and fail.
func tests(t *testing.T, c *helmCluster, client *helm.Client, ns string) {
	o := common(chart(t, "1.0.0", map[string]string{
		"templates/a.yaml":    mapOf("a", "one"),
		"templates/good.yaml": fmt.Sprintf(hook, "good", "test", "before-hook-creation"),
		"templates/late.yaml": fmt.Sprintf(job, "late", "test", true),
	}), ns)
	s, err := client.Install(t.Context(), helm.InstallOptions{Common: o})
	if err != nil || s.Tested() {
		t.Fatal(s, err)
	}
	digest := s.Digest
	run := helm.TestOptions{Name: "web", Namespace: ns, Filters: []helm.TestFilter{{Name: "late", Exclude: true}}}
	if s, err = client.Test(t.Context(), run); err != nil || s.TestHooks["good"].Phase != "Succeeded" || !s.Tested() || s.TestsFailed() {
		t.Error(s, err)
	}
	if s.Digest != digest {
		t.Error("a test changes the digest of the release")
	}
	c.configMap(t, ns, "good")
	run = helm.TestOptions{Name: "web", Namespace: ns, Timeout: 200 * time.Millisecond, Filters: []helm.TestFilter{{Name: "broken"}}}
	if s, err = client.Test(t.Context(), run); err != nil {
		t.Error("tests of no such name", err)
	}
	fails := common(chart(t, "2.0.0", map[string]string{
		"templates/a.yaml":   mapOf("a", "one"),
		"templates/bad.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: bad, annotations: {helm.sh/hook: test}}\nspec: {ports: [{port: 99999}]}\n",
	}), ns)
	if _, err = client.Upgrade(t.Context(), helm.UpgradeOptions{Common: fails}); err != nil {
		t.Fatal(err)
	}
	if s, err = client.Test(t.Context(), helm.TestOptions{Name: "web", Namespace: ns}); err == nil || !s.TestsFailed() || s.Status != plan.Deployed {
		t.Errorf("a test that fails: %+v, %v", s, err)
	}
}

// locks takes a release out of an action that never ended, and marks one as failed.
func locks(t *testing.T, c *helmCluster, client *helm.Client, ns string) {
	o := common(chart(t, "1.0.0", map[string]string{"templates/a.yaml": mapOf("a", "one")}), ns)
	if _, err := client.Install(t.Context(), helm.InstallOptions{Common: o}); err != nil {
		t.Fatal(err)
	}
	if _, done, err := client.Unlock(t.Context(), "web"); err != nil || done {
		t.Errorf("a release that is not locked: %v, %v", done, err)
	}
	release := c.stored(t, ns, "web")[0]
	release.Info.Status = plan.PendingUpgrade
	if err := storage.Init(driver.NewSecrets(c.client.CoreV1().Secrets(ns))).Update(release); err != nil {
		t.Fatal(err)
	}
	// Another manager may hold it: an attempt leaves it as it is.
	for range 2 {
		s, err := client.Upgrade(t.Context(), helm.UpgradeOptions{Common: o})
		if err == nil || !strings.Contains(err.Error(), "in progress") || s.Status != plan.PendingUpgrade {
			t.Fatalf("an upgrade of a locked release: %+v, %v", s, err)
		}
	}
	if s, done, err := client.Unlock(t.Context(), "web"); err != nil || !done || s.Status != plan.Failed || !strings.Contains(s.Description, "pending-upgrade") {
		t.Errorf("%+v, %v, %v", s, done, err)
	}
	if _, err := client.Upgrade(t.Context(), helm.UpgradeOptions{Common: o}); err != nil {
		t.Fatal(err)
	}
	s, done, err := client.Fail(t.Context(), "web", "Deployment web is not ready")
	if err != nil || !done || s.Status != plan.Failed || !strings.Contains(s.Description, "Deployment web is not ready") {
		t.Errorf("%+v, %v, %v", s, done, err)
	}
	wantHistory(t, client, "2 failed 1.0.0", "1 superseded 1.0.0")
	if _, err := client.Rollback(t.Context(), helm.RollbackOptions{Name: "web", Namespace: ns, Version: 1}); err != nil {
		t.Error(err)
	}
	if _, _, err := client.Unlock(t.Context(), "nobody"); !errors.Is(err, helm.ErrNotFound) {
		t.Errorf("a release that is not there: %v", err)
	}
}

const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]ss.helm.example.com}
spec:
  group: helm.example.com
  scope: Namespaced
  names: {kind: %[2]s, plural: %[1]ss, singular: %[1]s}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, description: %[3]q, x-kubernetes-preserve-unknown-fields: true}}
`

// crds installs the kinds of a chart with objects of them, and obeys the policies.
func crds(t *testing.T, c *helmCluster, client *helm.Client, ns string) {
	labels := map[string]string{"helm.toolkit.fluxcd.io/name": "owner"}
	of := func(version, description string, policy helm.CRDPolicy) helm.Common {
		o := common(chart(t, version, map[string]string{
			"crds/crd.yaml":        fmt.Sprintf(crd, "thing", "Thing", description),
			"templates/thing.yaml": `{{ if .Capabilities.APIVersions.Has "helm.example.com/v1/Thing" }}` + "\napiVersion: helm.example.com/v1\nkind: Thing\nmetadata: {name: a}\nspec: {v: 1}\n{{ end }}",
		}), ns)
		o.CRDs, o.PostRender.Labels = policy, labels
		return o
	}
	resource := c.dynamic.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	description := func() string {
		found, err := resource.Get(t.Context(), "things.helm.example.com", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if diff := cmp.Diff(labels, found.GetLabels()); diff != "" {
			t.Error(diff)
		}
		return fmt.Sprint(found.Object["spec"].(map[string]any)["versions"].([]any)[0].(map[string]any)["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)["description"])
	}
	if _, err := client.Install(t.Context(), helm.InstallOptions{Common: of("1.0.0", "one", helm.SkipCRDs)}); err != nil {
		t.Fatal(err)
	}
	if got := description(); !strings.Contains(got, "not found") {
		t.Errorf("a policy of Skip left %q", got)
	}
	for i, tt := range []struct {
		policy helm.CRDPolicy
		given  string
		want   string
	}{{helm.CreateCRDs, "one", "one"}, {"", "two", "one"}, {helm.CreateReplaceCRDs, "three", "three"}} {
		if _, err := client.Upgrade(t.Context(), helm.UpgradeOptions{Common: of(fmt.Sprintf("2.0.%d", i), tt.given, tt.policy)}); err != nil {
			t.Fatal(err)
		}
		if got := description(); got != tt.want {
			t.Errorf("policy %q with %q left %q", tt.policy, tt.given, got)
		}
		things := c.dynamic.Resource(schema.GroupVersionResource{Group: "helm.example.com", Version: "v1", Resource: "things"}).Namespace(ns)
		if _, err := things.Get(t.Context(), "a", metav1.GetOptions{}); err != nil {
			t.Errorf("the chart does not see the kind that it brings: %v", err)
		}
	}
	if _, err := client.Uninstall(t.Context(), helm.UninstallOptions{Name: "web", Namespace: ns}); err != nil {
		t.Fatal(err)
	}
	if got := description(); got != "three" {
		t.Errorf("after an uninstall the CRD is %q", got)
	}
}

// schemas refuses values before anything is written.
func schemas(t *testing.T, c *helmCluster, client *helm.Client, ns string) {
	o := common(chart(t, "1.0.0", map[string]string{
		"templates/a.yaml":   mapOf("a", "{{ .Values.count }}"),
		"values.schema.json": `{"properties": {"count": {"type": "integer"}}}`,
	}), ns)
	o.Values = values(t, "count: hunter2")
	_, err := client.Install(t.Context(), helm.InstallOptions{Common: o})
	var invalid *helm.SchemaError
	if !errors.As(err, &invalid) || cmp.Diff([]string{"/count: it is a string and must be an integer"}, invalid.Violations) != "" || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the error is %v", err)
	}
	c.gone(t, ns, "a")
	wantHistory(t, client)
	o.DisableSchemaValidation = true
	made, err := client.Install(t.Context(), helm.InstallOptions{Common: o})
	if err != nil {
		t.Fatal(err)
	}
	o.DisableSchemaValidation, o.Values = false, values(t, "count: other")
	if s, err := client.Upgrade(t.Context(), helm.UpgradeOptions{Common: o}); err == nil || s.Version != 1 || s.ConfigDigest != made.ConfigDigest {
		t.Errorf("an upgrade that made no revision: %+v, %v", s, err)
	}
}

// owned takes over what is there, or does not, and marks what it owns.
func owned(t *testing.T, c *helmCluster, client *helm.Client, ns string) {
	there := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Data: map[string]string{"k": "by hand"}}
	if _, err := c.client.CoreV1().ConfigMaps(ns).Create(t.Context(), there, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	o := common(chart(t, "1.0.0", map[string]string{
		"templates/a.yaml": mapOf("a", "one"), "templates/hook.yaml": fmt.Sprintf(hook, "hook", "pre-install", "before-hook-creation"),
	}), ns)
	labels := map[string]string{"helm.toolkit.fluxcd.io/name": "web", "helm.toolkit.fluxcd.io/namespace": ns}
	o.PostRender.Labels = labels
	o.DisableTakeOwnership = true
	if _, err := client.Install(t.Context(), helm.InstallOptions{Common: o}); err == nil || c.configMap(t, ns, "a").Data["k"] != "by hand" {
		t.Errorf("what somebody else made was taken: %v", err)
	}
	wantHistory(t, client)
	o.DisableTakeOwnership = false
	if _, err := client.Install(t.Context(), helm.InstallOptions{Common: o}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "hook"} {
		got := c.configMap(t, ns, name).Labels
		for key, value := range labels {
			if got[key] != value {
				t.Errorf("ConfigMap %s has labels %v", name, got)
			}
		}
	}
	if got := c.configMap(t, ns, "a").Data["k"]; got != "one" {
		t.Errorf("it is %q", got)
	}
}

// parallel installs many releases at once, and many times the same one.
func parallel(t *testing.T, c *helmCluster, client *helm.Client, ns string) {
	const many = 20
	one := chart(t, "1.0.0", map[string]string{"templates/a.yaml": mapOf("{{ .Release.Name }}", "one")})
	var wg sync.WaitGroup
	for i := range many {
		wg.Go(func() {
			o := common(one, ns)
			o.Name = fmt.Sprintf("r%d", i)
			if _, err := client.Install(t.Context(), helm.InstallOptions{Common: o}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i := range many {
		c.configMap(t, ns, fmt.Sprintf("r%d", i))
	}
	for range many / 2 {
		wg.Go(func() {
			o := common(one, ns)
			o.Name = "r0"
			if _, err := client.In(ns).Upgrade(t.Context(), helm.UpgradeOptions{Common: o}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := history(t, client, "r0"); len(got) != many/2+1 || got[0] != fmt.Sprintf("%d deployed 1.0.0", many/2+1) {
		t.Errorf("the history is %v", got)
	}
	if n := c.counted.count("/openapi"); n > 0 {
		t.Errorf("OpenAPI was asked for %d times", n)
	}
}

// drift is found, left where it may be, and reverted.
func drift(t *testing.T, c *helmCluster, client *helm.Client, ns string) {
	o := common(chart(t, "1.0.0", map[string]string{"templates/a.yaml": mapOf("a", "one") + "---\n" + mapOf("b", "one") + "---\n" +
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, annotations: {leave: alone}}\ndata: {k: one}\n"}), ns)
	if _, err := client.Install(t.Context(), helm.InstallOptions{Common: o}); err != nil {
		t.Fatal(err)
	}
	find := func(o helm.DriftOptions) []string {
		t.Helper()
		o.Exclude = map[string]string{"leave": "alone"}
		found, err := client.Drift(t.Context(), "web", o)
		if err != nil {
			t.Fatal(err)
		}
		out := []string{}
		for _, d := range found {
			out = append(out, d.String())
		}
		return out
	}
	if got := find(helm.DriftOptions{}); len(got) > 0 {
		t.Errorf("a fresh release has drifted: %v", got)
	}
	maps := c.client.CoreV1().ConfigMaps(ns)
	for _, name := range []string{"a", "c"} {
		changed := c.configMap(t, ns, name)
		changed.Data["k"] = "hunter2"
		if _, err := maps.Update(t.Context(), changed, metav1.UpdateOptions{FieldManager: "someone"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := maps.Delete(t.Context(), "b", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{`ConfigMap/drift/a was changed by "someone": /data/k`, "ConfigMap/drift/b was deleted"}, find(helm.DriftOptions{})); diff != "" {
		t.Error(diff)
	}
	ignore := helm.DriftOptions{Ignore: []engine.IgnoreRule{{Paths: []engine.Pointer{{"data", "k"}}}}}
	if diff := cmp.Diff([]string{"ConfigMap/drift/b was deleted"}, find(ignore)); diff != "" {
		t.Error(diff)
	}
	found, err := client.Drift(t.Context(), "web", helm.DriftOptions{Exclude: map[string]string{"leave": "alone"}})
	if err != nil {
		t.Fatal(err)
	}
	if done, err := client.Correct(t.Context(), found); err != nil || len(done) != 2 {
		t.Errorf("%v, %v", done, err)
	}
	if diff := cmp.Diff([]string{"one", "one", "hunter2"}, []string{
		c.configMap(t, ns, "a").Data["k"], c.configMap(t, ns, "b").Data["k"], c.configMap(t, ns, "c").Data["k"],
	}); diff != "" {
		t.Error(diff)
	}
	if got := find(helm.DriftOptions{}); len(got) > 0 {
		t.Errorf("after a correction it has drifted: %v", got)
	}
}

// preserved keeps previous values in an upgrade.
func preserved(t *testing.T, c *helmCluster, client *helm.Client, ns string) {
	o := common(chart(t, "1.0.0", map[string]string{"templates/a.yaml": mapOf("a", "{{ .Values.a }} {{ .Values.b }}"), "values.yaml": "a: x\nb: x\n"}), ns)
	o.Values = values(t, "a: 1\nb: 1\n")
	if _, err := client.Install(t.Context(), helm.InstallOptions{Common: o}); err != nil {
		t.Fatal(err)
	}
	o.Values = values(t, "b: 2\n")
	for _, tt := range []struct {
		preserve bool
		want     string
	}{{true, "1 2"}, {false, "x 2"}} {
		s, err := client.Upgrade(t.Context(), helm.UpgradeOptions{Common: o, PreserveValues: tt.preserve})
		if err != nil || s.ConfigDigest != o.Values.Digest() {
			t.Error(s, err)
		}
		if got := c.configMap(t, ns, "a").Data["k"]; got != tt.want {
			t.Errorf("it is %q, not %q", got, tt.want)
		}
	}
}

// cancelled ends an action in the middle of a hook. It leaves no lock, and nothing works on.
func cancelled(t *testing.T, c *helmCluster, client *helm.Client, ns string) {
	o := common(chart(t, "1.0.0", map[string]string{
		"templates/a.yaml": mapOf("a", "one"), "templates/job.yaml": fmt.Sprintf(job, "never", "pre-install", true),
	}), ns)
	ctx, cancel := context.WithCancelCause(t.Context())
	superseded := errors.New("superseded")
	var wg sync.WaitGroup
	wg.Go(func() {
		eventually(t, "the hook runs", func() (bool, string) {
			_, err := c.client.BatchV1().Jobs(ns).Get(t.Context(), "never", metav1.GetOptions{})
			return err == nil, fmt.Sprint(err)
		})
		cancel(superseded)
	})
	s, err := client.Install(ctx, helm.InstallOptions{Common: o})
	wg.Wait()
	if !errors.Is(err, superseded) || s.Status != plan.Failed {
		t.Errorf("%+v, %v", s, err)
	}
	c.gone(t, ns, "a")
	wantHistory(t, client, "1 failed 1.0.0")
}

// counter counts requests by path.
type counter struct {
	mu    sync.Mutex
	paths map[string]int
}

func (c *counter) wrap(next http.RoundTripper) http.RoundTripper {
	return counting{c, next}
}

func (c *counter) count(prefix string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for path, times := range c.paths {
		if strings.HasPrefix(path, prefix) {
			n += times
		}
	}
	return n
}

type counting struct {
	counter *counter
	next    http.RoundTripper
}

func (c counting) RoundTrip(req *http.Request) (*http.Response, error) {
	c.counter.mu.Lock()
	c.counter.paths[req.URL.Path]++
	c.counter.mu.Unlock()
	return c.next.RoundTrip(req)
}
