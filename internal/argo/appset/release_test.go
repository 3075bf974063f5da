package appset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const free = `{"metadata":{"ownerReferences":null}}`

func TestRelease(t *testing.T) {
	set := setOf(t, planSpec("", "one"))
	changes, err := Release(set, []*unstructured.Unstructured{liveApp(t, "one", ""), liveApp(t, "two", "metadata: {ownerReferences: null}")})
	if err != nil || len(changes) != 1 || string(changes[0].Patch) != free {
		t.Errorf("Applications outlive the set: %+v %v", changes, err)
	}
}

// Garbage collection must find nothing to delete with the set, from the moment on at which the policy permits no deletions.
func TestPlanReleases(t *testing.T) {
	cases := map[string]struct {
		reason string
		policy Policy
		spec   string
		want   map[string]string
		kept   []Kept
	}{
		"CreateOnly": {
			reason: "what is generated, and what is not any more", policy: Policy{}, spec: planSpec("", "one"),
			want: map[string]string{"one": free, "two": free},
			kept: []Kept{{"one", "the policy permits no changes"}, {"two", "no generator produces it any more, and the policy permits no deletions"}},
		},
		"CreateUpdate": {
			reason: "with what changes anyway", policy: Policy{Update: true}, spec: planSpec("", "one"), want: map[string]string{"one": free, "two": free},
			kept: []Kept{{"two", "no generator produces it any more, and the policy permits no deletions"}},
		},
		"NoGenerators": {
			reason: "a set that generates nothing", policy: Policy{}, spec: "{generators: [], template: {}}", want: map[string]string{"one": free, "two": free},
			kept: []Kept{
				{"one", "no generator produces it any more, and the policy permits no deletions"},
				{"two", "no generator produces it any more, and the policy permits no deletions"},
			},
		},
		"CreateDelete": {
			reason: "where they may be deleted, they go with the set", policy: Policy{Delete: true}, spec: planSpec("", "one", "two"),
			want: map[string]string{}, kept: []Kept{{"one", "the policy permits no changes"}, {"two", "the policy permits no changes"}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			options := everything()
			options.Policy = c.policy
			plan := planOf(t, setOf(t, c.spec), []*unstructured.Unstructured{liveApp(t, "one", ""), liveApp(t, "two", "")}, options)
			got := map[string]string{}
			for _, change := range plan.Update {
				got[change.Live.GetName()] = string(change.Patch)
			}
			if diff := cmp.Diff(c.want, got) + cmp.Diff(c.kept, plan.Keep); diff != "" || len(plan.Delete) > 0 || plan.Refused != "" {
				t.Errorf("%s: %s %+v", c.reason, diff, plan)
			}
		})
	}
}

func TestNoGenerators(t *testing.T) {
	set := setOf(t, "{generators: [], template: {}}")
	made, _, failure := generated(t, set, known{}, Options{})
	if failure != "" || len(made.Applications)+len(made.Problems) > 0 {
		t.Fatalf("a set without generators has no Applications, and nothing is wrong: %s %+v", failure, made)
	}
	plan := planOf(t, set, []*unstructured.Unstructured{liveApp(t, "one", ""), liveApp(t, "two", "")}, everything())
	const want = "the generators produce nothing, and there are 2 Applications (one, two)."
	if len(plan.Delete) > 0 || len(plan.Refused) < len(want) || plan.Refused[:len(want)] != want {
		t.Errorf("what it had stays until somebody agrees: %+v", plan)
	}
	options := everything()
	set.Annotations = map[string]string{DeletionApprovedAnnotation: plan.Digest}
	if plan := planOf(t, set, []*unstructured.Unstructured{liveApp(t, "one", ""), liveApp(t, "two", "")}, options); len(plan.Delete) != 2 {
		t.Errorf("then it goes: %+v", plan)
	}
}

func TestMembers(t *testing.T) {
	set := setOf(t, planSpec("", "one", "free", "theirs"))
	made, _, _ := generated(t, set, known{}, Options{})
	var got []string
	for _, o := range Members(set, made, []*unstructured.Unstructured{
		liveApp(t, "one", ""), liveApp(t, "old", ""), liveApp(t, "free", "metadata: {ownerReferences: null}"),
		liveApp(t, "other", "metadata: {ownerReferences: null}"),
		liveApp(t, "theirs", "metadata: {ownerReferences: [{$patch: replace}, {apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, name: other, uid: u-2, controller: true}]}"),
	}) {
		got = append(got, o.GetName())
	}
	if diff := cmp.Diff([]string{"one", "old", "free"}, got); diff != "" {
		t.Errorf("those that it owns, and those that it generates and that nobody owns: %s", diff)
	}
}
