package scenario

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/guard"
	"github.com/headgate-dev/headgate/internal/kit"
)

// argoManager is the field manager that Argo CD applies with.
const argoManager = "argocd-controller"

// deaf does not listen.
type deaf struct{}

func (deaf) ObjectChanged(engine.ObjectID) {}
func (deaf) KindChanged(schema.GroupKind)  {}
func (deaf) Reconnected()                  {}

// wire counts the requests for single objects and writes, and stands in for a webhook that cannot be tried.
type wire struct {
	next     http.RoundTripper
	requests atomic.Int64
	deletes  atomic.Int64
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	query := r.URL.Query()
	if query.Get("watch") == "" && !query.Has("resourceVersion") {
		w.requests.Add(1)
	}
	if r.Method == http.MethodDelete {
		w.deletes.Add(1)
	}
	if query.Get("dryRun") != "" && strings.HasSuffix(r.URL.Path, "/untried") {
		body := `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"BadRequest","code":400,` +
			`"message":"admission webhook \"hook.example.com\" does not support dry run"}`
		return &http.Response{
			StatusCode: http.StatusBadRequest, Request: r, Header: http.Header{"Content-Type": []string{"application/json"}},
			Body: io.NopCloser(bytes.NewBufferString(body)),
		}, nil
	}
	return w.next.RoundTrip(r)
}

// desk is where orders are written from.
type desk struct {
	*testing.T
	cluster *cluster.Cluster
	applier *apply.Applier
	wire    *wire
	// others writes as anybody else does.
	others dynamic.Interface
}

// TestWrite orders objects of a real API server.
func TestWrite(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "hg-")
	if err != nil {
		t.Fatal(err)
	}
	k := &kit.Kit{Dir: dir}
	t.Cleanup(func() {
		if err := k.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	if err := k.StartPlane(t.Context()); err != nil {
		t.Fatal(err)
	}
	config := rest.CopyConfig(k.Config)
	w := &wire{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		w.next = next
		return w
	})
	c, err := cluster.Connect(config, "", cluster.Ownership{Manager: argoManager}, deaf{}, guard.Guard{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	others, err := dynamic.NewForConfig(k.Config)
	if err != nil {
		t.Fatal(err)
	}
	base := desk{cluster: c, applier: apply.New(c, apply.Names{Manager: argoManager}), wire: w, others: others}
	setup := base
	setup.T = t
	setup.mustWrite(apply.Order{Object: parse(t, routeCRD)})
	setup.until("the kind Route is served", func() bool {
		_, ok := c.Kinds.Lookup(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Route"})
		return ok
	})
	for name, do := range map[string]func(*desk){
		"ignored from the start": (*desk).ignoredFromStart, "ignored later": (*desk).ignoredLater, "no longer ignored": (*desk).noLongerIgnored,
		"keyed list": (*desk).keyedList, "atomic list": (*desk).atomicList, "lost race": (*desk).lostRace, "required": (*desk).required,
		"empty parent": (*desk).emptyParent, "client side": (*desk).clientSide, "client side ignored": (*desk).clientSideIgnored,
		"client side custom": (*desk).clientSideCustom, "too large": (*desk).tooLarge,
		"replace": (*desk).replace, "replace forced": (*desk).replaceForced, "precious": (*desk).precious, "immutable": (*desk).immutable,
		"immutable forced": (*desk).immutableForced, "no dry run": (*desk).noDryRun, "migrated": (*desk).migrated,
		"migrated status": (*desk).migratedStatus,
		"migrated unseen": (*desk).migratedUnseen, "migrated ignored": (*desk).migratedIgnored,
		"at rest": (*desk).atRest, "costs": (*desk).costs, "restarted": (*desk).restarted, "adopted": (*desk).adopted, "not corrected": (*desk).notCorrected,
		"missing": (*desk).missing, "waits": (*desk).waits, "removed": (*desk).removed, "validated": (*desk).validated, "drift": (*desk).drift,
	} {
		t.Run(name, func(t *testing.T) {
			d := base
			d.T = t
			do(&d)
		})
	}
}

const routeCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: routes.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Route, plural: routes, singular: route, listKind: RouteList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
          spec:
            type: object
            required: [bootstrap]
            properties:
              bootstrap: {type: object, properties: {database: {type: string}, owner: {type: string}}}
              host: {type: string}
              rules:
                type: array
                x-kubernetes-list-type: atomic
                items:
                  type: object
                  properties:
                    path: {type: string}
                    weight: {type: integer}
              hosts: {type: array, items: {type: string}}
`

func parse(t *testing.T, text string, args ...any) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(fmt.Appendf(nil, text, args...), &u.Object); err != nil {
		t.Fatal(err)
	}
	// Numbers as they come from a server.
	data, err := u.MarshalJSON()
	if err == nil {
		err = u.UnmarshalJSON(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func (d *desk) parse(text string, args ...any) *unstructured.Unstructured {
	d.Helper()
	return parse(d.T, text, args...)
}

// configMap is a ConfigMap with data in YAML's flow form.
func (d *desk) configMap(name, data string) *unstructured.Unstructured {
	d.Helper()
	return d.parse("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: default}, data: {%s}}", name, data)
}

// deployment has two containers whose order is given.
func (d *desk) deployment(name, spec string, containers ...string) *unstructured.Unstructured {
	d.Helper()
	u := d.parse(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: default}
spec:
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec: {containers: [%[2]s]}
%[3]s`, name, strings.Join(containers, ", "), spec)
	return u
}

func (d *desk) write(o apply.Order) apply.Written {
	d.Helper()
	ctx, cancel := context.WithTimeout(d.Context(), patience)
	defer cancel()
	return d.applier.Write(ctx, o)
}

func (d *desk) mustWrite(o apply.Order) *unstructured.Unstructured {
	d.Helper()
	w := d.write(o)
	if w.Err != nil || w.Wait != nil {
		d.Fatalf("writing %s: %v, waits for %+v", o.Object.GetName(), w.Err, w.Wait)
	}
	if w.Object == nil {
		return d.get(o.Object)
	}
	return w.Object
}

func (d *desk) client(u *unstructured.Unstructured) dynamic.ResourceInterface {
	d.Helper()
	r, ok := d.cluster.Kinds.Lookup(u.GroupVersionKind())
	if !ok {
		d.Fatalf("kind %s is not served", u.GroupVersionKind())
	}
	return d.others.Resource(r.GroupVersionResource).Namespace(u.GetNamespace())
}

func (d *desk) get(u *unstructured.Unstructured) *unstructured.Unstructured {
	d.Helper()
	live, err := d.client(u).Get(d.Context(), u.GetName(), metav1.GetOptions{})
	if err != nil {
		d.Fatal(err)
	}
	return live
}

// make creates an object as another manager, and waits until it is known; patch changes it.
func (d *desk) make(u *unstructured.Unstructured, manager string) *unstructured.Unstructured {
	d.Helper()
	made, err := d.client(u).Create(d.Context(), u, metav1.CreateOptions{FieldManager: manager})
	if err == nil {
		err = d.cluster.Objects.WatchManaged(d.Context(), u.GroupVersionKind(), nil)
	}
	if err != nil {
		d.Fatal(err)
	}
	d.seen(made)
	return made
}

func (d *desk) patch(u *unstructured.Unstructured, manager, patch string, sub ...string) *unstructured.Unstructured {
	d.Helper()
	changed, err := d.client(u).Patch(d.Context(), u.GetName(), types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: manager}, sub...)
	if err != nil {
		d.Fatal(err)
	}
	return changed
}

func (d *desk) until(what string, done func() bool) {
	d.Helper()
	err := wait.PollUntilContextTimeout(d.Context(), 20*time.Millisecond, patience, true, func(context.Context) (bool, error) { return done(), nil })
	if err != nil {
		d.Fatalf("%s: %v", what, err)
	}
}

// seen waits until the watch has brought a version of an object.
func (d *desk) seen(u *unstructured.Unstructured) {
	d.Helper()
	d.until("the watch brings "+u.GetName(), func() bool {
		rec, ok := d.cluster.Objects.Get(engine.IDOf(u))
		version, err := strconv.ParseUint(u.GetResourceVersion(), 10, 64)
		return ok && err == nil && rec.ResourceVersion >= version && rec.UID == u.GetUID()
	})
}

// at is the value at a JSON pointer.
func (d *desk) at(u *unstructured.Unstructured, pointer string) any {
	d.Helper()
	p, err := engine.ParsePointer(pointer)
	if err != nil {
		d.Fatal(err)
	}
	v, _ := p.Lookup(u.Object)
	return v
}

func (d *desk) want(u *unstructured.Unstructured, values map[string]any) {
	d.Helper()
	for pointer, want := range values {
		if diff := cmp.Diff(want, d.at(u, pointer)); diff != "" {
			d.Errorf("%s of %s (-want +got):\n%s", pointer, u.GetName(), diff)
		}
	}
}

// owns reports whether a manager applies a field, by a part of its entry.
func owns(u *unstructured.Unstructured, manager string, op metav1.ManagedFieldsOperationType, part string) bool {
	return slices.ContainsFunc(u.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
		return e.Manager == manager && e.Operation == op && e.FieldsV1 != nil && strings.Contains(string(e.FieldsV1.GetRawBytes()), part)
	})
}

func (d *desk) wantOwner(u *unstructured.Unstructured, part string, ours, kept bool) {
	d.Helper()
	if got := owns(u, argoManager, metav1.ManagedFieldsOperationApply, part); got != ours {
		d.Errorf("we own %s: %v, want %v", part, got, ours)
	}
	if got := owns(u, apply.Keeper, metav1.ManagedFieldsOperationApply, part); got != kept {
		d.Errorf("the keeper owns %s: %v, want %v", part, got, kept)
	}
}

func ignoring(pointers ...string) func(*unstructured.Unstructured) []engine.Pointer {
	return func(*unstructured.Unstructured) []engine.Pointer {
		var list []engine.Pointer
		for _, text := range pointers {
			p, err := engine.ParsePointer(text)
			if err != nil {
				return nil
			}
			list = append(list, p)
		}
		return list
	}
}
