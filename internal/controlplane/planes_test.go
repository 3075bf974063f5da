package controlplane

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/zap"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/headgate-dev/headgate/internal/planes"
)

// lights starts light planes and remembers them.
type lights struct {
	mu   sync.Mutex
	last map[string]*Running
	said []string
}

func (l *lights) start(ctx context.Context, name, dir string) (planes.Running, error) {
	notify := func(text string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.said = append(l.said, text)
	}
	r, err := Start(ctx, Config{Dir: dir, Keep: true, Light: true, Ephemeral: true, Notify: notify})
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last[name] = r
	return r, nil
}

func (l *lights) of(name string) *Running {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last[name]
}

func clientTo(t *testing.T, p *planes.Plane) kubernetes.Interface {
	t.Helper()
	c, err := kubernetes.NewForConfig(p.RESTConfig())
	must(t, err)
	return c
}

// TestPool runs three planes at once, stops and starts one, and has one die.
func TestPool(t *testing.T) {
	ctx, started := t.Context(), &lights{last: map[string]*Running{}}
	pool := planes.NewPool(t.Context(), planes.Config{Dir: stateDir(t), Ephemeral: true, Start: started.start, Linger: -1})
	t.Cleanup(func() { must(t, pool.Close(context.WithoutCancel(ctx))) })
	names := []string{"dev", "prod", "staging"}
	running, release := make([]*planes.Plane, 3), make([]func(), 3)
	var wait sync.WaitGroup
	for i, name := range names {
		wait.Go(func() {
			var err error
			if running[i], release[i], err = pool.Acquire(ctx, name, "test"); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if t.Failed() {
		t.FailNow()
	}
	for i, name := range names {
		alone(t, name, clientTo(t, running[i]))
	}
	t.Run("workloads", func(t *testing.T) { workloads(t, clientTo(t, running[1]), 1) })
	t.Run("documents", func(t *testing.T) { sameDocuments(t, clientTo(t, running[0]), clientTo(t, running[2])) })
	t.Run("isolation", func(t *testing.T) { started.callsNothing(t, clientTo(t, running[2])) })
	t.Run("stop and start", func(t *testing.T) {
		release[0]()
		<-running[0].Done()
		must(t, running[0].Err())
		noPlaintext(t, pool.Dir("dev"))
		again, _, err := pool.Acquire(ctx, "dev", "test")
		must(t, err)
		hasState(t, "dev", clientTo(t, again))
	})
	t.Run("death", func(t *testing.T) {
		full := errors.New("no space left on device")
		store := started.of("prod").store.etcd
		go store.GetLogger().Fatal("failed to save", zap.Error(full))
		<-running[1].Done()
		if err := running[1].Err(); !errors.Is(err, full) {
			t.Errorf("the plane died of %v", err)
		}
		again, _, err := pool.Acquire(ctx, "prod", "test")
		must(t, err)
		hasState(t, "prod", clientTo(t, again))
		select {
		case <-running[2].Done():
			t.Errorf("a neighbour died, too: %v", running[2].Err())
		default:
		}
		hasState(t, "staging", clientTo(t, running[2]))
	})
	for _, s := range pool.Status() {
		if want := map[string]int{"dev": 0, "prod": 1, "staging": 0}[s.Name]; s.State != planes.Ready || s.Restarts != want {
			t.Errorf("%+v: want %d restarts", s, want)
		}
	}
}

// callsNothing has an administrator of a plane name addresses of this machine wherever an API server would connect to them.
func (l *lights) callsNothing(t *testing.T, c kubernetes.Interface) {
	var reached atomic.Int32
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer server.Close()
	ctx, fail, none := t.Context(), admissionv1.Fail, admissionv1.SideEffectClassNone
	rules := []admissionv1.RuleWithOperations{{
		Operations: []admissionv1.OperationType{admissionv1.Create},
		Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
	}}
	_, err := c.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(ctx, &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "outside"},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "outside.example.dev", FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"}, Rules: rules,
			ClientConfig: admissionv1.WebhookClientConfig{URL: &server.URL, CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})},
		}},
	}, metav1.CreateOptions{})
	must(t, err)
	until(t, "the webhook is skipped", func() (bool, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		return strings.Contains(strings.Join(l.said, "\n"), "webhook outside.example.dev of outside calls a URL"), nil
	})
	_, err = c.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "isolated"}}, metav1.CreateOptions{})
	must(t, err)
	for _, path := range []string{
		"/api/v1/namespaces/default/pods/https:x:443/proxy/", "/api/v1/namespaces/default/services/https:x:443/proxy/", "/api/v1/nodes/https:x:443/proxy/",
		"/api/v1/namespaces/default/pods/x/log", "/api/v1/namespaces/default/pods/x/exec",
	} {
		_, err := c.CoreV1().RESTClient().Get().AbsPath(path).DoRaw(ctx)
		status := apierrors.APIStatus(nil)
		if !errors.As(err, &status) || status.Status().Code != http.StatusNotFound || !strings.Contains(fmt.Sprintf("%+v", status.Status()), "calls nothing outside") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if n := reached.Load(); n > 0 {
		t.Errorf("a server of this machine was called %d times", n)
	}
}

// alone writes to a plane what no other has.
func alone(t *testing.T, name string, c kubernetes.Interface) {
	t.Helper()
	ctx := t.Context()
	_, err := c.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "mine"}}, metav1.CreateOptions{})
	must(t, err)
	_, err = c.CoreV1().Secrets("mine").Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string][]byte{"k": []byte(marker)},
	}, metav1.CreateOptions{})
	must(t, err)
	hasState(t, name, c)
}

// hasState checks that a plane has what was written to it, and nothing of others.
func hasState(t *testing.T, name string, c kubernetes.Interface) {
	t.Helper()
	secrets, err := c.CoreV1().Secrets("mine").List(t.Context(), metav1.ListOptions{})
	must(t, err)
	if len(secrets.Items) != 1 || secrets.Items[0].Name != name || string(secrets.Items[0].Data["k"]) != marker {
		t.Errorf("plane %s has %d Secrets of its own: %v", name, len(secrets.Items), secrets.Items)
	}
}

// sameDocuments checks that the documents of light planes are complete, and that their servers know the fields of kinds.
func sameDocuments(t *testing.T, one, other kubernetes.Interface) {
	t.Helper()
	ctx := t.Context()
	for path, holds := range map[string]string{
		"/openapi/v2": "io.k8s.api.apps.v1.Deployment", "/openapi/v3": "apis/apps/v1", "/openapi/v3/apis/apps/v1": "io.k8s.api.apps.v1.Deployment",
	} {
		until(t, path, func() (bool, error) {
			a, err := one.Discovery().RESTClient().Get().AbsPath(path).DoRaw(ctx)
			if err != nil {
				return false, err
			}
			b, err := other.Discovery().RESTClient().Get().AbsPath(path).DoRaw(ctx)
			return strings.Contains(string(a), holds) && strings.Contains(string(b), holds), err
		})
	}
	ports := func(name string, port int32) *applycorev1.ServiceApplyConfiguration {
		return applycorev1.Service("merged", "mine").WithSpec(applycorev1.ServiceSpec().WithPorts(
			applycorev1.ServicePort().WithName(name).WithPort(port)))
	}
	for name, port := range map[string]int32{"http": 80, "https": 443} {
		_, err := other.CoreV1().Services("mine").Apply(ctx, ports(name, port), metav1.ApplyOptions{FieldManager: name})
		must(t, err)
	}
	merged, err := other.CoreV1().Services("mine").Get(ctx, "merged", metav1.GetOptions{})
	if err != nil || len(merged.Spec.Ports) != 2 {
		t.Errorf("ports of two managers were not merged by their keys: %v, %v", merged.Spec.Ports, err)
	}
	if _, err := one.CoreV1().Services("mine").Get(ctx, "merged", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a Service of one plane is in another: %v", err)
	}
}
