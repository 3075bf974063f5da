package differences

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/settings"
)

type items = []v1alpha1.ResourceIgnoreDifferences

// shown are fields as a test reads them: DESIRED = LIVE, with a minus sign where the field is not there, and types of lists.
func shown(fields []Field) []string {
	var all []string
	for _, f := range fields {
		side := func(path string, there bool) string {
			if !there {
				return "-" + path
			}
			return path
		}
		text := side(f.Desired.String(), f.InDesired) + " = " + side(f.Live.String(), f.InLive)
		for _, l := range f.Lists {
			text += " " + string(l.Type) + "[" + strings.Join(l.Keys, ",") + "]"
		}
		all = append(all, text)
	}
	return all
}

const deploymentDesired = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: ns}
spec:
  replicas: 2
  template:
    spec:
      containers:
      - {name: new, image: n:1}
      - {name: web, image: w:1, ports: [{containerPort: 80}]}
`

const deploymentLive = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: ns
  managedFields:
  - manager: argocd-controller
    operation: Apply
    fieldsType: FieldsV1
    fieldsV1:
      f:spec:
        f:replicas: {}
        f:template:
          f:spec:
            f:containers:
              k:{"name":"web"}:
                .: {}
                f:image: {}
                f:name: {}
                f:ports:
                  k:{"containerPort":80,"protocol":"TCP"}:
                    .: {}
                    f:containerPort: {}
  - manager: scaler
    operation: Update
    fieldsType: FieldsV1
    fieldsV1:
      f:spec:
        f:replicas: {}
        f:paused: {}
        f:template:
          f:spec:
            f:containers:
              k:{"name":"web"}:
                f:image: {}
                f:name: {}
spec:
  replicas: 5
  paused: true
  template:
    spec:
      containers:
      - {name: web, image: w:2, ports: [{containerPort: 80, protocol: TCP}]}
      - {name: sidecar, image: s:1}
`

func TestIgnored(t *testing.T) {
	pointers := func(p ...string) items { return items{{Group: "apps", Kind: "Deployment", JSONPointers: p}} }
	jq := func(p ...string) items {
		return items{{Group: "apps", Kind: "Deployment", JQPathExpressions: p}}
	}
	for name, tc := range map[string]struct {
		reason string
		rules  items
		want   []string
	}{
		"Pointer":      {"", pointers("/spec/replicas"), []string{"/spec/replicas = /spec/replicas"}},
		"OnlyLive":     {"", pointers("/spec/paused"), []string{"-/spec/paused = /spec/paused"}},
		"Nowhere":      {"", pointers("/spec/strategy", "/spec/replicas/x", "/spec/a/b"), nil},
		"Twice":        {"each field is once", pointers("/spec/replicas", "/spec/replicas"), []string{"/spec/replicas = /spec/replicas"}},
		"IndexByKey":   {"an index in one object is another one in the other", pointers("/spec/template/spec/containers/1/image"), []string{"/spec/template/spec/containers/1/image = /spec/template/spec/containers/0/image map[name]", "- = /spec/template/spec/containers/1/image map[name]"}},
		"NewElement":   {"", pointers("/spec/template/spec/containers/0/image"), []string{"/spec/template/spec/containers/0/image = - map[name]", "/spec/template/spec/containers/1/image = /spec/template/spec/containers/0/image map[name]"}},
		"AllElements":  {"", jq(".spec.template.spec.containers[].image"), []string{"/spec/template/spec/containers/0/image = - map[name]", "/spec/template/spec/containers/1/image = /spec/template/spec/containers/0/image map[name]", "- = /spec/template/spec/containers/1/image map[name]"}},
		"Selected":     {"", jq(`.spec.template.spec.containers[] | select(.name == "web") | .image`), []string{"/spec/template/spec/containers/1/image = /spec/template/spec/containers/0/image map[name]"}},
		"Comment":      {"", jq(".spec.replicas # the autoscaler's"), []string{"/spec/replicas = /spec/replicas"}},
		"Several":      {"", jq(".spec.replicas, .spec.paused"), []string{"/spec/replicas = /spec/replicas", "-/spec/paused = /spec/paused"}},
		"Slice":        {"", jq(".spec.template.spec.containers[-1:]"), []string{"/spec/template/spec/containers/1 = /spec/template/spec/containers/0 map[name]", "- = /spec/template/spec/containers/1 map[name]"}},
		"FromBehind":   {"", jq(".spec.template.spec.containers[-2].image"), []string{"/spec/template/spec/containers/0/image = - map[name]", "/spec/template/spec/containers/1/image = /spec/template/spec/containers/0/image map[name]"}},
		"DefaultedKey": {"a key with a default is known by the others", jq(".spec.template.spec.containers[].ports[]?.containerPort"), []string{"/spec/template/spec/containers/1/ports/0/containerPort = /spec/template/spec/containers/0/ports/0/containerPort map[name] map[containerPort,protocol]"}},
		"Stumbles":     {"a list that is missing is no error, and nothing of the expression holds there", jq(".spec.template.spec.containers[].env[].value"), nil},
		"Everything":   {"the object itself is no field", jq("."), nil},
		"Manager":      {"only fields that differ are a manager's", items{{Group: "apps", Kind: "Deployment", ManagedFieldsManagers: []string{"scaler"}}}, []string{"/spec/replicas = /spec/replicas", "/spec/template/spec/containers/1/image = /spec/template/spec/containers/0/image map[name]"}},
		"OtherManager": {"", items{{Group: "apps", Kind: "Deployment", ManagedFieldsManagers: []string{"nobody"}}}, nil},
		"Glob":         {"", items{{Group: "*", Kind: "Deploy*", JSONPointers: []string{"/spec/replicas"}}}, []string{"/spec/replicas = /spec/replicas"}},
		"OtherGroup":   {"", items{{Kind: "Deployment", JSONPointers: []string{"/spec/replicas"}}}, nil},
		"OtherName":    {"", items{{Group: "apps", Kind: "Deployment", Name: "db", JSONPointers: []string{"/spec/replicas"}}}, nil},
		"OtherPlace":   {"", items{{Group: "apps", Kind: "Deployment", Namespace: "x", JSONPointers: []string{"/spec/replicas"}}}, nil},
		"NamedAll":     {"", items{{Group: "apps", Kind: "Deployment", Namespace: "ns", Name: "web", JSONPointers: []string{"/spec/replicas"}}}, []string{"/spec/replicas = /spec/replicas"}},
	} {
		t.Run(name, func(t *testing.T) {
			rules, err := Compile(nil, tc.rules, nil)
			if err != nil {
				t.Fatal(err)
			}
			desired, live := object(t, deploymentDesired), object(t, deploymentLive)
			fields, err := rules.For(desired).Ignored(t.Context(), desired, live)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, shown(fields)); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
			if diff := cmp.Diff(object(t, deploymentLive), live); diff != "" {
				t.Errorf("the live object was changed: %s", diff)
			}
		})
	}
}

// An ignored part of a new object is a part of it: without, a database comes up empty.
func TestIgnoredOfNothing(t *testing.T) {
	rules, err := Compile(nil, items{{Group: "*", Kind: "*", JQPathExpressions: []string{".spec.bootstrap"}, JSONPointers: []string{"/spec/instances"}, ManagedFieldsManagers: []string{"m"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	desired := object(t, "{apiVersion: postgresql.cnpg.io/v1, kind: Cluster, metadata: {name: db}, spec: {instances: 1, bootstrap: {recovery: {source: backup}}}}")
	mine := rules.For(desired)
	fields, err := mine.Ignored(t.Context(), desired, nil)
	if err != nil || len(fields) != 0 {
		t.Errorf("of an object that is not there %v is ignored, %v", shown(fields), err)
	}
	found, err := Comparison{Rules: mine}.Compare(t.Context(), desired, nil, nil)
	if diff := cmp.Diff([]Difference{{}}, found); diff != "" || err != nil {
		t.Errorf("an object that is not there differs as a whole: %s, %v", diff, err)
	}
	// Where the object is there, and the field is not, both sides are named, so that it can be made.
	live := object(t, "{apiVersion: postgresql.cnpg.io/v1, kind: Cluster, metadata: {name: db}, spec: {instances: 3}}")
	fields, err = mine.Ignored(t.Context(), desired, live)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/spec/instances = /spec/instances", "/spec/bootstrap = -/spec/bootstrap"}, shown(fields)); diff != "" {
		t.Error(diff)
	}
}

const routeLive = `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: r
  managedFields:
  - manager: argocd-controller
    operation: Apply
    fieldsType: FieldsV1
    fieldsV1: {"f:spec": {"f:parentRefs": {}, "f:rules": {}}}
spec:
  parentRefs:
  - {group: gateway.networking.k8s.io, kind: Gateway, name: a}
  - {group: gateway.networking.k8s.io, kind: Gateway, name: b}
  rules:
  - backendRefs:
    - {group: "", kind: Service, name: web, port: 80, weight: 20}
`

const routeDesired = `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: r}
spec:
  parentRefs: [{name: a}, {name: b}]
  rules: [{backendRefs: [{name: web, port: 80, weight: 1}]}]
`

func TestIgnoredInAtomicLists(t *testing.T) {
	desired, live := object(t, routeDesired), object(t, routeLive)
	for name, tc := range map[string]struct {
		reason, expression string
		want               []string
	}{
		"Defaults": {"what the API server filled in is the live object's", ".spec.parentRefs[].group", []string{
			"-/spec/parentRefs/0/group = /spec/parentRefs/0/group atomic[]", "-/spec/parentRefs/1/group = /spec/parentRefs/1/group atomic[]",
		}},
		"Weights":  {"", ".spec.rules[].backendRefs[].weight", []string{"/spec/rules/0/backendRefs/0/weight = /spec/rules/0/backendRefs/0/weight atomic[] []"}},
		"InOrder":  {"one on each side belongs together", `.spec.parentRefs[] | select(.name == "b") | .kind`, []string{"-/spec/parentRefs/1/kind = /spec/parentRefs/1/kind atomic[]"}},
		"OneSided": {"what the rule names on one side only stays there", `.spec.parentRefs[] | select(.kind == "Gateway") | .name`, []string{"- = /spec/parentRefs/0/name atomic[]", "- = /spec/parentRefs/1/name atomic[]"}},
	} {
		t.Run(name, func(t *testing.T) {
			rules, err := Compile(nil, items{{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute", JQPathExpressions: []string{tc.expression}}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			fields, err := rules.For(live).Ignored(t.Context(), desired, live)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, shown(fields)); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
			for _, f := range fields {
				if l, atomic := f.Atomic(); !atomic || l.Depth != 2 {
					t.Errorf("%s lies in %+v, %v, want an atomic list at depth 2", f.Live, l, atomic)
				}
			}
		})
	}
}

func TestIgnoredMovedInAtomicList(t *testing.T) {
	desired := object(t, strings.Replace(routeDesired, "{name: a}, {name: b}", "{name: b, sectionName: x}, {name: a}", 1))
	rules, err := Compile(nil, items{{Group: "*", Kind: "*", JQPathExpressions: []string{`.spec.parentRefs[] | select(.name == "b") | .sectionName`}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	fields, err := rules.For(desired).Ignored(t.Context(), desired, object(t, routeLive))
	if diff := cmp.Diff([]string{"/spec/parentRefs/0/sectionName = -/spec/parentRefs/1/sectionName atomic[]"}, shown(fields)); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestIgnoredInSet(t *testing.T) {
	live := object(t, `{apiVersion: v1, kind: Service, metadata: {name: s, finalizers: [x, a], managedFields: [{manager: m, operation: Update, fieldsType: FieldsV1, fieldsV1: {"f:metadata": {"f:finalizers": {".": {}, 'v:"a"': {}}}}}]}}`)
	desired := object(t, "{apiVersion: v1, kind: Service, metadata: {name: s, finalizers: [a]}}")
	rules, err := Compile(nil, items{{Kind: "Service", JQPathExpressions: []string{`.metadata.finalizers[]`}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	fields, err := rules.For(desired).Ignored(t.Context(), desired, live)
	want := []string{"/metadata/finalizers/0 = /metadata/finalizers/1 set[]", "- = /metadata/finalizers/0 set[]"}
	if diff := cmp.Diff(want, shown(fields)); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestCustomizations(t *testing.T) {
	rules, err := Compile(nil, nil, map[string]settings.Customization{
		"*/*":             {IgnoreDifferences: settings.Ignore{ManagedFieldsManagers: []string{"scaler"}}},
		"apps/Deployment": {IgnoreDifferences: settings.Ignore{JSONPointers: []string{"/spec/paused"}}},
		"Deployment":      {IgnoreDifferences: settings.Ignore{JSONPointers: []string{"/metadata/name"}}},
		"batch/Job":       {Health: "return {}"},
	})
	if err != nil {
		t.Fatal(err)
	}
	desired, live := object(t, deploymentDesired), object(t, deploymentLive)
	fields, err := rules.For(desired).Ignored(t.Context(), desired, live)
	want := []string{"-/spec/paused = /spec/paused", "/spec/replicas = /spec/replicas", "/spec/template/spec/containers/1/image = /spec/template/spec/containers/0/image map[name]"}
	if diff := cmp.Diff(want, shown(fields)); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if !rules.For(object(t, "{apiVersion: v1, kind: Service, metadata: {name: s}}")).managersOnly() {
		t.Error("rules of a kind hold for another one")
	}
}

func (r ObjectRules) managersOnly() bool {
	return len(r.managers) == 1 && len(r.pointers) == 0 && len(r.expressions) == 0
}

func TestBadRules(t *testing.T) {
	rules, err := Compile(nil, items{
		{Kind: "Secret", JSONPointers: []string{"data", "/data/a"}, JQPathExpressions: []string{".data[", ".a) | (.b", "nope(.a)", "$x", ""}},
		{Kind: "["},
		{Kind: "*", Group: "["},
	}, map[string]settings.Customization{"apps/Deployment": {IgnoreDifferences: settings.Ignore{JQPathExpressions: []string{"|"}}}, "*/*": {IgnoreDifferences: settings.Ignore{JSONPointers: []string{""}}}})
	var got []string
	for _, line := range strings.Split(message(err), "\n") {
		field, _, _ := strings.Cut(line, ": ")
		got = append(got, field)
	}
	want := []string{
		"spec.ignoreDifferences[0].jqPathExpressions[0]", "spec.ignoreDifferences[0].jqPathExpressions[1]",
		"spec.ignoreDifferences[0].jqPathExpressions[2]", "spec.ignoreDifferences[0].jqPathExpressions[3]", "spec.ignoreDifferences[0].jqPathExpressions[4]",
		"spec.ignoreDifferences[1].kind", "spec.ignoreDifferences[2].group",
		"resource.customizations.ignoreDifferences.apps_Deployment.jqPathExpressions[0]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	ineffective := []string{
		`spec.ignoreDifferences[0].jsonPointers[0]: JSON pointer "data" must start with /`,
		`resource.customizations.ignoreDifferences.all.jsonPointers[0]: JSON pointer "" must start with /`,
	}
	if diff := cmp.Diff(ineffective, rules.Ineffective()); diff != "" {
		t.Error(diff)
	}
	secret := object(t, "{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {a: aGk=}}")
	fields, err := rules.For(secret).Ignored(t.Context(), secret, secret)
	if diff := cmp.Diff([]string{"/data/a = /data/a"}, shown(fields)); diff != "" || err != nil {
		t.Errorf("the rules that are good do not hold: %s, %v", diff, err)
	}
}

func TestExpressionsThatFail(t *testing.T) {
	secret := object(t, "{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {password: aHVudGVyMg==}}")
	for name, tc := range map[string]struct {
		expression, want string
	}{
		"Endless": {"last(repeat(.data))", "JQ patch execution timed out (1s)"},
		"NoPath":  {".data | tojson", "computes values but selects no fields"},
		"Many":    {"range(20000) as $i | .data[\"a\\($i)\"]", "selects more than 10000 fields"},
		"Silent":  {".data.password.x", ""},
		"Halted":  {"halt_error", ""},
		"Own":     {`error("x")`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			rules, err := Compile(nil, items{{Kind: "Secret", JQPathExpressions: []string{tc.expression}, JSONPointers: []string{"/data/password"}}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			fields, err := rules.For(secret).Ignored(t.Context(), secret, secret)
			got := message(err)
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) || strings.Contains(got, "aHVudGVyMg") || strings.Contains(got, "\n") {
				t.Errorf("got %q, want %q once", got, tc.want)
			}
			if tc.want != "" && !strings.HasPrefix(got, "spec.ignoreDifferences[0].jqPathExpressions[0]: ") {
				t.Errorf("%q names no field", got)
			}
			if diff := cmp.Diff([]string{"/data/password = /data/password"}, shown(fields)); diff != "" {
				t.Errorf("the other rule does not hold: %s", diff)
			}
		})
	}
}

func TestExpressionEndsWithItsContext(t *testing.T) {
	rules, err := Compile(nil, items{{Kind: "Secret", JQPathExpressions: []string{"last(repeat(.data))"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	cancel()
	secret := object(t, "{apiVersion: v1, kind: Secret, metadata: {name: s}}")
	if _, err = rules.For(secret).Strip(ctx, secret); !strings.Contains(message(err), "context canceled") {
		t.Errorf("got %v", err)
	}
}
