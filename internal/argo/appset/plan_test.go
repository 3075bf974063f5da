package appset

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// everything permits everything.
func everything() PlanOptions {
	return PlanOptions{Policy: Policy{Update: true, Delete: true}, Managers: []string{"headgate"}, Now: now}
}

// planSpec gives one Application of each name.
func planSpec(more string, names ...string) string {
	var elements []string
	for _, name := range names {
		elements = append(elements, "{name: "+name+"}")
	}
	return `{generators: [{list: {elements: [` + strings.Join(elements, ", ") + `]}}], ` + more +
		`template: {metadata: {name: '{{name}}', labels: {l: new}}, spec: {project: p, source: {repoURL: r, path: '{{name}}'}, destination: {name: c}, syncPolicy: {automated: {}}}}}`
}

// liveApp is an Application of the set as it was made by the same template, with more fields on top.
func liveApp(t *testing.T, name, more string) *unstructured.Unstructured {
	t.Helper()
	o := objectOf(t, fmt.Sprintf(`
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: %[1]s
  namespace: argocd
  uid: uid-%[1]s
  labels: {l: new}
  finalizers: [resources-finalizer.argocd.argoproj.io]
  ownerReferences: [{apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, name: apps, uid: u-1, controller: true, blockOwnerDeletion: true}]
spec: {project: p, source: {repoURL: r, path: %[1]s}, destination: {name: c}, syncPolicy: {automated: {}}}
status: {health: {status: Healthy}}`, name))
	merged, err := strategicMerge(o.Object, objectOf(t, "{"+more+"}").Object)
	if err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: merged}
}

func planOf(t *testing.T, set *Set, existing []*unstructured.Unstructured, options PlanOptions) Plan {
	t.Helper()
	made, err := Generate(t.Context(), set, known{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := MakePlan(t.Context(), set, made, existing, options)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func TestPlanSame(t *testing.T) {
	cases := map[string]struct{ reason, more string }{
		"Same":        {"nothing changes", ""},
		"Project":     {"sections of options without options mean nothing", `spec: {source: {helm: {}, kustomize: {}, directory: {jsonnet: {}}}}`},
		"Users":       {"labels, annotations and finalizers of others stay", `metadata: {annotations: {headgate.dev/paused: 'true', notified.notifications.argoproj.io: x}, labels: {mine: x}, finalizers: [example.com/x]}`},
		"Hooks":       {"so do the finalizers of hooks", `metadata: {finalizers: [post-delete-finalizer.argocd.argoproj.io/cleanup]}`},
		"Operation":   {"an operation and a status are nobody's business", `operation: {sync: {}}, status: {sync: {status: OutOfSync}}`},
		"StrangersBy": {"what somebody else set stays, whoever set it as well", `metadata: {labels: {both: x}, managedFields: [{manager: headgate, fieldsV1: {'f:metadata': {'f:labels': {'f:both': {}}}}}, {manager: kubectl, fieldsV1: {'f:metadata': {'f:labels': {'f:both': {}}}}}]}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			plan := planOf(t, setOf(t, planSpec("", "one")), []*unstructured.Unstructured{liveApp(t, "one", c.more)}, everything())
			plan.Yields = nil
			if diff := cmp.Diff(Plan{}, plan); diff != "" {
				t.Errorf("%s: %s", c.reason, diff)
			}
		})
	}
}

func TestPlanUpdate(t *testing.T) {
	const managed = `managedFields: [{manager: headgate, fieldsV1: {'f:metadata': {'f:labels': {'f:old': {}}, 'f:annotations': {'f:kept': {}}}}}]`
	cases := map[string]struct {
		reason, set, more, patch string
		spec                     bool
		options                  func(*PlanOptions)
	}{
		"Spec":      {reason: "the spec is overwritten", more: `spec: {source: {path: old, chart: x}, info: [{name: a, value: b}]}`, patch: `{"spec":{"info":null,"source":{"chart":null,"path":"one"}}}`, spec: true},
		"Automated": {reason: "an empty section can mean something", more: `spec: {syncPolicy: {automated: null}}`, patch: `{"spec":{"syncPolicy":{"automated":{}}}}`, spec: true},
		"Label":     {reason: "a label of the template", more: `metadata: {labels: {l: old, mine: x}}`, patch: `{"metadata":{"labels":{"l":"new"}}}`},
		"Gone":      {reason: "what the template had and has no longer goes", more: `metadata: {labels: {old: x}, annotations: {kept: x}, ` + managed + `}`, set: `preservedFields: {annotations: [kept]},`, patch: `{"metadata":{"labels":{"old":null}}}`},
		"Preserved": {reason: "a value of a preserved label is kept", set: `preservedFields: {labels: [l]},`, more: `metadata: {labels: {l: mine}}, spec: {project: q}`, patch: `{"spec":{"project":"p"}}`, spec: true},
		"Global":    {reason: "one that the whole installation preserves too", options: func(o *PlanOptions) { o.PreservedLabels = []string{"l"} }, more: `metadata: {labels: {l: mine}}, spec: {project: q}`, patch: `{"spec":{"project":"p"}}`, spec: true},
		"Finalizer": {reason: "the finalizer is set again", more: `metadata: {$deleteFromPrimitiveList/finalizers: [resources-finalizer.argocd.argoproj.io]}`, patch: `{"metadata":{"finalizers":["resources-finalizer.argocd.argoproj.io"]}}`},
		"Adopt":     {reason: "an Application that is nobody's becomes the set's", more: `metadata: {ownerReferences: null}`, patch: `{"metadata":{"ownerReferences":[{"apiVersion":"argoproj.io/v1alpha1","blockOwnerDeletion":true,"controller":true,"kind":"ApplicationSet","name":"apps","uid":"u-1"}]}}`},
		"Orphan":    {reason: "where nothing may be deleted, it is nobody's", options: func(o *PlanOptions) { o.Policy.Delete = false }, patch: `{"metadata":{"ownerReferences":null}}`},
		"Pointer":   {reason: "an ignored field keeps its value, and one that is not there stays away", set: `ignoreApplicationDifferences: [{jsonPointers: [/spec/source/targetRevision, /spec/syncPolicy]}],`, more: `spec: {source: {targetRevision: v1}, syncPolicy: null, project: q}`, patch: `{"spec":{"project":"p"}}`, spec: true},
		"PointerTo": {reason: "for one Application only", set: `ignoreApplicationDifferences: [{name: two, jsonPointers: [/spec/project]}],`, more: `spec: {project: q}`, patch: `{"spec":{"project":"p"}}`, spec: true},
		"Query":     {reason: "fields by jq", set: `ignoreApplicationDifferences: [{jqPathExpressions: ['.spec.source.helm.values, .spec.info', '.spec.nothing[]']}],`, more: `spec: {source: {helm: {values: x}}, info: [{name: a, value: b}], project: q}`, patch: `{"spec":{"project":"p"}}`, spec: true},
		"Rolling": {
			reason: "in steps, it is the set that has Applications synced", set: `strategy: {type: RollingSync, rollingSync: {steps: [{}]}},`,
			options: func(o *PlanOptions) { o.Progressive = true }, patch: `{"spec":{"syncPolicy":{"automated":{"enabled":false}}}}`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			options := everything()
			if c.options != nil {
				c.options(&options)
			}
			live := liveApp(t, "one", c.more)
			before := live.DeepCopy()
			plan := planOf(t, setOf(t, planSpec(c.set, "one")), []*unstructured.Unstructured{live}, options)
			if len(plan.Update) != 1 {
				t.Fatalf("%s: %+v", c.reason, plan)
			}
			if change := plan.Update[0]; string(change.Patch) != c.patch || change.Spec != c.spec {
				t.Errorf("%s: got %s, want %s", c.reason, change.Patch, c.patch)
			}
			if diff := cmp.Diff(before.Object, live.Object); diff != "" {
				t.Errorf("what is there is not touched: %s", diff)
			}
			// What a plan leads to needs no further plan.
			again := planOf(t, setOf(t, planSpec(c.set, "one")), []*unstructured.Unstructured{plan.Update[0].Desired}, options)
			if len(again.Update) > 0 {
				t.Errorf("%s: once more: %s", c.reason, again.Update[0].Patch)
			}
		})
	}
}

func TestIgnoreLists(t *testing.T) {
	set := setOf(t, `{generators: [{list: {elements: [{name: one}]}}], ignoreApplicationDifferences: [{jqPathExpressions: ['.spec.sources[] | select(.repoURL == "r").targetRevision']}, {jsonPointers: [/spec/sources/1/path]}],
template: {metadata: {name: one, labels: {l: new}}, spec: {project: p, sources: [{repoURL: q, path: new}, {repoURL: r, targetRevision: main, path: b}], destination: {name: c}, syncPolicy: {automated: {}}}}}`)
	live := liveApp(t, "one", `spec: {source: null, sources: [{repoURL: r, targetRevision: v7, path: a}, {repoURL: q, path: old}]}`)
	plan := planOf(t, set, []*unstructured.Unstructured{live}, everything())
	if len(plan.Update) != 1 {
		t.Fatalf("%+v", plan)
	}
	want := `{"spec":{"sources":[{"path":"new","repoURL":"q"},{"path":"old","repoURL":"r","targetRevision":"v7"}]}}`
	if got := string(plan.Update[0].Patch); got != want {
		t.Errorf("an ignored field within a list keeps its value when others change and items move: got %s, want %s", got, want)
	}
}

func TestIgnoreRules(t *testing.T) {
	for text, want := range map[string]string{
		`{jsonPointers: [spec]}`:                   `spec.ignoreApplicationDifferences[0].jsonPointers[0]: "spec" does not begin with "/"`,
		`{jqPathExpressions: ['.a', '.spec[']}`:    `spec.ignoreApplicationDifferences[0].jqPathExpressions[1]: ".spec["`,
		`{jqPathExpressions: ['$ENV.HOME']}`:       ``,
		`{jqPathExpressions: ['.. | ..']}`:         `it selects more than`,
		`{jqPathExpressions: ['last(repeat(.))']}`: `it takes longer than`,
	} {
		set := setOf(t, planSpec("ignoreApplicationDifferences: ["+text+"],", "one"))
		made, err := Generate(t.Context(), set, known{}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		big := liveApp(t, "one", `spec: {source: {helm: {valuesObject: {a: [`+strings.Repeat("[1,2,3,4,5],", 2000)+`]}}}}`)
		_, err = MakePlan(t.Context(), set, made, []*unstructured.Unstructured{big}, everything())
		if want == "" && err == nil {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestPlanCreate(t *testing.T) {
	plan := planOf(t, setOf(t, planSpec("", "two", "one")), []*unstructured.Unstructured{liveApp(t, "one", "metadata: {namespace: elsewhere}")}, everything())
	if len(plan.Create) != 2 || plan.Create[0].GetName() != "one" || len(plan.Create[0].GetOwnerReferences()) != 1 || len(plan.Update)+len(plan.Delete)+len(plan.Keep) != 0 {
		t.Errorf("by their names, with an owner, and whatever there is in other namespaces: %+v", plan)
	}
	options := everything()
	options.Policy = Policy{}
	plan = planOf(t, setOf(t, planSpec("", "one")), nil, options)
	if len(plan.Create) != 1 || plan.Create[0].GetOwnerReferences() != nil {
		t.Errorf("where nothing may be deleted, no owner: %+v", plan)
	}
}

func TestPlanKeep(t *testing.T) {
	cases := map[string]struct {
		reason, more string
		policy       Policy
		names        []string
		want         []Kept
	}{
		"Others": {
			reason: "what belongs to somebody else is left alone", names: []string{"one"}, policy: Policy{Update: true, Delete: true},
			more: `metadata: {ownerReferences: [{$patch: replace}, {apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, name: other, uid: u-2, controller: true}]}, spec: {project: q}`,
			want: []Kept{{"one", `it belongs to ApplicationSet "other"`}},
		},
		"OthersGone": {
			reason: "and not deleted either", names: []string{"new"}, policy: Policy{Update: true, Delete: true},
			more: `metadata: {ownerReferences: null}`,
		},
		"Deleting": {
			reason: "what is being deleted is waited for", names: []string{"one"}, policy: Policy{Update: true, Delete: true},
			more: `metadata: {deletionTimestamp: '2026-11-21T12:00:00Z'}, spec: {project: q}`,
			want: []Kept{{"one", "it is being deleted, and will be recreated then"}},
		},
		"NoUpdates": {reason: "a policy without changes", names: []string{"one"}, policy: Policy{Delete: true}, more: `spec: {project: q}`, want: []Kept{{"one", "the policy permits no changes"}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			options := everything()
			options.Policy = c.policy
			plan := planOf(t, setOf(t, planSpec("", c.names...)), []*unstructured.Unstructured{liveApp(t, "one", c.more)}, options)
			if diff := cmp.Diff(c.want, plan.Keep); diff != "" || len(plan.Update)+len(plan.Delete) != 0 || plan.Refused != "" {
				t.Errorf("%s: %s %+v", c.reason, diff, plan)
			}
		})
	}
}
