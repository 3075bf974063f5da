package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/engine"
)

func (d *desk) clientSide() {
	const annotation = "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration"
	order := apply.Order{Object: d.deployment("client", "  replicas: 2\n  paused: true", image), Mode: apply.ClientSide}
	w := d.write(order)
	if w.Err != nil || w.Action != engine.Create || d.at(w.Object, annotation) == nil {
		d.Fatalf("%v, %s, annotation %v", w.Err, w.Action, d.at(w.Object, annotation))
	}
	if !owns(w.Object, argoManager, metav1.ManagedFieldsOperationUpdate, "f:replicas") {
		d.Error("the fields are not owned by an update of ours")
	}
	d.patch(order.Object, "someone", `{"metadata":{"labels":{"theirs":"yes"}},"spec":{"minReadySeconds":3}}`)
	order.Object = d.deployment("client", "  replicas: 4", image)
	if s := d.applier.Standing(d.Context(), order, nil); s.InSync || !slices.Contains(s.Fields, "spec.paused") {
		d.Errorf("before the write: %+v", s)
	}
	live := d.mustWrite(order)
	d.want(live, map[string]any{"/spec/replicas": int64(4), "/spec/paused": nil, "/spec/minReadySeconds": int64(3), "/metadata/labels/theirs": "yes"})
	order.Fresh = true
	if w := d.write(order); w.Err != nil || w.Action != engine.Unchanged {
		d.Errorf("a second write: %v, %s", w.Err, w.Action)
	}
	if s := d.applier.Standing(d.Context(), order, nil); !s.InSync {
		d.Errorf("after the write: %+v", s)
	}
}

func (d *desk) clientSideIgnored() {
	order := apply.Order{Object: d.deployment("clientignored", "  replicas: 2", image), Mode: apply.ClientSide, Ignored: ignoring("/spec/replicas")}
	d.want(d.mustWrite(order), map[string]any{"/spec/replicas": int64(2)})
	d.patch(order.Object, "autoscaler", `{"spec":{"replicas":6}}`)
	order.Object = d.deployment("clientignored", "  replicas: 3\n  minReadySeconds: 1", image)
	d.want(d.mustWrite(order), map[string]any{"/spec/replicas": int64(6), "/spec/minReadySeconds": int64(1)})
	order.Object = d.deployment("clientignored", "", image)
	d.want(d.mustWrite(order), map[string]any{"/spec/replicas": int64(6)})
}

func (d *desk) clientSideCustom() {
	order := apply.Order{Object: d.route("custom", "host: a, hosts: [a, b]"), Mode: apply.ClientSide}
	d.mustWrite(order)
	order.Object = d.route("custom", "hosts: [c]")
	live := d.mustWrite(order)
	d.want(live, map[string]any{"/spec/host": nil, "/spec/hosts": []any{"c"}, "/spec/bootstrap/database": "app"})
}

// largeCRD is a definition of some 600 KB, by its descriptions.
func (d *desk) largeCRD() *unstructured.Unstructured {
	d.Helper()
	u := d.parse("%s", strings.NewReplacer("routes.example.com", "larges.example.com", "kind: Route,", "kind: Large,", "plural: routes, singular: route, listKind: RouteList", "plural: larges, singular: large, listKind: LargeList").Replace(routeCRD))
	versions, _, _ := unstructured.NestedSlice(u.Object, "spec", "versions")
	properties, _ := engine.Pointer{"schema", "openAPIV3Schema", "properties", "spec", "properties"}.Lookup(versions[0])
	for i := range 600 {
		properties.(map[string]any)[fmt.Sprintf("field%d", i)] = map[string]any{"type": "string", "description": strings.Repeat("long ", 200)}
	}
	if err := unstructured.SetNestedSlice(u.Object, versions, "spec", "versions"); err != nil {
		d.Fatal(err)
	}
	return u
}

func (d *desk) tooLarge() {
	order := apply.Order{Object: d.largeCRD(), Mode: apply.ClientSide}
	w := d.write(order)
	if w.Err != nil || !strings.Contains(w.Message, "server-side") || !owns(w.Object, argoManager, metav1.ManagedFieldsOperationApply, "f:spec") {
		d.Fatalf("%v, message %q", w.Err, w.Message)
	}
	order.Fresh, order.Mode = true, apply.ServerSide
	d.until("a write changes nothing", func() bool {
		w := d.write(order)
		return w.Err == nil && w.Message == "" && w.Action == engine.Unchanged
	})
}

func (d *desk) replace() {
	order := apply.Order{Object: d.configMap("replaced", "a: '1'"), Mode: apply.Replace}
	first := d.mustWrite(order)
	d.patch(order.Object, "someone", `{"data":{"theirs":"1","kept":"2"}}`)
	order.Object, order.Ignored = d.configMap("replaced", "a: '2', kept: '0'"), ignoring("/data/kept")
	live := d.mustWrite(order)
	d.want(live, map[string]any{"/data": map[string]any{"a": "2", "kept": "2"}, "/metadata/uid": string(first.GetUID())})
}

func (d *desk) replaceForced() {
	order := apply.Order{Object: d.configMap("forced", "a: '1'"), Mode: apply.Replace, Force: true}
	first := d.mustWrite(order)
	order.Object = d.configMap("forced", "a: '2'")
	live := d.recreated(order, first)
	d.want(live, map[string]any{"/data/a": "2"})
	if w := d.write(order); w.Action != engine.Unchanged || w.Wait != nil {
		d.Errorf("written again: %s, %v", w.Action, w.Wait)
	}
}

// recreated writes until the object is another one.
func (d *desk) recreated(order apply.Order, first *unstructured.Unstructured) *unstructured.Unstructured {
	d.Helper()
	w := d.write(order)
	if w.Wait == nil || w.Wait.What != apply.ObjectGone {
		d.Fatalf("the first write: %v, %s, %+v", w.Err, w.Action, w.Wait)
	}
	d.until("the object goes", func() bool {
		w = d.write(order)
		return w.Wait == nil
	})
	if w.Err != nil || w.Action != engine.Create || w.Object.GetUID() == first.GetUID() {
		d.Fatalf("the last write: %v, %s", w.Err, w.Action)
	}
	return w.Object
}

func (d *desk) precious() {
	order := apply.Order{Object: d.parse("{apiVersion: v1, kind: Namespace, metadata: {name: precious, labels: {a: x}}}"), Mode: apply.Replace, Force: true}
	first := d.mustWrite(order)
	order.Object = d.parse("{apiVersion: v1, kind: Namespace, metadata: {name: precious, labels: {a: z}}}")
	live := d.mustWrite(order)
	d.want(live, map[string]any{"/metadata/labels/a": "z", "/metadata/uid": string(first.GetUID())})
	crd := apply.Order{Object: d.largeCRD(), Mode: apply.Replace, Force: true}
	crd.Object.SetName("precious.example.com")
	for _, field := range []string{"plural", "singular", "kind", "listKind"} {
		value := map[string]string{"plural": "precious", "singular": "preciou", "kind": "Preciou", "listKind": "PreciouList"}[field]
		if err := unstructured.SetNestedField(crd.Object.Object, value, "spec", "names", field); err != nil {
			d.Fatal(err)
		}
	}
	first = d.mustWrite(crd)
	crd.Fresh = true
	if live := d.mustWrite(crd); live.GetUID() != first.GetUID() {
		d.Error("the definition was recreated")
	}
	d.until("the kind is served, whose scope cannot change from then on", func() bool {
		_, ok := d.cluster.Kinds.Lookup(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Preciou"})
		return ok
	})
	crd.Mode = apply.ServerSide
	if err := unstructured.SetNestedField(crd.Object.Object, "Cluster", "spec", "scope"); err != nil {
		d.Fatal(err)
	}
	if w := d.write(crd); w.Err == nil || !strings.Contains(w.Err.Error(), "spec.scope") || !strings.Contains(w.Err.Error(), "never deleted") {
		d.Errorf("another scope: %v, %+v", w.Err, w.Wait)
	}
}

func (d *desk) claim(size, source string) *unstructured.Unstructured {
	d.Helper()
	return d.parse(`
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: claim, namespace: default}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: %s}}
  dataSourceRef: {kind: PersistentVolumeClaim, name: %s}`, size, source)
}

func (d *desk) immutable() {
	order := apply.Order{Object: d.claim("1Gi", "first")}
	first := d.mustWrite(order)
	d.until("the claim is bound", func() bool { return d.at(d.get(order.Object), "/status/phase") == "Bound" })
	d.seen(d.get(order.Object))
	order.Object = d.claim("1Gi", "second")
	s := d.applier.Standing(d.Context(), order, nil)
	var oe *apply.ObjectError
	if s.InSync || s.Err != nil || !errors.As(s.Refused, &oe) || !strings.Contains(s.Refused.Error(), "spec: ") || !strings.Contains(s.Refused.Error(), "Replace=true,Force=true") || strings.Contains(s.Refused.Error(), "\n") {
		d.Errorf("the standing: %+v", s)
	}
	if again := d.applier.Standing(d.Context(), order, nil); !again.Known || again.Refused == nil || d.applier.Drifted(oe.ID) {
		d.Errorf("the standing, asked for again: %+v", again)
	}
	w := d.write(order)
	if w.Wait != nil || !errors.As(w.Err, &oe) || !strings.Contains(w.Err.Error(), "argocd.argoproj.io/sync-options: Replace=true,Force=true") {
		d.Errorf("the write: %v, %+v", w.Err, w.Wait)
	}
	order.Ignored = ignoring("/spec/dataSourceRef", "/spec/dataSource")
	order.Digest = "ignoring"
	if s := d.applier.Standing(d.Context(), order, nil); !s.InSync {
		d.Errorf("an immutable field that is ignored: %+v", s)
	}
	if live := d.mustWrite(order); live.GetUID() != first.GetUID() {
		d.Error("the claim was recreated")
	}
}

func (d *desk) immutableForced() {
	immutable := func(a string) *unstructured.Unstructured {
		u := d.configMap("immutable", "a: '"+a+"'")
		u.Object["immutable"] = true
		return u
	}
	for _, mode := range []apply.WriteMode{apply.ServerSide, apply.ClientSide} {
		order := apply.Order{Object: immutable(fmt.Sprint(mode)), Mode: mode, Force: true, Propagation: metav1.DeletePropagationBackground, Fresh: true}
		first := d.mustWrite(apply.Order{Object: order.Object, Mode: mode})
		order.Object = immutable("changed")
		if s := d.applier.Standing(d.Context(), order, nil); s.InSync || s.Refused != nil || len(s.Fields) == 0 {
			d.Errorf("the standing in mode %d: %+v", mode, s)
		}
		live := d.recreated(order, first)
		d.want(live, map[string]any{"/data/a": "changed"})
		if err := d.client(live).Delete(d.Context(), live.GetName(), metav1.DeleteOptions{}); err != nil {
			d.Fatal(err)
		}
	}
}

func (d *desk) noDryRun() {
	order := apply.Order{Object: d.configMap("untried", "a: '1'")}
	d.mustWrite(order)
	order.Object = d.configMap("untried", "a: '2'")
	if s := d.applier.Standing(d.Context(), order, nil); s.InSync || s.Refused != nil || !slices.Equal(s.Fields, []string{"data.a"}) {
		d.Errorf("another value: %+v", s)
	}
	order.Ignored, order.Digest = ignoring("/data/a"), "ignoring"
	if s := d.applier.Standing(d.Context(), order, nil); !s.InSync {
		d.Errorf("a value that is ignored: %+v", s)
	}
}
