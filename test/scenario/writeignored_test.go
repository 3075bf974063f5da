package scenario

import (
	"fmt"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/engine"
)

const image = "{name: main, image: 'x:1'}"

func (d *desk) ignoredFromStart() {
	order := apply.Order{Object: d.deployment("start", "  replicas: 2", image), Ignored: ignoring("/spec/replicas")}
	w := d.write(order)
	if w.Err != nil || w.Action != engine.Create {
		d.Fatalf("%v, %s", w.Err, w.Action)
	}
	d.want(w.Object, map[string]any{"/spec/replicas": int64(2)})
	d.wantOwner(w.Object, "f:replicas", false, true)
	d.patch(order.Object, "autoscaler", `{"spec":{"replicas":5}}`)
	order.Object = d.deployment("start", "  replicas: 3", "{name: main, image: 'x:2'}")
	live := d.mustWrite(order)
	d.want(live, map[string]any{"/spec/replicas": int64(5), "/spec/template/spec/containers/0/image": "x:2"})
}

func (d *desk) ignoredLater() {
	order := apply.Order{Object: d.deployment("later", "  replicas: 2", image)}
	d.wantOwner(d.mustWrite(order), "f:replicas", true, false)
	// Git changes the value as it becomes ignored, and drops it later.
	order.Object, order.Ignored = d.deployment("later", "  replicas: 7", image), ignoring("/spec/replicas")
	live := d.mustWrite(order)
	d.want(live, map[string]any{"/spec/replicas": int64(2)})
	d.wantOwner(live, "f:replicas", false, true)
	order.Object = d.deployment("later", "", image)
	live = d.mustWrite(order)
	d.want(live, map[string]any{"/spec/replicas": int64(2)})
	d.until("a write changes nothing", func() bool { return d.write(order).Action == engine.Unchanged })
}

func (d *desk) noLongerIgnored() {
	order := apply.Order{Object: d.configMap("longer", "a: '1', b: '1', c: '1'"), Ignored: ignoring("/data/a", "/data/b", "/data/c")}
	d.mustWrite(order)
	d.patch(order.Object, "someone", `{"data":{"a":"2"}}`)
	order.Object, order.Ignored = d.configMap("longer", "a: '3', c: '3'"), ignoring("/data/c")
	live := d.mustWrite(order)
	d.want(live, map[string]any{"/data": map[string]any{"a": "3", "c": "1"}})
	d.wantOwner(live, "f:a", true, false)
	d.wantOwner(live, "f:c", false, true)
	order.Ignored = nil
	live = d.mustWrite(order)
	d.want(live, map[string]any{"/data/c": "3"})
	d.wantOwner(live, "f:c", true, false)
	if owns(live, apply.Keeper, metav1.ManagedFieldsOperationApply, "") {
		d.Error("the keeper still has an entry")
	}
}

func (d *desk) keyedList() {
	first, second := "{name: first, image: 'a:1', env: [{name: X, value: one}]}", "{name: second, image: 'b:1'}"
	order := apply.Order{Object: d.deployment("keyed", "", first, second)}
	d.mustWrite(order)
	d.patch(order.Object, "someone", `{"spec":{"template":{"spec":{"containers":[{"name":"first","image":"a:9","env":[{"name":"X","value":"nine"}]},{"name":"second","image":"b:1"}]}}}}`)
	order.Ignored = ignoring("/spec/template/spec/containers/0/image", "/spec/template/spec/containers/0/env/0/value")
	order.Object = d.deployment("keyed", "", "{name: second, image: 'b:2'}", "{name: first, image: 'a:2', env: [{name: X, value: two}]}")
	live := d.mustWrite(order)
	got := map[string]any{}
	containers, _, _ := unstructured.NestedSlice(live.Object, "spec", "template", "spec", "containers")
	for _, c := range containers {
		m, _ := c.(map[string]any)
		got[fmt.Sprint(m["name"])] = []any{m["image"], m["env"]}
	}
	want := map[string]any{"first": []any{"a:9", []any{map[string]any{"name": "X", "value": "nine"}}}, "second": []any{"b:2", nil}}
	if diff := cmp.Diff(want, got); diff != "" {
		d.Errorf("the containers (-want +got):\n%s", diff)
	}
}

func (d *desk) route(name, rules string) *unstructured.Unstructured {
	d.Helper()
	return d.parse("{apiVersion: example.com/v1, kind: Route, metadata: {name: %s, namespace: default}, spec: {bootstrap: {database: app}, %s}}", name, rules)
}

func (d *desk) atomicList() {
	order := apply.Order{Object: d.route("atomic", "host: a, rules: [{path: /a, weight: 1}, {path: /b, weight: 1}]"), Ignored: ignoring("/spec/rules/0/weight")}
	d.mustWrite(order)
	d.patch(order.Object, "rollouts", `{"spec":{"rules":[{"path":"/a","weight":80},{"path":"/b","weight":1}]}}`)
	order.Object = d.route("atomic", "host: b, rules: [{path: /a, weight: 2}, {path: /c, weight: 2}]")
	live := d.mustWrite(order)
	d.want(live, map[string]any{"/spec/host": "b", "/spec/rules": []any{
		map[string]any{"path": "/a", "weight": int64(80)}, map[string]any{"path": "/c", "weight": int64(2)},
	}})
	order.Digest = "atomic"
	d.seen(d.mustWrite(order))
	d.seen(d.patch(order.Object, "rollouts", `{"spec":{"rules":[{"path":"/a","weight":90},{"path":"/c","weight":2}]}}`))
	if w := d.write(order); w.Err != nil || w.Drift != nil {
		d.Errorf("a weight that is left to others: %v, %+v", w.Err, w.Drift)
	}
	if s := d.applier.Standing(d.Context(), order, nil); !s.InSync {
		d.Errorf("a route whose weight is left to others: %+v", s)
	}
}

func (d *desk) lostRace() {
	order := apply.Order{Object: d.route("race", "rules: [{path: /a, weight: 1}]")}
	d.mustWrite(order)
	races := 0
	order.Object = d.route("race", "host: new, rules: [{path: /a, weight: 2}]")
	order.Ignored = func(u *unstructured.Unstructured) []engine.Pointer {
		// Another client is faster, twice.
		if races++; races <= 2 {
			d.patch(order.Object, "rollouts", fmt.Sprintf(`{"spec":{"rules":[{"path":"/a","weight":%d}]}}`, 10*races))
		}
		return ignoring("/spec/rules/0/weight")(u)
	}
	live := d.mustWrite(order)
	d.want(live, map[string]any{"/spec/host": "new", "/spec/rules/0/weight": int64(20)})
	if races != 3 {
		d.Errorf("read %d times, want 3", races)
	}
}

func (d *desk) required() {
	order := apply.Order{Object: d.route("required", "host: a"), Ignored: ignoring("/spec/bootstrap")}
	live := d.mustWrite(order)
	d.want(live, map[string]any{"/spec/bootstrap/database": "app"})
	d.patch(order.Object, "operator", `{"spec":{"bootstrap":{"owner":"app"}}}`)
	order.Object = d.route("required", "host: b")
	order.Object.Object["spec"].(map[string]any)["bootstrap"] = map[string]any{"database": "other"}
	live = d.mustWrite(order)
	d.want(live, map[string]any{"/spec/host": "b", "/spec/bootstrap": map[string]any{"database": "app", "owner": "app"}})
}

func (d *desk) emptyParent() {
	order := apply.Order{Object: d.configMap("parent", "only: '1'"), Ignored: ignoring("/data/only")}
	d.mustWrite(order)
	d.patch(order.Object, "someone", `{"data":null}`)
	if live := d.mustWrite(order); d.at(live, "/data") != nil {
		d.Errorf("data came back: %v", d.at(live, "/data"))
	}
	d.patch(order.Object, "someone", `{"data":{"only":"2","more":"3"}}`)
	d.want(d.mustWrite(order), map[string]any{"/data": map[string]any{"only": "2", "more": "3"}})
}
