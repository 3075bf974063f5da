package scenario

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/cloud"
	"github.com/headgate-dev/headgate/internal/dialects"
	"github.com/headgate-dev/headgate/internal/kit"
	"github.com/headgate-dev/headgate/internal/provision"
	"github.com/headgate-dev/headgate/internal/provision/digitalocean"
	"github.com/headgate-dev/headgate/internal/sandbox"
	"github.com/headgate-dev/headgate/internal/workflow"
	steps "github.com/headgate-dev/headgate/internal/workflow/execute/process"
)

// killableBuild is everything from a workflow to a machine: a program that makes an image, its upload, its registration, the Secret, the reader and
// the Droplet.
const killableBuild = `apiVersion: v1
kind: Namespace
metadata: {name: %[1]s}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: default, namespace: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: default, namespace: %[1]s}]
---
apiVersion: v1
kind: Secret
metadata: {name: login, namespace: %[1]s}
stringData: {token: %[2]s, username: me}
---
apiVersion: digitalocean.m.crossplane.io/v1beta1
kind: ProviderConfig
metadata: {name: do, namespace: %[1]s}
spec: {credentials: {source: Secret, secretRef: {namespace: %[1]s, name: login, key: token}}}
---
apiVersion: kubernetes.m.crossplane.io/v1alpha1
kind: ProviderConfig
metadata: {name: here, namespace: %[1]s}
spec: {credentials: {source: InjectedIdentity}}
---
apiVersion: ssh.digitalocean.m.crossplane.io/v1alpha1
kind: Key
metadata: {name: ada, namespace: %[1]s}
spec:
  providerConfigRef: {kind: ProviderConfig, name: do}
  forProvider: {name: ada, publicKey: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPPGDUUVMfqyB7M2RH8pAqhuXj5ut8LZ8STlZcKXzxT5 ada@example.com}
---
apiVersion: build.headgate.dev/v1alpha1
kind: Build
metadata: {name: nixos, namespace: %[1]s}
spec:
  retry: {backoff: {duration: 1s}}
  image:
    providerConfigRef: {kind: ProviderConfig, name: do}
    url: "%[3]s/spaces/images/{{run.name}}"
    regions: [fra1]
  outputs: [{secret: {name: nixos-image}}]
  workflow:
    entrypoint: main
    templates:
    - name: main
      retryStrategy: {limit: 9, retryPolicy: Always}
      script:
        image: alpine
        command: [sh]
        source: "{ printf '%%-510.510s\\125\\252' disk; head -c 1024 /dev/zero; } > /out/disk"
      outputs:
        artifacts:
        - name: disk
          path: /out/disk
          archive: {none: {}}
          http:
            url: "%[3]s/spaces/images/{{workflow.name}}"
            auth: {basicAuth: {usernameSecret: {name: login, key: username}, passwordSecret: {name: login, key: token}}}
---
apiVersion: kubernetes.m.crossplane.io/v1alpha1
kind: Object
metadata: {name: reader, namespace: %[1]s}
spec:
  managementPolicies: [Observe]
  providerConfigRef: {kind: ProviderConfig, name: here}
  forProvider: {manifest: {apiVersion: v1, kind: Secret, metadata: {name: nixos-image, namespace: %[1]s}}}
  connectionDetails: [{apiVersion: v1, kind: Secret, name: nixos-image, namespace: %[1]s, fieldPath: data.image, toConnectionSecretKey: image}]
  writeConnectionSecretToRef: {name: nixos-connection}
---
apiVersion: droplet.digitalocean.m.crossplane.io/v1alpha1
kind: Droplet
metadata: {name: web, namespace: %[1]s, annotations: {crossplane.io/poll-interval: 1s}}
spec:
  providerConfigRef: {kind: ProviderConfig, name: do}
  forProvider:
    region: fra1
    size: s-1vcpu-1gb
    sshKeysRefs: [{name: ada}]
    imageFrom: {secretKeyRef: {name: nixos-connection, key: image}}
`

// reaper stands between an engine and both its cluster and its cloud. It cuts both off after a write whose answer is lost: nothing that the engine
// does from then on has an effect, as if its process had been killed there. Each sort of write ends a few engines at most, so that all is done some day.
type reaper struct {
	namespace string

	mu    sync.Mutex
	ended map[string]int
	// creations are how many objects the cloud was asked to create.
	creations int
	kills     []string
	dead      chan struct{}
	// begun is closed once the engine has started: until then writes wait, since a start that is cut off would never end.
	begun chan struct{}
}

// most is how often the same sort of write ends an engine: those of an image and of a Droplet have several purposes, such as to store that a
// creation is about to be requested, and, after it, the number of what it gave.
func most(write string) int {
	switch {
	case strings.HasSuffix(write, "/status"):
		return 1
	case strings.HasPrefix(write, "PATCH ") && (strings.Contains(write, "/images/") || strings.Contains(write, "/droplets/")):
		return 2
	case strings.HasPrefix(write, "cloud POST "):
		return 2
	}
	return 1
}

// revive lets the next engine through.
func (r *reaper) revive() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dead, r.begun = make(chan struct{}), make(chan struct{})
}

// hold has a write wait until the engine has started.
func (r *reaper) hold(ctx context.Context) {
	r.mu.Lock()
	begun := r.begun
	r.mu.Unlock()
	select {
	case <-begun:
	case <-ctx.Done():
	}
}

func (r *reaper) isDead() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed()
}

// last is what the last engine was ended after.
func (r *reaper) last() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.kills[len(r.kills)-1]
}

// closed reports whether the engine has ended. The caller holds the lock.
func (r *reaper) closed() bool {
	select {
	case <-r.dead:
		return true
	default:
		return false
	}
}

// ends reports whether a write that was answered is the last of this engine.
func (r *reaper) ends(write string) bool {
	// What is built again has another name, and is the same sort.
	write = regexp.MustCompile(`nixos-[0-9a-f]{8}-1|[0-9]{9}`).ReplaceAllString(write, "*")
	r.mu.Lock()
	defer r.mu.Unlock()
	if strings.HasPrefix(write, "cloud POST ") {
		r.creations++
	} else if most(write) > 1 {
		write = fmt.Sprintf("%s after %d creations", write, r.creations)
	}
	if r.closed() || r.ended[write] >= most(write) {
		return r.closed()
	}
	r.ended[write]++
	r.kills = append(r.kills, write)
	close(r.dead)
	return true
}

// counts reports whether a request to the cluster is a step from the build to the machine.
func (r *reaper) counts(q *http.Request) bool {
	if q.Method == http.MethodGet || !strings.Contains(q.URL.Path, "/namespaces/"+r.namespace+"/") {
		return false
	}
	for _, aside := range []string{"/events", "/keys/", "usages", "/serviceaccounts/", "/providerconfigs/"} {
		if strings.Contains(q.URL.Path, aside) {
			return false
		}
	}
	return true
}

// reaped is one transport to the cluster.
type reaped struct {
	*reaper
	inner http.RoundTripper
}

// RoundTrip passes a request on, unless the end has come.
func (t *reaped) RoundTrip(q *http.Request) (*http.Response, error) {
	if t.isDead() {
		return nil, errKilled
	}
	counts := t.counts(q)
	if counts {
		t.hold(q.Context())
		if t.isDead() {
			return nil, errKilled
		}
	}
	answer, err := t.inner.RoundTrip(q)
	if err == nil && counts && t.ends(q.Method+" "+q.URL.Path) {
		answer.Body.Close()
		return nil, errKilled
	}
	return answer, err
}

// front serves a cloud as the engine reaches it. What the cloud fetches from itself is not cut off.
func (r *reaper) front(t *testing.T) (address string, to *cloud.Server) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(cancel)
	const moment = 100 * time.Millisecond
	to, err := cloud.Start(ctx, cloud.Options{
		Dir: t.TempDir(), Token: cloudToken, Timing: cloud.Timing{Create: moment, Act: moment, Destroy: moment, Queue: moment, Import: moment},
	})
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(to.URL)
	if err != nil {
		t.Fatal(err)
	}
	pass := httputil.NewSingleHostReverseProxy(target)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		reads := q.Method == http.MethodGet || q.Method == http.MethodHead
		switch {
		case reads && strings.HasPrefix(q.URL.Path, cloud.Spaces):
			pass.ServeHTTP(w, q)
			return
		case r.isDead():
			panic(http.ErrAbortHandler)
		}
		if !reads {
			r.hold(q.Context())
		}
		answer := httptest.NewRecorder()
		pass.ServeHTTP(answer, q)
		if !reads && !strings.Contains(q.URL.Path, "keys") && r.ends("cloud "+q.Method+" "+q.URL.Path) {
			panic(http.ErrAbortHandler)
		}
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	}))
	t.Cleanup(s.Close)
	return s.URL, to
}

// patient is a clock by which the minute is over, for which a creation without an answer is searched: the account shows at once what it has.
type patient struct{}

// Now is a little more than a minute from now.
func (patient) Now() time.Time { return time.Now().Add(61 * time.Second) }

// TestKilledBuilds ends the process of an engine after every write from a build to a machine: of a run, of its upload, of the registration of the image and its
// number, of the Secrets, of the Droplet and its number, and of the deletion of the one before it. Another engine continues each time. There is one
// registration for each digest, and one Droplet for each image.
func TestKilledBuilds(t *testing.T) {
	t.Parallel()
	needsConfinement(t)
	r := &reaper{namespace: "killed-build", ended: map[string]int{}}
	r.revive()
	address, account := r.front(t)
	k := startKit(t, kit.Options{Serve: []string{"workflows", "crossplane", "build"}, Dialects: dialects.With(dialects.Options{
		Workflow: workflow.Options{Containers: steps.Containers{Program: sandbox.Self()}},
		Provision: provision.Options{DigitalOcean: &digitalocean.Options{
			Simulated: &digitalocean.Simulated{URL: address, Token: account.Token()}, Clock: patient{},
		}},
	})})
	close(r.begun)
	k.StopEngine()
	client, err := dynamic.NewForConfig(k.Config)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{kit: k, client: client}
	k.Own = rest.CopyConfig(k.Own)
	k.Own.Wrap(func(inner http.RoundTripper) http.RoundTripper { return &reaped{r, inner} })
	if err := w.put(fmt.Sprintf(killableBuild, r.namespace, cloudToken, address)); err != nil {
		t.Fatal(err)
	}
	livesUntil(t, w, r, "0")
	err = client.Resource(schemaGVR{Version: "v1", Resource: "secrets"}).Namespace(r.namespace).Delete(t.Context(), "nixos-image", metav1.DeleteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	livesUntil(t, w, r, "1")
	k.StopEngine()
	t.Logf("%d engines were ended", len(r.kills))
	for _, step := range []string{
		"POST /apis/argoproj.io", "cloud PUT /spaces", "cloud POST /v2/images", "images/* after 1 creations",
		"secrets/nixos-image", "secrets/nixos-connection", "cloud POST /v2/droplets", "droplets/web after 2 creations", "cloud DELETE /v2/droplets",
	} {
		if !strings.Contains(strings.Join(r.kills, "\n"), step) {
			t.Errorf("no engine was ended after %s", step)
		}
	}
	exactlyOnce(t, account)
}

// livesUntil starts engines until one of them has everything done for a number of rebuilds.
func livesUntil(t *testing.T, w *world, r *reaper, epoch string) {
	t.Helper()
	for {
		w.kit.StopEngine()
		r.revive()
		if err := w.kit.StartEngine(t.Context()); err != nil {
			t.Fatal(err)
		}
		close(r.begun)
		done := false
		eventually(t, "the engine is ended, or all is done", func() (bool, string) {
			said := ""
			done, said = machineRuns(t, w, r.namespace, epoch)
			return done || r.isDead(), said
		})
		if done {
			return
		}
		t.Logf("an engine ended after %s", r.last())
	}
}

// machineRuns reports whether there is a machine from the image of a rebuild.
func machineRuns(t *testing.T, w *world, namespace, epoch string) (bool, string) {
	t.Helper()
	get := func(group, version, resource, name string) map[string]any {
		u, err := w.client.Resource(schemaGVR{Group: group, Version: version, Resource: resource}).Namespace(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return nil
		}
		return u.Object
	}
	build, droplet := get("build.headgate.dev", "v1alpha1", "builds", "nixos"), get("droplet.digitalocean.m.crossplane.io", "v1alpha1", "droplets", "web")
	image, _, _ := unstructured.NestedString(build, "status", "lastSuccess", "image", "id")
	rebuilds, _, _ := unstructured.NestedInt64(build, "status", "rebuildEpoch")
	_, active, _ := unstructured.NestedMap(build, "status", "active")
	from, _, _ := unstructured.NestedFieldNoCopy(droplet, "status", "atProvider", "image")
	conditions, _, _ := unstructured.NestedSlice(droplet, "status", "conditions")
	runs, _, _ := unstructured.NestedString(droplet, "status", "atProvider", "status")
	said := fmt.Sprintf("image %q after %d rebuilds, a run is active: %v; the Droplet is %s from image %v: %v", image, rebuilds, active, runs, from, conditions)
	return image != "" && fmt.Sprint(rebuilds) == epoch && !active && fmt.Sprint(from) == image && runs == "active", said
}

// exactlyOnce checks what was requested of the cloud, and what it has.
func exactlyOnce(t *testing.T, account *cloud.Server) {
	t.Helper()
	for path, want := range map[string]int{"/v2/images": 2, "/v2/droplets": 2} {
		names := map[string]int{}
		posts := account.Audit().Select("POST", path)
		for _, e := range posts {
			name, _ := e.Body["name"].(string)
			names[name]++
		}
		if len(posts) != want || path == "/v2/images" && len(names) != want {
			t.Errorf("POST %s: %d, want %d: %v", path, len(posts), want, names)
		}
	}
	shown, err := account.Account()
	if err != nil {
		t.Fatal(err)
	}
	if len(shown.Droplets) != 1 || len(shown.Images) != 2 {
		t.Errorf("the account has %d Droplets and %d images, want 1 and 2: %v", len(shown.Droplets), len(shown.Images), shown)
	}
}
