package scenario

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/engine"
)

// kubectlApplied is what kubectl apply makes on the client.
func (d *desk) kubectlApplied(u *unstructured.Unstructured, manager string) *unstructured.Unstructured {
	d.Helper()
	data, err := u.MarshalJSON()
	if err != nil {
		d.Fatal(err)
	}
	u.SetAnnotations(map[string]string{"kubectl.kubernetes.io/last-applied-configuration": string(data)})
	return d.make(u, manager)
}

func (d *desk) migrated() {
	for name, c := range map[string]struct{ manager, named string }{
		"kubectl": {"kubectl-client-side-apply", ""}, "named": {"other-tool", "other-tool"}, "own": {argoManager, ""}, "helm": {"helm", ""},
	} {
		object := func(spec string) *unstructured.Unstructured { return d.deployment("migrated-"+name, spec, image) }
		first := d.kubectlApplied(object("  replicas: 2\n  paused: true"), c.manager)
		d.patch(first, "someone", `{"metadata":{"labels":{"theirs":"yes"}}}`)
		order := apply.Order{Object: object("  replicas: 2"), Migrate: true, MigrateManager: c.named}
		if s := d.applier.Standing(d.Context(), order, nil); s.InSync || !slices.Equal(s.Fields, []string{"spec.paused"}) {
			d.Errorf("%s: before: %+v", name, s)
		}
		live := d.mustWrite(order)
		d.want(live, map[string]any{
			"/metadata/uid": string(first.GetUID()), "/spec/replicas": int64(2), "/spec/paused": nil, "/metadata/labels/theirs": "yes",
			"/spec/progressDeadlineSeconds":                                           int64(600),
			"/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration": nil,
		})
		for _, e := range live.GetManagedFields() {
			if e.Manager == c.manager && e.Operation == metav1.ManagedFieldsOperationUpdate && e.Subresource == "" {
				d.Errorf("%s: it still has an entry", name)
			}
		}
		order.Object = object("")
		d.want(d.mustWrite(order), map[string]any{"/spec/replicas": int64(1)})
	}
}

// migratedUnseen takes over what the watch has not brought yet.
func (d *desk) migratedUnseen() {
	first := d.kubectlApplied(d.configMap("unseen", "a: '1', gone: '1'"), "kubectl-client-side-apply")
	d.cluster.Objects.Forget(engine.IDOf(first))
	w := d.write(apply.Order{Object: d.configMap("unseen", "a: '2'"), Migrate: true})
	if w.Err != nil || w.Action != engine.Configure || w.Object.GetUID() != first.GetUID() {
		d.Fatalf("%v, %s", w.Err, w.Action)
	}
	d.want(w.Object, map[string]any{"/data": map[string]any{"a": "2"}, "/metadata/annotations": nil})
}

func (d *desk) migratedStatus() {
	first := d.kubectlApplied(d.route("status", "host: a"), "kubectl-client-side-apply")
	d.patch(first, "kubectl-client-side-apply", `{"status":{"phase":"Ready"}}`, "status")
	live := d.mustWrite(apply.Order{Object: d.route("status", "host: a"), Migrate: true})
	d.want(live, map[string]any{"/status/phase": "Ready"})
	if !owns(live, "kubectl-client-side-apply", metav1.ManagedFieldsOperationUpdate, "f:status") {
		d.Error("the entry of the status went")
	}
	d.wantOwner(live, "f:status", false, false)
}

func (d *desk) migratedIgnored() {
	first := d.kubectlApplied(d.deployment("migratedignored", "  replicas: 2", image), "kubectl-client-side-apply")
	order := apply.Order{Object: d.deployment("migratedignored", "  replicas: 5", image), Migrate: true, Ignored: ignoring("/spec/replicas")}
	live := d.mustWrite(order)
	d.want(live, map[string]any{"/spec/replicas": int64(2), "/metadata/uid": string(first.GetUID())})
	d.wantOwner(live, "f:replicas", false, true)
}

// requests are those that do takes.
func (d *desk) requests(do func()) int64 {
	before := d.wire.requests.Load()
	do()
	return d.wire.requests.Load() - before
}

func (d *desk) atRest() {
	for mode, digest := range map[apply.WriteMode]string{apply.ServerSide: "server", apply.ClientSide: "client", apply.Replace: "replace"} {
		order := apply.Order{Object: d.configMap("rest-"+digest, "a: '1'"), Mode: mode, Ignored: ignoring("/data/b"), Digest: digest}
		d.seen(d.mustWrite(order))
		id := engine.IDOf(order.Object)
		if n := d.requests(func() {
			if s := d.applier.Standing(d.Context(), order, nil); !s.InSync || !s.Known {
				d.Errorf("mode %d: %+v", mode, s)
			}
			if w := d.write(order); w.Action != engine.Unchanged {
				d.Errorf("mode %d: %s, %v", mode, w.Action, w.Err)
			}
		}); n != 0 || d.applier.Drifted(id) {
			d.Errorf("mode %d: %d requests at rest, drifted: %v", mode, n, d.applier.Drifted(id))
		}
		if mode == apply.ServerSide {
			d.seen(d.patch(order.Object, "someone", `{"data":{"theirs":"1"}}`))
			if d.applier.Drifted(id) {
				d.Errorf("mode %d: it drifted by a field of others", mode)
			}
		}
		d.seen(d.patch(order.Object, "someone", `{"data":{"a":"2"}}`))
		if !d.applier.Drifted(id) {
			d.Errorf("mode %d: it has not drifted", mode)
		}
		if s := d.applier.Standing(d.Context(), order, nil); s.InSync || s.Known || !slices.Contains(s.Fields, "data.a") {
			d.Errorf("mode %d: after the change: %+v", mode, s)
		}
		w := d.write(order)
		if w.Err != nil || w.Drift == nil || w.Drift.Manager != "someone" || !slices.Contains(w.Drift.Fields, "data.a") {
			d.Errorf("mode %d: put right: %v, %+v", mode, w.Err, w.Drift)
		}
	}
}

// costs counts the requests of a write whose kind is watched already.
func (d *desk) costs() {
	d.mustWrite(apply.Order{Object: d.configMap("cheap", "a: '1'")})
	plain := func(data string) apply.Order { return apply.Order{Object: d.configMap("costs", data), Validate: true} }
	left := func(data string) apply.Order {
		return apply.Order{Object: d.configMap("costs", data), Ignored: ignoring("/data/b"), Digest: data, Validate: true}
	}
	for _, step := range []struct {
		reason string
		order  apply.Order
		want   int64
	}{
		{"an object that is not there", plain("a: '1', b: '1'"), 1},
		{"a change of it", plain("a: '2', b: '1'"), 1},
		{"nothing new", plain("a: '2', b: '1'"), 0},
		{"a field becomes one of others: it is read and handed over first", left("a: '2', b: '2'"), 3},
		{"a change beside it", left("a: '3', b: '2'"), 2},
		{"nothing new beside it", left("a: '3', b: '2'"), 0},
	} {
		if n := d.requests(func() { d.seen(d.mustWrite(step.order)) }); n != step.want {
			d.Errorf("%s: %d requests, want %d", step.reason, n, step.want)
		}
	}
	created := apply.Order{Object: d.configMap("costs-created", "a: '1'"), Ignored: ignoring("/data/a"), Validate: true}
	if n := d.requests(func() { d.mustWrite(created) }); n != 3 {
		d.Errorf("an object with a field of others: %d requests, want 3", n)
	}
}

func (d *desk) adopted() {
	made := d.make(d.configMap("adopted", "a: '1'"), "someone")
	order := apply.Order{Object: d.configMap("adopted", "a: '1'"), Migrate: true}
	id := engine.IDOf(made)
	if s := d.applier.Standing(d.Context(), order, nil); !s.InSync || s.Known {
		d.Fatalf("%+v", s)
	}
	if s := d.applier.Standing(d.Context(), order, nil); !s.InSync || !s.Known || d.applier.Drifted(id) {
		d.Errorf("asked for again: %+v", s)
	}
	// If the fields are ours, no other manager needs to take them from us: every change counts.
	d.seen(d.patch(made, "someone", `{"data":{"a":"2"}}`))
	if !d.applier.Drifted(id) {
		d.Error("a change of a field that is not ours is not seen")
	}
	live := d.mustWrite(order)
	d.want(live, map[string]any{"/data/a": "1", "/metadata/uid": string(made.GetUID())})
	d.wantOwner(live, "f:a", true, false)
}

// restarted forgets everything, and finds what was written before.
func (d *desk) restarted() {
	for mode, name := range map[apply.WriteMode]string{apply.ServerSide: "server", apply.ClientSide: "client", apply.Replace: "replace"} {
		order := apply.Order{
			Object: d.configMap("restarted-"+name, "a: '1', b: '1'"), Mode: mode, Migrate: true, Ignored: ignoring("/data/b"), Digest: "x",
		}
		id := engine.IDOf(order.Object)
		d.seen(d.mustWrite(order))
		d.applier = apply.New(d.cluster, apply.Names{Manager: argoManager})
		if s := d.applier.Standing(d.Context(), order, nil); !s.InSync || s.Known {
			d.Errorf("mode %d: %+v", mode, s)
		}
		if n := d.requests(func() { d.write(order) }); n != 0 || d.applier.Drifted(id) {
			d.Errorf("mode %d: %d requests to write what is in sync; drifted: %v", mode, n, d.applier.Drifted(id))
		}
		d.seen(d.patch(order.Object, "someone", `{"data":{"a":"2"}}`))
		if w := d.write(order); w.Drift == nil || w.Drift.Manager != "someone" {
			d.Errorf("mode %d: %v, %+v", mode, w.Err, w.Drift)
		}
	}
}

func (d *desk) notCorrected() {
	order := apply.Order{Object: d.configMap("left", "a: '1'")}
	d.seen(d.mustWrite(order))
	id := engine.IDOf(order.Object)
	d.seen(d.patch(order.Object, "someone", `{"data":{"a":"2"}}`))
	for round := range 2 {
		s := d.applier.Standing(d.Context(), order, nil)
		if s.InSync || s.Known != (round == 1) || d.applier.Drifted(id) || !slices.Equal(s.Fields, []string{"data.a"}) {
			d.Errorf("round %d: %+v, drifted: %v", round, s, d.applier.Drifted(id))
		}
	}
	d.seen(d.patch(order.Object, "someone", `{"data":{"a":"1"}}`))
	if s := d.applier.Standing(d.Context(), order, nil); !s.InSync || s.Known {
		d.Errorf("put back: %+v", s)
	}
	plug := func(desired, predicted, live *unstructured.Unstructured) []string {
		d.want(predicted, map[string]any{"/data/a": "3"})
		d.want(live, map[string]any{"/data/a": "1"})
		return []string{"as it says"}
	}
	order.Object = d.configMap("left", "a: '3'")
	if s := d.applier.Standing(d.Context(), order, plug); !slices.Equal(s.Fields, []string{"as it says"}) {
		d.Errorf("another comparison: %+v", s)
	}
}

func (d *desk) missing() {
	order := apply.Order{Object: d.configMap("missing", "a: '1'")}
	live := d.mustWrite(order)
	d.seen(live)
	id := engine.IDOf(live)
	if err := d.client(live).Delete(d.Context(), live.GetName(), metav1.DeleteOptions{}); err != nil {
		d.Fatal(err)
	}
	d.until("the object goes", func() bool { return d.applier.Drifted(id) })
	for range 2 {
		if n := d.requests(func() {
			if s := d.applier.Standing(d.Context(), order, nil); !s.Missing || !s.Known || s.InSync || d.applier.Drifted(id) {
				d.Errorf("%+v, drifted: %v", s, d.applier.Drifted(id))
			}
		}); n != 0 {
			d.Errorf("%d requests for what is known to be missing", n)
		}
	}
	w := d.write(order)
	if w.Err != nil || w.Action != engine.Create || w.Drift == nil || w.Drift.Manager != "" {
		d.Errorf("%v, %s, %+v", w.Err, w.Action, w.Drift)
	}
}

func (d *desk) waits() {
	kind := apply.Order{Object: d.parse("{apiVersion: nowhere.example.com/v1, kind: Nothing, metadata: {name: x, namespace: default}}")}
	if w := d.write(kind); w.Wait == nil || w.Wait.What != apply.KindServed || w.Wait.Kind != (schema.GroupKind{Group: "nowhere.example.com", Kind: "Nothing"}) {
		d.Errorf("a kind that is not served: %+v", w.Result)
	}
	if s := d.applier.Standing(d.Context(), kind, nil); s.Wait == nil || s.Wait.What != apply.KindServed {
		d.Errorf("a kind that is not served: %+v", s)
	}
	for _, mode := range []apply.WriteMode{apply.ServerSide, apply.ClientSide, apply.Replace} {
		order := apply.Order{Object: d.parse("{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: nowhere}}"), Mode: mode}
		if w := d.write(order); w.Wait == nil || w.Wait.What != apply.ObjectThere || w.Wait.Object.Name != "nowhere" {
			d.Errorf("mode %d: a namespace that is not there: %+v", mode, w.Result)
		}
	}
	w := d.write(apply.Order{Object: d.parse("{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}")})
	if w.Err == nil || !strings.Contains(w.Err.Error(), "metadata.namespace") {
		d.Errorf("no namespace: %+v", w.Result)
	}
}

func (d *desk) removed() {
	object := d.configMap("removed", "a: '1'")
	object.SetFinalizers([]string{"example.com/hold"})
	live := d.mustWrite(apply.Order{Object: object})
	entry := d.applier.Entry(live)
	permit := func(yes bool) apply.Removal {
		return apply.Removal{Permit: func(u *unstructured.Unstructured) (string, bool) {
			return "it says keep", yes && u.GetUID() == live.GetUID()
		}}
	}
	steps := []struct {
		reason  string
		removal apply.Removal
		action  engine.Action
		message string
		deletes int64
	}{
		{"what may not be deleted stays", permit(false), engine.Skip, "it says keep", 0},
		{"what may be deleted is", permit(true), engine.Delete, "", 1},
		{"what is being deleted is not deleted twice", permit(true), engine.Skip, "already being deleted", 0},
	}
	for _, s := range steps {
		before := d.wire.deletes.Load()
		r := d.applier.Remove(d.Context(), entry, s.removal)
		if n := d.wire.deletes.Load() - before; r.Err != nil || r.Action != s.action || r.Message != s.message || n != s.deletes {
			d.Errorf("%s: %v, %s, %q, %d requests", s.reason, r.Err, r.Action, r.Message, n)
		}
	}
	if _, err := d.client(live).Patch(d.Context(), live.GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		d.Fatal(err)
	}
	d.until("the object goes", func() bool {
		r := d.applier.Remove(d.Context(), entry, permit(true))
		return r.Err == nil && r.Message == "already deleted"
	})
	if r := d.applier.Remove(d.Context(), entry, apply.Removal{}); r.Err == nil {
		d.Error("deleted though nobody said so")
	}
	entry.ID.Kind, entry.ID.Group = "Nothing", "nowhere.example.com"
	if r := d.applier.Remove(d.Context(), entry, permit(true)); r.Err != nil || r.Action != engine.Skip {
		d.Errorf("a kind that went: %+v", r)
	}
}

func (d *desk) validated() {
	object := d.route("validated", "host: a, unknown: b")
	for _, mode := range []apply.WriteMode{apply.ClientSide, apply.Replace} {
		live := d.mustWrite(apply.Order{Object: object, Mode: mode, Validate: mode == apply.Replace})
		d.want(live, map[string]any{"/spec/host": "a", "/spec/unknown": nil})
	}
	w := d.write(apply.Order{Object: object, Validate: true})
	if w.Err == nil || !strings.Contains(w.Err.Error(), "unknown") {
		d.Errorf("server-side apply of an unknown field: %v", w.Err)
	}
	bad := d.route("validated", "host: 4711")
	s := d.applier.Standing(d.Context(), apply.Order{Object: bad}, nil)
	if s.Refused == nil || !strings.Contains(s.Refused.Error(), "spec.host") || strings.Contains(s.Refused.Error(), "Force=true") ||
		strings.Contains(s.Refused.Error(), "4711") || apply.Transient(s.Refused) {
		d.Errorf("a value of another type: %+v", s)
	}
}

func (d *desk) drift() {
	order := apply.Order{Object: d.deployment("drift", "  replicas: 2", image)}
	live := d.mustWrite(order)
	d.seen(d.patch(live, "someone", `{"spec":{"replicas":3}}`))
	w := d.write(order)
	if w.Err != nil || w.Drift == nil || w.Drift.Manager != "someone" || !slices.Equal(w.Drift.Fields, []string{"spec.replicas"}) {
		d.Errorf("%v, %+v", w.Err, w.Drift)
	}
	order.Object = d.deployment("drift", "  replicas: 4", image)
	if w := d.write(order); w.Drift != nil {
		d.Errorf("another declaration counts as drift: %+v", w.Drift)
	}
}
