package differences

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/argo/settings"
)

// listed are differences as a test reads them, with a minus sign before a field that would go.
func listed(found []Difference) []string {
	var all []string
	for _, d := range found {
		text := d.Path.String()
		if d.Gone {
			text = "-" + text
		}
		all = append(all, text)
	}
	return all
}

const managedByUs = `
  managedFields:
  - {manager: argocd-controller, operation: Apply, fieldsType: FieldsV1, fieldsV1: {"f:metadata": {"f:labels": {".": {}, "f:a": {}}}, "f:spec": {"f:replicas": {}, "f:old": {}, "f:containers": {'k:{"name":"web"}': {".": {}, "f:image": {}}}, "f:routes": {}}}}
  - {manager: injector, operation: Update, fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:injected": {}, "f:containers": {'k:{"name":"sidecar"}': {".": {}, "f:image": {}}}}}}
`

func TestComparePrediction(t *testing.T) {
	const head = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n"
	for name, tc := range map[string]struct {
		reason          string
		predicted, live string
		compare         Comparison
		rules           items
		want            []string
	}{
		"Same": {"what the API server writes by itself is no difference", `
  resourceVersion: "1"
  generation: 1
  uid: a
  creationTimestamp: "2026-01-01T00:00:00Z"
  annotations: {kubectl.kubernetes.io/last-applied-configuration: a}
spec: {replicas: 1}
`, `
  resourceVersion: "2"
  generation: 2
  uid: b
  labels: {}
spec: {replicas: 1}
`, Comparison{}, nil, nil},
		"Changed":      {"", "spec: {replicas: 1}", "spec: {replicas: 2}", Comparison{}, nil, []string{"/spec/replicas"}},
		"Added":        {"", "spec: {replicas: 1, paused: true}", "spec: {replicas: 1}", Comparison{}, nil, []string{"/spec/paused"}},
		"Gone":         {"", "spec: {replicas: 1}", "spec: {replicas: 1, paused: true}", Comparison{}, nil, []string{"-/spec/paused"}},
		"OtherType":    {"", "spec: {replicas: {a: 1}}", "spec: {replicas: [1]}", Comparison{}, nil, []string{"/spec/replicas"}},
		"Numbers":      {"", "spec: {replicas: 1.0}", "spec: {replicas: 1}", Comparison{}, nil, nil},
		"Status":       {"", "status: {a: 1}", "status: {a: 2}", Comparison{Settings: settings.Compare{IgnoreStatus: settings.IgnoreStatusOfAll}}, nil, nil},
		"StatusOfCRDs": {"", "status: {a: 1}", "status: {a: 2}", Comparison{Settings: settings.Compare{IgnoreStatus: settings.IgnoreStatusOfDefinitions}}, nil, []string{"/status/a"}},
		"StatusToo":    {"", "status: {a: 1}", "status: {a: 2}", Comparison{Settings: settings.Compare{IgnoreStatus: settings.IgnoreStatusOfNone}}, nil, []string{"/status/a"}},
		"Ignored":      {"", "spec: {replicas: 1, paused: true}", "spec: {replicas: 2}", Comparison{}, items{{Group: "apps", Kind: "Deployment", JSONPointers: []string{"/spec/replicas"}}}, []string{"/spec/paused"}},
		"IgnoredElement": {
			"whole elements may differ", "spec: {l: [{a: x}, {a: y, v: 1}]}", "spec: {l: [{a: y, v: 1}]}",
			Comparison{},
			items{{Group: "apps", Kind: "Deployment", JQPathExpressions: []string{`.spec.l[] | select(.a == "x")`}}},
			nil,
		},
		"IgnoredManager": {
			"", "spec: {replicas: 1, injected: 1}", managedByUs + "spec: {replicas: 2, injected: 2}",
			Comparison{},
			items{{Group: "*", Kind: "*", ManagedFieldsManagers: []string{"injector"}}},
			[]string{"/spec/replicas"},
		},
		"KeyedList": {
			"elements are known by their keys", "spec: {containers: [{name: new, image: a}, {name: web, image: b}]}",
			managedByUs + "spec: {containers: [{name: web, image: c}, {name: sidecar, image: d}]}",
			Comparison{},
			nil,
			[]string{"/spec/containers/0", "/spec/containers/1/image", "-/spec/containers/1"},
		},
		"Order":         {"", "spec: {containers: [{name: a}, {name: web}]}", managedByUs + "spec: {containers: [{name: web}, {name: a}]}", Comparison{}, nil, []string{"/spec/containers"}},
		"AtomicList":    {"", "spec: {routes: [1, 2]}", managedByUs + "spec: {routes: [1]}", Comparison{}, nil, []string{"/spec/routes"}},
		"AtomicElement": {"", "spec: {routes: [{a: 1}]}", managedByUs + "spec: {routes: [{a: 2}]}", Comparison{Manager: "argocd-controller"}, nil, []string{"/spec/routes/0/a"}},
		"Webhook": {
			"what a webhook changes at every write is none of ours", "spec: {replicas: 1, injected: 7, containers: [{name: web, image: a}, {name: sidecar, image: x}]}\n",
			managedByUs + "  labels: {a: b}\nspec: {replicas: 1, injected: 8, containers: [{name: web, image: a}, {name: sidecar, image: y}]}",
			Comparison{Manager: "argocd-controller"},
			nil,
			[]string{"-/metadata/labels"},
		},
		"WebhookCounts": {"", "spec: {injected: 7}", managedByUs + "spec: {injected: 8}", Comparison{}, nil, []string{"/spec/injected"}},
		"WebhookLabel":  {"a label beside ours is none of ours", "  labels: {a: b, t: '1'}", managedByUs + "  labels: {a: b, t: '2'}", Comparison{Manager: "argocd-controller"}, nil, nil},
		"OursGoes":      {"what we had goes with the source", "spec: {replicas: 1}", managedByUs + "spec: {replicas: 1, old: 1}", Comparison{Manager: "argocd-controller"}, nil, []string{"-/spec/old"}},
	} {
		t.Run(name, func(t *testing.T) {
			predicted, live := object(t, head+tc.predicted), object(t, head+tc.live)
			rules, err := Compile(nil, tc.rules, nil)
			if err != nil {
				t.Fatal(err)
			}
			tc.compare.Rules = rules.For(live)
			found, err := tc.compare.Compare(t.Context(), predicted, predicted, live)
			if diff := cmp.Diff(tc.want, listed(found)); diff != "" || err != nil {
				t.Errorf("%s: %s %v", tc.reason, diff, err)
			}
			if diff := cmp.Diff([]any{object(t, head+tc.predicted), object(t, head+tc.live)}, []any{predicted, live}); diff != "" {
				t.Errorf("an object was changed: %s", diff)
			}
		})
	}
}

func TestCompareStructure(t *testing.T) {
	const deployment = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web"
	for name, tc := range map[string]struct {
		reason        string
		desired, live string
		want          []string
	}{
		"Defaults":      {"what only the live object has is no difference", deployment + "}, spec: {replicas: 1}}", deployment + ", uid: a}, spec: {replicas: 1, paused: false}}", nil},
		"OtherVersion":  {"", deployment + "}}", "{apiVersion: apps/v1beta1, kind: Deployment, metadata: {name: web}}", nil},
		"Changed":       {"", deployment + "}, spec: {replicas: 1}}", deployment + "}, spec: {replicas: 2}}", []string{"/spec/replicas"}},
		"Missing":       {"", deployment + "}, spec: {a: {b: c}}}", deployment + "}}", []string{"/spec"}},
		"MissingLeaf":   {"", deployment + "}, spec: {a: {b: c}}}", deployment + "}, spec: {a: {}}}", []string{"/spec/a/b"}},
		"Empty":         {"the API server drops what is empty", deployment + ", annotations: null, creationTimestamp: null}, spec: {a: {}, b: [], c: null, d: {e: {}}}}", deployment + "}}", nil},
		"Quantity":      {"", deployment + "}, spec: {resources: {limits: {cpu: 0.5, memory: 1024Mi}, requests: {cpu: 1}}}}", deployment + "}, spec: {resources: {limits: {cpu: 500m, memory: 1Gi}, requests: {cpu: '1'}}}}", nil},
		"OtherQuantity": {"", deployment + "}, spec: {resources: {limits: {cpu: 600m}}}}", deployment + "}, spec: {resources: {limits: {cpu: 500m}}}}", []string{"/spec/resources/limits/cpu"}},
		"OwnQuantity":   {"", deployment + "}, spec: {memory: 1024Mi, after: 1h}}", deployment + "}, spec: {memory: 1Gi, after: 60m0s}}", nil},
		"NotKnown":      {"", deployment + "}, spec: {size: 1024Mi, after: 1h}}", deployment + "}, spec: {size: 1Gi, after: 61m}}", []string{"/spec/after", "/spec/size"}},
		"NoQuantity":    {"texts of users are texts", "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {limits: 1024Mi}}", "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {limits: 1Gi}}", []string{"/data/limits"}},
		"ShortList":     {"", deployment + "}, spec: {args: [a]}}", deployment + "}, spec: {args: [a, b]}}", []string{"/spec/args"}},
		"Element":       {"", deployment + "}, spec: {args: [a, c]}}", deployment + "}, spec: {args: [a, b]}}", []string{"/spec/args/1"}},
		"NoList":        {"", deployment + "}, spec: {args: [a]}}", deployment + "}, spec: {args: {a: b}}}", []string{"/spec/args"}},
		"StringData":    {"", "{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {a: hello}}", "{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {a: aGVsbG8=, b: eA==}}", nil},
		"StringWins":    {"", "{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {a: eA==}, stringData: {a: hello}}", "{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {a: eA==}}", []string{"/data/a"}},
		"BrokenLines":   {"", "{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {a: \"aGVs\\nbG8=\\n\"}}", "{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {a: aGVsbG8=}}", nil},
		"NoBase64":      {"", "{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {a: '%'}}", "{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {a: aGVsbG8=}}", []string{"/data/a"}},
		"Aggregated": {
			"", "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}, aggregationRule: {clusterRoleSelectors: [{}]}, rules: [{verbs: [get]}]}",
			"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}, aggregationRule: {clusterRoleSelectors: [{}]}, rules: [{verbs: [list]}, {verbs: [get]}]}", nil,
		},
		"Ignored": {"", deployment + "}, spec: {ignored: 1}}", deployment + "}, spec: {ignored: 2}}", nil},
	} {
		t.Run(name, func(t *testing.T) {
			desired, live := object(t, tc.desired), object(t, tc.live)
			rules, err := Compile(nil, items{{Group: "*", Kind: "*", JSONPointers: []string{"/spec/ignored"}}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			known := map[string]settings.Customization{"apps/Deployment": {KnownTypeFields: []settings.KnownTypeField{
				{Field: "spec.memory", Type: "core/Quantity"}, {Field: "spec.after", Type: "meta/v1/Duration"},
			}}}
			c := Comparison{Settings: settings.Compare{IgnoreAggregatedRoles: true}, Rules: rules.For(desired), KnownTypes: KnownTypes(known, desired)}
			found, err := c.Compare(t.Context(), desired, nil, live)
			if diff := cmp.Diff(tc.want, listed(found)); diff != "" || err != nil {
				t.Errorf("%s: %s %v", tc.reason, diff, err)
			}
			if diff := cmp.Diff([]any{object(t, tc.desired), object(t, tc.live)}, []any{desired, live}); diff != "" {
				t.Errorf("an object was changed: %s", diff)
			}
		})
	}
}

func TestStructureByKeys(t *testing.T) {
	desired, live := object(t, deploymentDesired), object(t, deploymentLive)
	found, err := Comparison{}.Compare(t.Context(), desired, nil, live)
	want := []string{"/spec/replicas", "/spec/template/spec/containers/0", "/spec/template/spec/containers/1/image"}
	if diff := cmp.Diff(want, listed(found)); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// A route whose defaults the API server filled in is in sync, with the rule that users write against them and without.
func TestRouteWithDefaults(t *testing.T) {
	live := object(t, routeLive)
	predicted := live.DeepCopy()
	rules, err := Compile(nil, items{{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute", JQPathExpressions: []string{".spec.parentRefs[].group", ".spec.parentRefs[].kind"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []Comparison{{}, {Rules: rules.For(live)}, {Rules: rules.For(live), Manager: "argocd-controller"}} {
		found, err := c.Compare(t.Context(), object(t, routeDesired), predicted, live)
		if len(found) > 0 || err != nil {
			t.Errorf("got %v, %v", listed(found), err)
		}
	}
	// A parent that changed is a difference nevertheless.
	moved := object(t, strings.Replace(routeLive, "name: b", "name: c", 1))
	found, err := Comparison{Rules: rules.For(live), Manager: "argocd-controller"}.Compare(t.Context(), object(t, routeDesired), moved, live)
	if diff := cmp.Diff([]string{"/spec/parentRefs/1/name"}, listed(found)); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestStrip(t *testing.T) {
	u := object(t, "{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {a: 1, l: [{v: 0}, {v: 1}, {v: 2}, {v: 3}], m: {k: {x: 1, y: 2}}}}")
	for name, tc := range map[string]struct {
		reason   string
		pointers []string
		jq       []string
		want     string
	}{
		"Nothing":  {"", nil, nil, "{a: 1, l: [{v: 0}, {v: 1}, {v: 2}, {v: 3}], m: {k: {x: 1, y: 2}}}"},
		"Field":    {"", []string{"/spec/m/k/x", "/spec/gone/x", "/spec/a/b"}, nil, "{a: 1, l: [{v: 0}, {v: 1}, {v: 2}, {v: 3}], m: {k: {y: 2}}}"},
		"Elements": {"elements go together, though each moves the others", []string{"/spec/l/0", "/spec/l/9"}, []string{".spec.l[1:3]"}, "{a: 1, l: [{v: 3}], m: {k: {x: 1, y: 2}}}"},
		"Within":   {"an element may go with a field of it", nil, []string{".spec.l[].v", ".spec.l[2]"}, "{a: 1, l: [{}, {}, {}], m: {k: {x: 1, y: 2}}}"},
	} {
		t.Run(name, func(t *testing.T) {
			rules, err := Compile(nil, items{{Kind: "Service", JSONPointers: tc.pointers, JQPathExpressions: tc.jq}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			stripped, err := rules.For(u).Strip(t.Context(), u)
			if err != nil {
				t.Fatal(err)
			}
			want := object(t, "{apiVersion: v1, kind: Service, metadata: {name: s}, spec: "+tc.want+"}")
			if diff := cmp.Diff(want, stripped); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
		})
	}
}
