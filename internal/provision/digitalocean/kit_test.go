package digitalocean_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apitypes "k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/cloud"
	"github.com/headgate-dev/headgate/internal/provision/digitalocean"
	"github.com/headgate-dev/headgate/internal/provision/managed"
)

// world is a simulated account with a clock that the test holds, and one resource that is reconciled by managed.Next. What is
// stored of it is in memory, so that a test ends the process between any two steps.
type world struct {
	*testing.T
	*cloud.Server
	clock   *cloud.Manual
	options *digitalocean.Options
	served  managed.Connector
	object  *unstructured.Unstructured
	secrets map[string]map[string]string
	events  []string
	// dies, when positive, is the number of the write to the cluster that does not happen any more: the process ends before.
	dies int
	// synced is what the last pass said, after what when the next one is due.
	synced, ready, upToDate *managed.Verdict
	after                   time.Duration
}

var errKilled = errors.New("the process was killed")

func begin(t *testing.T, resource string) *world {
	t.Helper()
	clock := cloud.At(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	s, err := cloud.Start(ctx, cloud.Options{Token: "the-token", Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, Server: s, clock: clock, secrets: map[string]map[string]string{}}
	w.options = &digitalocean.Options{Simulated: &digitalocean.Simulated{URL: s.URL, Token: "the-token"}, Clock: clock}
	w.secrets["crossplane-system/login"] = map[string]string{"token": "anything"}
	w.declare(resource)
	w.restart()
	return w
}

// declare has the resource be what a manifest says, with the annotations and the status that it has.
func (w *world) declare(manifest string) {
	w.Helper()
	u := &unstructured.Unstructured{}
	w.ok(yaml.Unmarshal([]byte(manifest), &u.Object))
	u.SetUID("11111111-2222-3333-4444-555555555555")
	u.SetGeneration(1)
	if w.object != nil {
		u.SetAnnotations(w.object.GetAnnotations())
		u.SetFinalizers(w.object.GetFinalizers())
		u.SetGeneration(w.object.GetGeneration() + 1)
		if status, has := w.object.Object["status"]; has {
			u.Object["status"] = status
		}
	}
	w.object = u
}

// restart begins with a new process, which knows nothing but what was stored.
func (w *world) restart() {
	w.Helper()
	var err error
	w.served, err = digitalocean.New(w.options).Serve(w.Context(), managed.Tools{})
	w.ok(err)
	w.dies = 0
}

func (w *world) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) kind() managed.Kind {
	all := digitalocean.New(nil).Kinds()
	gk := w.object.GroupVersionKind().GroupKind()
	return all[slices.IndexFunc(all, func(k managed.Kind) bool { return k.GroupKind == gk })]
}

func (w *world) write() error {
	if w.dies--; w.dies == 0 {
		return errKilled
	}
	return nil
}

// Annotate stores annotations.
func (w *world) Annotate(_ context.Context, r *managed.Resource, annotations map[string]string) error {
	if err := w.write(); err != nil {
		return err
	}
	all := w.object.GetAnnotations()
	if all == nil {
		all = map[string]string{}
	}
	for name, value := range annotations {
		all[name] = value
	}
	w.object.SetAnnotations(all)
	if r != nil {
		r.Object = w.object.DeepCopy()
	}
	return nil
}

// Record stores the record.
func (w *world) Record(_ context.Context, r *managed.Resource, record map[string]any) error {
	if err := w.write(); err != nil {
		return err
	}
	w.ok(unstructured.SetNestedMap(w.object.Object, record, "status", "record"))
	r.Object = w.object.DeepCopy()
	return nil
}

// ReadBy reads as Read does: there is one account.
func (w *world) ReadBy(ctx context.Context, r *managed.Resource, _ *managed.Edges, of schema.GroupVersionKind, name apitypes.NamespacedName) (*unstructured.Unstructured, error) {
	return w.Read(ctx, r, of, name)
}

// Read reads Secrets.
func (w *world) Read(_ context.Context, _ *managed.Resource, _ schema.GroupVersionKind, name apitypes.NamespacedName) (*unstructured.Unstructured, error) {
	values, has := w.secrets[name.String()]
	if !has {
		return nil, nil
	}
	data := map[string]any{}
	for key, value := range values {
		data[key] = base64.StdEncoding.EncodeToString([]byte(value))
	}
	return &unstructured.Unstructured{Object: map[string]any{"data": data}}, nil
}

// Emit collects events.
func (w *world) Emit(_ *managed.Resource, _, reason, message string) {
	w.events = append(w.events, reason+": "+message)
}

// facts are those of managed.Next, as the reconciler gathers them.
func (w *world) facts(e managed.External, o *managed.Observation, found *managed.Finding) managed.Facts {
	f := managed.Facts{
		Now: w.clock.Now(), Kind: w.kind(), Name: w.object.GetName(), Deleting: w.object.GetDeletionTimestamp() != nil,
		Finalizers: w.object.GetFinalizers(), ExternalName: w.object.GetAnnotations()[managed.AnnotationExternalName],
		Creation: managed.CreationOf(w.object), Connected: e != nil, Found: found, Observation: o,
	}
	_, f.Finds = e.(managed.Finder)
	f.Actions, f.Invalid = managed.ActionsOf(f.Kind, w.object)
	return f
}

// run makes passes until nothing is left to do, and moves the clock to when the next one is due.
func (w *world) run() {
	w.Helper()
	for range 200 {
		w.Settle()
		if gone := w.pass(); gone || w.after == 0 {
			return
		}
		w.clock.Advance(w.after)
	}
	w.Fatalf("the passes do not end: %+v, %+v, %v", w.synced, w.ready, w.events)
}

// state is how the account stands.
func (w *world) state() cloud.Shown {
	w.Helper()
	s, err := w.Account()
	w.ok(err)
	return s
}

// posts are the requests that were to create something at a path.
func (w *world) posts(path string) cloud.Log { return w.Audit().Select("POST", path) }

// one is the only Droplet of the account.
func (w *world) one() *cloud.Droplet {
	w.Helper()
	all := w.state().Droplets
	if len(all) != 1 {
		w.Fatalf("the account has %d Droplets, want 1; %+v, %+v", len(all), w.synced, w.ready)
	}
	if name := w.object.GetAnnotations()[managed.AnnotationExternalName]; name != strconv.Itoa(all[0].ID) {
		w.Fatalf("the external name is %q, the Droplet %d", name, all[0].ID)
	}
	return all[0]
}

// imported imports an image, and waits until it is available.
func (w *world) imported(name string) string {
	w.Helper()
	content := make([]byte, 512)
	copy(content, "QFI\xfb\x00\x00\x00\x03")
	binary.BigEndian.PutUint64(content[24:], 20<<30)
	files := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		http.ServeContent(out, r, "nixos.qcow2", w.clock.Now(), bytes.NewReader(content))
	}))
	w.Cleanup(files.Close)
	body, err := json.Marshal(map[string]any{"name": name, "url": files.URL + "/nixos.qcow2", "region": "fra1", "distribution": "Unknown"})
	w.ok(err)
	q, err := http.NewRequestWithContext(w.Context(), http.MethodPost, w.URL+"/v2/images", bytes.NewReader(body))
	w.ok(err)
	q.Header.Set("Authorization", "Bearer the-token")
	answer, err := http.DefaultClient.Do(q)
	w.ok(err)
	w.ok(answer.Body.Close())
	w.Settle()
	w.clock.Advance(time.Minute)
	images := w.state().Images
	last := images[len(images)-1]
	if last.Status != "available" {
		w.Fatalf("the image is %s: %s", last.Status, last.Error)
	}
	return strconv.Itoa(last.ID)
}

// key registers an SSH key, which Droplets of custom images need, and is its number.
func (w *world) key() string {
	w.Helper()
	q, err := http.NewRequestWithContext(w.Context(), http.MethodPost, w.URL+"/v2/account/keys",
		strings.NewReader(`{"name":"ada","public_key":"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPPGDUUVMfqyB7M2RH8pAqhuXj5ut8LZ8STlZcKXzxT5 ada@example.com"}`))
	w.ok(err)
	q.Header.Set("Authorization", "Bearer the-token")
	answer, err := http.DefaultClient.Do(q)
	w.ok(err)
	w.ok(answer.Body.Close())
	return strconv.Itoa(w.state().Keys[0].ID)
}

// delete marks the resource as one that is to go.
func (w *world) delete() {
	now := metav1.NewTime(w.clock.Now())
	w.object.SetDeletionTimestamp(&now)
}
