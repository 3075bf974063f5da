package controlplane

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.uber.org/zap"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
)

func start(t *testing.T, cfg Config) *Running {
	t.Helper()
	r, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return r
}

func clientOf(t *testing.T, r *Running) kubernetes.Interface {
	t.Helper()
	c, err := kubernetes.NewForConfig(r.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// until waits for a condition, up to a minute.
func until(t *testing.T, what string, try func() (bool, error)) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := try()
		if ok {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("waiting for %s: %v", what, err)
		case <-tick.C:
		}
	}
}

const marker = "a-value-that-nobody-may-find"

// stateDir is a directory whose path is short enough for sockets.
func stateDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hgcp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "state")
}

func TestPersistence(t *testing.T) {
	ctx, dir := t.Context(), stateDir(t)
	r := start(t, Config{Dir: dir})
	_, err := clientOf(t, r).CoreV1().Secrets("default").Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "s"}, Data: map[string][]byte{"k": []byte(marker)},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Start(ctx, Config{Dir: dir}); !errors.Is(err, ErrLocked) {
		t.Errorf("a second start on the directory gives %v, want ErrLocked", err)
	}
	anonymous := rest.AnonymousClientConfig(r.RESTConfig())
	stranger, err := kubernetes.NewForConfig(anonymous)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stranger.CoreV1().Namespaces().List(ctx, metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
		t.Errorf("a stranger gets %v, want unauthorized", err)
	}
	if err := r.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	noPlaintext(t, dir)
	again := start(t, Config{Dir: dir})
	s, err := clientOf(t, again).CoreV1().Secrets("default").Get(ctx, "s", metav1.GetOptions{})
	if err != nil || string(s.Data["k"]) != marker {
		t.Errorf("after a restart: %q, %v", s.Data["k"], err)
	}
}

// noPlaintext fails when a file holds the marker, or can be read by others.
func noPlaintext(t *testing.T, dir string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		files++
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if bytes.Contains(data, []byte(marker)) {
			t.Errorf("%s holds the Secret in clear", name)
		}
		return nil
	})
	if err != nil || files < 10 {
		t.Fatalf("looked at %d files: %v", files, err)
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory has mode %v: %v", info.Mode(), err)
	}
	keys, err := filepath.Glob(filepath.Join(dir, "pki", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(keys, filepath.Join(dir, "kubeconfig"), filepath.Join(dir, "encryption.yaml")) {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v: %v", name, info.Mode(), err)
		}
	}
}

func TestSimulation(t *testing.T) {
	told := make(chan string, 100)
	r := start(t, Config{Dir: stateDir(t), Ephemeral: true, Notify: func(s string) { told <- s }})
	c := clientOf(t, r)
	if v, err := c.Discovery().ServerVersion(); err != nil || v.Minor != "36" || v.GitVersion != kubernetesVersion() {
		t.Errorf("the server says that it is %v: %v", v, err)
	}
	workloads(t, c, 3)
	absent(t, r, c)
	webhooks(t, c)
	namespaceWithDeadService(t, r, c)
	seen := map[string]bool{}
	for len(told) > 0 {
		seen[(<-told)[:7]] = true
	}
	if !seen["webhook"] || !seen["APIServ"] {
		t.Errorf("the user was told of %v, want of the webhook and the APIService", seen)
	}
}

func template(labels map[string]string, restart corev1.RestartPolicy) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec:       corev1.PodSpec{RestartPolicy: restart, Containers: []corev1.Container{{Name: "c", Image: "x:1"}}},
	}
}

// workloads become ready as they would on some nodes.
func workloads(t *testing.T, c kubernetes.Interface, nodes int32) {
	t.Helper()
	ctx, labels, two := t.Context(), map[string]string{"app": "x"}, int32(2)
	meta, selector := metav1.ObjectMeta{Name: "x"}, &metav1.LabelSelector{MatchLabels: labels}
	always := template(labels, corev1.RestartPolicyAlways)
	_, err := c.AppsV1().Deployments("default").Create(ctx, &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Replicas: &two, Selector: selector, Template: always}}, metav1.CreateOptions{})
	must(t, err)
	claim := corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}
	_, err = c.AppsV1().StatefulSets("default").Create(ctx, &appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Replicas: &two, Selector: selector, Template: always, VolumeClaimTemplates: []corev1.PersistentVolumeClaim{claim}}}, metav1.CreateOptions{})
	must(t, err)
	_, err = c.AppsV1().DaemonSets("default").Create(ctx, &appsv1.DaemonSet{ObjectMeta: meta, Spec: appsv1.DaemonSetSpec{Selector: selector, Template: always}}, metav1.CreateOptions{})
	must(t, err)
	_, err = c.BatchV1().Jobs("default").Create(ctx, &batchv1.Job{ObjectMeta: meta, Spec: batchv1.JobSpec{Template: template(nil, corev1.RestartPolicyNever)}}, metav1.CreateOptions{})
	must(t, err)
	_, err = c.CoreV1().Services("default").Create(ctx, &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Selector: labels, Ports: []corev1.ServicePort{{Port: 80}}}}, metav1.CreateOptions{})
	must(t, err)
	backend := &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "x", Port: networkingv1.ServiceBackendPort{Number: 80}}}
	_, err = c.NetworkingV1().Ingresses("default").Create(ctx, &networkingv1.Ingress{ObjectMeta: meta, Spec: networkingv1.IngressSpec{DefaultBackend: backend}}, metav1.CreateOptions{})
	must(t, err)
	until(t, "the Deployment", func() (bool, error) {
		d, err := c.AppsV1().Deployments("default").Get(ctx, "x", metav1.GetOptions{})
		return err == nil && d.Status.AvailableReplicas == 2, err
	})
	until(t, "the StatefulSet", func() (bool, error) {
		s, err := c.AppsV1().StatefulSets("default").Get(ctx, "x", metav1.GetOptions{})
		return err == nil && s.Status.ReadyReplicas == 2, err
	})
	until(t, "the DaemonSet", func() (bool, error) {
		d, err := c.AppsV1().DaemonSets("default").Get(ctx, "x", metav1.GetOptions{})
		return err == nil && d.Status.NumberAvailable == nodes, err
	})
	until(t, "the Job", func() (bool, error) {
		j, err := c.BatchV1().Jobs("default").Get(ctx, "x", metav1.GetOptions{})
		return err == nil && j.Status.Succeeded == 1, err
	})
	until(t, "the claim", func() (bool, error) {
		p, err := c.CoreV1().PersistentVolumeClaims("default").Get(ctx, "data-x-0", metav1.GetOptions{})
		return err == nil && p.Status.Phase == corev1.ClaimBound, err
	})
	until(t, "the address", func() (bool, error) {
		s, err := c.CoreV1().Services("default").Get(ctx, "x", metav1.GetOptions{})
		return err == nil && len(s.Status.LoadBalancer.Ingress) == 1, err
	})
	until(t, "the address of the Ingress", func() (bool, error) {
		i, err := c.NetworkingV1().Ingresses("default").Get(ctx, "x", metav1.GetOptions{})
		return err == nil && len(i.Status.LoadBalancer.Ingress) == 1, err
	})
}

// absent is what a simulated pod does not have: each request for it says so.
func absent(t *testing.T, r *Running, c kubernetes.Interface) {
	t.Helper()
	of := c.CoreV1().RESTClient().Post().Namespace("default").Resource("pods").Name("x-0")
	_, logs := c.CoreV1().Pods("default").GetLogs("x-0", &corev1.PodLogOptions{}).Stream(t.Context())
	run := of.SubResource("exec").VersionedParams(&corev1.PodExecOptions{Container: "c", Command: []string{"ls"}, Stdout: true}, scheme.ParameterCodec).URL()
	executor, err := remotecommand.NewSPDYExecutor(r.RESTConfig(), http.MethodPost, run)
	must(t, err)
	socket, err := remotecommand.NewWebSocketExecutor(r.RESTConfig(), http.MethodGet, run.String())
	must(t, err)
	transport, upgrader, err := spdy.RoundTripperFor(r.RESTConfig())
	must(t, err)
	ports := c.CoreV1().RESTClient().Post().Namespace("default").Resource("pods").Name("x-0").SubResource("portforward").URL()
	_, _, forward := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, ports).Dial("portforward.k8s.io")
	var out bytes.Buffer
	for what, err := range map[string]error{
		"no logs": logs, "nothing listens": forward,
		"nothing to execute a command": executor.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdout: &out}),
		"nothing to execute":           socket.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdout: &out}),
	} {
		if err == nil || !strings.Contains(err.Error(), "pod default/x-0 is simulated: ") || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// webhooks that call a Service are skipped, though they say that a failure refuses the object.
func webhooks(t *testing.T, c kubernetes.Interface) {
	t.Helper()
	ctx, fail, none := t.Context(), admissionv1.Fail, admissionv1.SideEffectClassNone
	path := "/"
	made, err := c.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(ctx, &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "w"},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "w.example.dev", FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			ClientConfig: admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Namespace: "default", Name: "x", Path: &path}},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Create},
				Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
		}},
	}, metav1.CreateOptions{})
	must(t, err)
	until(t, "an object past the webhook", func() (bool, error) {
		_, err := c.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "x-"}}, metav1.CreateOptions{})
		return err == nil, err
	})
	stored, err := c.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, "w", metav1.GetOptions{})
	if err != nil || len(stored.Webhooks) != 1 || stored.ResourceVersion != made.ResourceVersion {
		t.Errorf("the stored object was edited: %v, %v", stored, err)
	}
}

// namespaceWithDeadService deletes a namespace while an APIService has no backend.
func namespaceWithDeadService(t *testing.T, r *Running, c kubernetes.Interface) {
	t.Helper()
	ctx := t.Context()
	dyn, err := dynamic.NewForConfig(r.RESTConfig())
	must(t, err)
	_, err = dyn.Resource(schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}).Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": "v1beta1.metrics.example.dev"},
		"spec": map[string]any{
			"group": "metrics.example.dev", "version": "v1beta1", "groupPriorityMinimum": int64(100), "versionPriority": int64(100),
			"insecureSkipTLSVerify": true, "service": map[string]any{"namespace": "default", "name": "x"},
		},
	}}, metav1.CreateOptions{})
	must(t, err)
	_, err = c.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "leaving"}}, metav1.CreateOptions{})
	must(t, err)
	must(t, c.CoreV1().Namespaces().Delete(ctx, "leaving", metav1.DeleteOptions{}))
	until(t, "the end of the namespace", func() (bool, error) {
		ns, err := c.CoreV1().Namespaces().Get(ctx, "leaving", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, errors.New(ns.Status.String())
	})
	groups, err := c.Discovery().ServerGroups()
	must(t, err)
	for _, g := range groups.Groups {
		if g.Name == "metrics.example.dev" {
			t.Error("the dead group is in discovery")
		}
	}
}

// TestFailedStarts has control planes not start, for files that etcd cannot read and for a caller that went. Others start all the same.
func TestFailedStarts(t *testing.T) {
	for _, name := range []string{"member/wal/*-0000000000000000.wal", "member/snap/db"} {
		t.Run(name, func(t *testing.T) {
			dir := stateDir(t)
			r, err := Start(t.Context(), Config{Dir: dir})
			must(t, err)
			must(t, r.Stop(t.Context()))
			files, err := filepath.Glob(filepath.Join(dir, "etcd", name))
			if err != nil || len(files) != 1 {
				t.Fatalf("files of etcd: %q, %v", files, err)
			}
			must(t, os.WriteFile(files[0], bytes.Repeat([]byte("damaged "), 1<<13), 0o600))
			if _, err := Start(t.Context(), Config{Dir: dir}); !errors.Is(err, errDamaged) || !strings.Contains(err.Error(), filepath.Join(dir, "etcd")) {
				t.Errorf("a start on damaged files: %v", err)
			}
			// What etcd left open stays so, and must not be opened once more.
			if _, err := Start(t.Context(), Config{Dir: dir}); !errors.Is(err, ErrLocked) {
				t.Errorf("another start on damaged files: %v", err)
			}
		})
	}
	dir := stateDir(t)
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := Start(gone, Config{Dir: dir}); !errors.Is(err, context.Canceled) {
		t.Errorf("a start for nobody: %v", err)
	}
	r, err := Start(t.Context(), Config{Dir: dir})
	must(t, err)
	must(t, r.Stop(t.Context()))

	// An etcd that is killed early enough has a log without a member, from which it never serves. It ends all the same.
	early := stateDir(t)
	members := unserved(filepath.Join(early, "etcd"))
	ids := []byte{0x08, 1, 0x10, 1} // of the member and of the cluster, in protobuf
	log, err := wal.Create(zap.NewNop(), filepath.Join(string(members), "member", "wal"), ids)
	must(t, err)
	must(t, log.Close())
	brief, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := Start(brief, Config{Dir: early}); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "waiting until it serves") {
		t.Errorf("a start of an etcd without members: %v", err)
	}
	must(t, os.WriteFile(members.mark(), nil, 0o600))
	r, err = Start(t.Context(), Config{Dir: early})
	must(t, err)
	must(t, r.Stop(t.Context()))
}

// TestTwoAtOnce comes last: it also checks what the stops of all tests left behind.
func TestTwoAtOnce(t *testing.T) {
	before := runtime.NumGoroutine()
	one, two := stateDir(t), stateDir(t)
	a, err := Start(t.Context(), Config{Dir: one, Ephemeral: true})
	must(t, err)
	b, err := Start(t.Context(), Config{Dir: two, Ephemeral: true})
	must(t, err)
	_, err = clientOf(t, a).CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "only-here"}}, metav1.CreateOptions{})
	must(t, err)
	if _, err := clientOf(t, b).CoreV1().Namespaces().Get(t.Context(), "only-here", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the second plane sees the first one's namespace: %v", err)
	}
	for _, r := range []*Running{a, b} {
		began := time.Now()
		must(t, r.Stop(t.Context()))
		t.Logf("stopped in %s", time.Since(began))
		if err, open := <-r.Done(); open {
			t.Errorf("a part failed: %v", err)
		}
	}
	for _, dir := range []string{one, two} {
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", dir, err)
		}
	}
	// Known to stay, for each plane: two of an event broadcaster and two of a queue in the node
	// controllers, one of a garbage collector of tokens.
	const perPlane = 5
	deadline := time.Now().Add(20 * time.Second)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for runtime.NumGoroutine() > before+2*perPlane {
		if time.Now().After(deadline) {
			var dump bytes.Buffer
			_ = pprof.Lookup("goroutine").WriteTo(&dump, 1)
			t.Fatalf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), dump.String())
		}
		<-tick.C
	}
}
