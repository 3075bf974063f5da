package scenario

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/host"
	"github.com/headgate-dev/headgate/internal/kit"
)

// TestController runs the controller as pods do: as processes that have the rights of the chart, and share a
// cluster with one another, and with controllers of Flux.
func TestController(t *testing.T) {
	t.Parallel()
	k := startKit(t, kit.Options{})
	k.StopEngine()
	i := newInstalled(t, k)
	i.push("1")
	t.Run("replicas", func(t *testing.T) { replicas(t, i) })
	t.Run("killed", func(t *testing.T) { killedReplica(t, i) })
	t.Run("shards", func(t *testing.T) { shards(t, i) })
	t.Run("check", func(t *testing.T) { checkCluster(t, i) })
	t.Run("permissions", func(t *testing.T) { permissions(t, i) })
	t.Run("tenants", func(t *testing.T) { tenantsAlone(t, i) })
	t.Run("silent", func(t *testing.T) { silent(t, i) })
}

const fluxController = `apiVersion: apps/v1
kind: Deployment
metadata: {name: source-controller, namespace: flux-system, labels: {app.kubernetes.io/part-of: flux}}
spec:
  replicas: %d
  selector: {matchLabels: {app: source-controller}}
  template:
    metadata: {labels: {app: source-controller}}
    spec: {containers: [{name: manager, image: "fluxcd/source-controller"}]}
`

const receiver = `apiVersion: v1
kind: Secret
metadata: {name: hook, namespace: fleet}
stringData: {token: a-token-for-hooks}
---
apiVersion: notification.toolkit.fluxcd.io/v1
kind: Receiver
metadata: {name: hook, namespace: fleet}
spec: {type: generic, secretRef: {name: hook}, resources: [{kind: GitRepository, name: repo}]}
`

// scale has so many pods of Flux's controller of sources.
func (i *installed) scale(n int) {
	i.t.Helper()
	if err := i.world.put(fmt.Sprintf(fluxController, n)); err != nil {
		i.t.Fatal(err)
	}
}

// replicas has two replicas, beside controllers of Flux that come and go.
func replicas(t *testing.T, i *installed) {
	const master = "Deployment flux-system/source-controller serves source.toolkit.fluxcd.io"
	traces, endpoint := startCollector(t)
	i.scale(1)
	held := i.hold("kustomize-controller-leader-election", "a-pod-of-flux")

	first := i.start(t, here, "--otlp-endpoint", endpoint)
	first.ready(http.StatusServiceUnavailable, master)
	first.says(master)
	i.scale(0)
	first.ready(http.StatusServiceUnavailable, "a-pod-of-flux holds the lease flux-system/kustomize-controller-leader-election")
	if status, body := first.ask(http.MethodGet, i.health, "/healthz"); status != http.StatusOK {
		t.Errorf("a replica that waits is not alive: %d %s", status, body)
	}
	if status, _ := first.ask(http.MethodGet, i.storage, "/x"); status != http.StatusServiceUnavailable {
		t.Errorf("nobody serves artifacts, and the answer is %d", status)
	}
	i.release(held)
	i.settled("1")
	first.ready(http.StatusOK, "")

	second := i.start(t, there)
	second.says(`"msg":"on standby"`)
	second.ready(http.StatusOK, "")
	passedOnByStandby(t, i, second)

	eventually(t, "a trace of a pass arrives", func() (bool, string) { return traces.Load() > 0, "" })
	if status, body := first.ask(http.MethodGet, i.metrics, "/metrics"); !strings.Contains(body, `gotk_reconcile_duration_seconds_count{kind="Kustomization",name="c",namespace="fleet"}`) {
		t.Errorf("metrics: %d %s", status, body)
	}

	i.scale(1)
	for _, r := range []*replica{first, second} {
		r.ready(http.StatusServiceUnavailable, master)
	}
	eventually(t, "the lease is let go", func() (bool, string) {
		holder, err := host.Holder(t.Context(), i.client, "", time.Now())
		return err == nil && holder == "", fmt.Sprint(holder, err)
	})
	i.push("2")
	i.scale(0)
	i.settled("2")
	for _, r := range []*replica{first, second} {
		r.ready(http.StatusOK, "")
	}

	leader, standby := first, second
	if holder, err := host.Holder(t.Context(), i.client, "", time.Now()); err != nil || strings.Contains(holder, there) {
		leader, standby = second, first
	}
	if code := leader.signal(syscall.SIGTERM); code != 0 {
		t.Errorf("the replica that served ended with %d", code)
	}
	i.push("3")
	i.settled("3")
	standby.ready(http.StatusOK, "")
	for _, r := range []*replica{first, second} {
		if len(r.log()) == 0 {
			t.Error("nothing is logged")
		}
		for _, secret := range []string{kit.Token, "a-token-for-hooks", i.kit.Own.BearerToken} {
			if strings.Contains(r.output.String(), secret) {
				t.Errorf("the log shows a secret")
			}
		}
	}
	if code := standby.signal(syscall.SIGTERM); code != 0 {
		t.Errorf("the other replica ended with %d", code)
	}
}

// passedOnByStandby requests an artifact and a hook from a standby replica.
func passedOnByStandby(t *testing.T, i *installed, standby *replica) {
	t.Helper()
	if err := i.world.put(receiver); err != nil {
		t.Fatal(err)
	}
	url := i.fieldOf("GitRepository", "repo", "status.artifact.url")
	path, is := strings.CutPrefix(url, "http://"+net.JoinHostPort(here, i.storage))
	if !is {
		t.Fatalf("the artifact is at %q", url)
	}
	if status, body := standby.ask(http.MethodGet, i.storage, path); status != http.StatusOK || len(body) < 100 {
		t.Errorf("the artifact: %d, %d bytes", status, len(body))
	}
	hook := hookPath("fleet", "hook", "a-token-for-hooks")
	eventually(t, "the standby has the hook taken", func() (bool, string) {
		status, body := standby.ask(http.MethodPost, i.receivers, hook)
		return status == http.StatusOK, fmt.Sprint(status, body)
	})
	if i.fieldOf("GitRepository", "repo", "metadata.annotations") == "" {
		t.Error("the hook has asked for nothing")
	}
}

// fieldOf is a field of an object of the fleet.
func (i *installed) fieldOf(kind, name, path string) string {
	i.t.Helper()
	u, err := i.world.client.Resource(i.resourceOf(kind)).Namespace("fleet").Get(i.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		i.t.Fatal(err)
	}
	return field(u, path)
}

// hold makes a lease that is held for a long time.
func (i *installed) hold(name, holder string) *coordinationv1.Lease {
	i.t.Helper()
	seconds, now := int32(3600), metav1.NowMicro()
	l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: toolkit.Namespace, Name: name}}
	l.Spec = coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, RenewTime: &now}
	l, err := i.client.CoordinationV1().Leases(toolkit.Namespace).Create(i.t.Context(), l, metav1.CreateOptions{})
	if err != nil {
		i.t.Fatal(err)
	}
	return l
}

// release lets a lease go as its holder does.
func (i *installed) release(l *coordinationv1.Lease) {
	i.t.Helper()
	nobody := ""
	l.Spec.HolderIdentity = &nobody
	if _, err := i.client.CoordinationV1().Leases(l.Namespace).Update(i.t.Context(), l, metav1.UpdateOptions{}); err != nil {
		i.t.Fatal(err)
	}
}

// counted is a collector that counts the spans that it is sent, and keeps what they say.
type counted struct {
	collector.UnimplementedTraceServiceServer
	spans *atomic.Int64
	said  *output
}

// Export takes spans.
func (c counted) Export(_ context.Context, q *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	c.spans.Add(int64(len(q.GetResourceSpans())))
	_, err := fmt.Fprintln(c.said, q)
	return &collector.ExportTraceServiceResponse{}, err
}

func startCollector(t *testing.T) (spans *atomic.Int64, endpoint string) {
	t.Helper()
	c := counted{spans: &atomic.Int64{}, said: &output{}}
	return c.spans, c.start(t)
}

// startTraces starts a collector, and returns what it is sent.
func startTraces(t *testing.T) (said *output, endpoint string) {
	t.Helper()
	c := counted{spans: &atomic.Int64{}, said: &output{}}
	return c.said, c.start(t)
}

func (c counted) start(t *testing.T) (endpoint string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	collector.RegisterTraceServiceServer(server, c)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return "http://" + listener.Addr().String()
}

// killedReplica kills the replica that serves in the middle of an apply: the other one goes on.
func killedReplica(t *testing.T, i *installed) {
	const many = 600
	first := i.start(t, here)
	first.says(`"msg":"serving"`)
	i.settled("3")
	second := i.start(t, there)
	second.says(`"msg":"on standby"`)

	manifest := filepath.Join(i.repo, "crowd", "crowd.yaml")
	text, want := crowd(many, "1", func(int) bool { return true })
	writeFile(t, manifest, text)
	writeFile(t, filepath.Join(i.repo, "flux", "crowd.yaml"), fmt.Sprintf(fleetUnit, "crowd", ""))
	i.push("4")
	eventually(t, "the apply has begun", func() (bool, string) {
		n := len(configMaps(t, i.client, "crowd"))
		return n > many/20, fmt.Sprint(n)
	})
	first.kill()
	if n := len(configMaps(t, i.client, "crowd")); n >= many {
		t.Errorf("all %d objects were there before the kill", n)
	}
	bystander := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "bystander"}, Data: map[string]string{"k": "by hand"}}
	if _, err := i.client.CoreV1().ConfigMaps("crowd").Create(t.Context(), bystander, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	whole := func(entries int) {
		t.Helper()
		eventually(t, "the cluster is what Git says", func() (bool, string) {
			diff := cmp.Diff(want, configMaps(t, i.client, "crowd"))
			return diff == "", diff
		})
		eventually(t, "the inventory is whole", func() (bool, string) {
			n := strings.Count(i.fieldOf("Kustomization", "crowd", "status.inventory.entries"), `"id"`)
			return n == entries, fmt.Sprint(n)
		})
		i.condition("ks", "crowd", "True", "")
	}
	whole(many + 1)
	text, want = crowd(many, "1", func(n int) bool { return n%2 == 0 })
	writeFile(t, manifest, text)
	i.push("5")
	whole(many/2 + 1)
	i.settled("5")
	if code := second.signal(syscall.SIGTERM); code != 0 {
		t.Errorf("the replica ended with %d", code)
	}
}

const shard = `apiVersion: v1
kind: Namespace
metadata: {name: %[1]s}
---
apiVersion: v1
kind: Secret
metadata: {name: git, namespace: fleet}
stringData: {username: dev, password: a-token-for-tests}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: %[1]s, namespace: fleet, labels: {%[3]s}}
spec: {url: %[2]q, interval: 1h, ref: {branch: main}, secretRef: {name: git}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: %[1]s, namespace: fleet, labels: {%[3]s}}
spec: {interval: 1h, path: ./a, prune: true, targetNamespace: %[1]s, sourceRef: {kind: GitRepository, name: %[1]s}}
`

// shards has two controllers that serve at the same time, each its own objects.
func shards(t *testing.T, i *installed) {
	const a, rest = "sharding.fluxcd.io/key=a", "!sharding.fluxcd.io/key"
	for name, labels := range map[string]string{"of-a": "sharding.fluxcd.io/key: a", "of-rest": "app: x"} {
		if err := i.world.put(fmt.Sprintf(shard, name, i.kit.Git.URL("fleet"), labels)); err != nil {
			t.Fatal(err)
		}
	}
	one, two := i.start(t, here, "--watch-label-selector", a), i.start(t, there, "--watch-label-selector", rest)
	for _, name := range []string{"of-a", "of-rest"} {
		eventually(t, name+" is applied", func() (bool, string) {
			got := configMaps(t, i.client, name)
			return got["a"] == "5", fmt.Sprint(got)
		})
		i.condition("ks", name, "True", "")
	}
	for _, r := range []*replica{one, two} {
		r.says(`"msg":"serving"`)
		r.ready(http.StatusOK, "")
	}
	holders := map[string]bool{}
	for _, selector := range []string{a, rest} {
		holder, err := host.Holder(t.Context(), i.client, selector, time.Now())
		if err != nil || holder == "" {
			t.Errorf("nobody holds the lease of %s: %v", selector, err)
		}
		holders[holder] = true
	}
	if len(holders) != 2 {
		t.Errorf("the leases are held by %v", holders)
	}
	if !one.tellsOf("of-a") || !two.tellsOf("of-rest") || one.tellsOf("of-rest") || two.tellsOf("of-a") {
		t.Error("a shard has touched what is not its own")
	}
	for _, r := range []*replica{one, two} {
		if code := r.signal(syscall.SIGTERM); code != 0 {
			t.Errorf("the shard at %s ended with %d", r.ip, code)
		}
	}
}
