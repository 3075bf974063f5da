package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func object(kind, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion("v1")
	u.SetKind(kind)
	u.SetName(name)
	return u
}

func TestInventoryID(t *testing.T) {
	cases := map[string]ObjectID{
		"ns_name_apps_Deployment":                           {"apps", "Deployment", "ns", "name", ""},
		"_name__Namespace":                                  {"", "Namespace", "", "name", ""},
		"_system__a_rbac.authorization.k8s.io_ClusterRole":  {"rbac.authorization.k8s.io", "ClusterRole", "", "system:a", ""},
		"ns_with_underscore_rbac.authorization.k8s.io_Role": {"rbac.authorization.k8s.io", "Role", "ns", "with_underscore", ""},
	}
	for text, id := range cases {
		if got := id.Encode(); got != text {
			t.Errorf("Encode(%+v) = %q, want %q", id, got, text)
		}
		got, err := DecodeID(text)
		if err != nil || got != id {
			t.Errorf("DecodeID(%q) = %+v, %v, want %+v", text, got, err, id)
		}
	}
	for _, bad := range []string{"", "a", "a_b", "a_b_c", "___", "__:__0"} {
		if id, err := DecodeID(bad); err == nil {
			t.Errorf("DecodeID(%q) = %+v, want an error", bad, id)
		}
	}
}

func FuzzDecodeID(f *testing.F) {
	f.Add("ns_name_apps_Deployment")
	f.Add("_a__b_g_K")
	f.Fuzz(func(t *testing.T, text string) {
		id, err := DecodeID(text)
		if err != nil {
			return
		}
		again, err := DecodeID(id.Encode())
		if err != nil || again != id {
			t.Errorf("%q: decoded %+v, and again %+v, %v", text, id, again, err)
		}
	})
}

func TestSortIsStableUnderPermutation(t *testing.T) {
	want := []*unstructured.Unstructured{
		object("CustomResourceDefinition", "c"), object("Namespace", "n"), object("ClusterRole", "r"), object("StorageClass", "s"),
		object("ServiceAccount", "a"), object("ConfigMap", "a"), object("ConfigMap", "b"), object("Deployment", "d"),
		object("Anything", "x"), object("ValidatingWebhookConfiguration", "w"),
	}
	for range 50 {
		mixed := slices.Clone(want)
		rand.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		if diff := cmp.Diff(names(want), names(Sort(mixed))); diff != "" {
			t.Fatalf("order depends on the input (-want +got):\n%s", diff)
		}
	}
}

func names(list []*unstructured.Unstructured) []string {
	var out []string
	for _, u := range list {
		out = append(out, u.GetKind()+"/"+u.GetName())
	}
	return out
}

func TestLeftoverIsReversed(t *testing.T) {
	entry := func(kind, name string) Entry { return Entry{ID: ObjectID{Kind: kind, Name: name}} }
	old := []Entry{entry("Namespace", "n"), entry("ConfigMap", "a"), entry("Deployment", "d")}
	got := Leftover(old, []Entry{entry("ConfigMap", "a")})
	if diff := cmp.Diff([]Entry{entry("Deployment", "d"), entry("Namespace", "n")}, got); diff != "" {
		t.Errorf("leftover (-want +got):\n%s", diff)
	}
	if left := Leftover(old, old); len(left) != 0 {
		t.Errorf("nothing is left of what is declared, got %v", left)
	}
}

func TestPlanAfterApplyIsEmpty(t *testing.T) {
	live := Live{Exists: true, UID: "u", Owned: "o"}
	if got := Plan("d", Marks{}, live, Memory{Digest: "d", UID: "u", Owned: "o"}); got.Action != Unchanged {
		t.Errorf("planning what was just applied gives %v", got)
	}
	cases := map[string]struct {
		declared Marks
		live     Live
		memory   Memory
		want     Action
	}{
		"missing":         {Marks{}, Live{}, Memory{}, Create},
		"first look":      {Marks{}, live, Memory{}, Configure},
		"declared anew":   {Marks{}, live, Memory{Digest: "x", UID: "u", Owned: "o"}, Configure},
		"drifted":         {Marks{}, Live{Exists: true, UID: "u", Owned: "x"}, Memory{Digest: "d", UID: "u", Owned: "o"}, Configure},
		"recreated":       {Marks{}, Live{Exists: true, UID: "x", Owned: "o"}, Memory{Digest: "d", UID: "u", Owned: "o"}, Configure},
		"kubectl":         {Marks{}, Live{Exists: true, UID: "u", Owned: "o", Stray: true}, Memory{Digest: "d", UID: "u", Owned: "o"}, Configure},
		"kubectl, merged": {Marks{Merge: true}, Live{Exists: true, UID: "u", Owned: "o", Stray: true}, Memory{Digest: "d", UID: "u", Owned: "o"}, Unchanged},
		"once only":       {Marks{Once: true}, live, Memory{}, Skip},
		"never":           {Marks{HandsOff: true}, Live{}, Memory{}, Skip},
		"never, there":    {Marks{HandsOff: true}, live, Memory{}, Skip},
		"paused":          {Marks{}, Live{Exists: true, UID: "u", Owned: "x", Stray: true, Marks: Marks{HandsOff: true}}, Memory{Digest: "d", UID: "u", Owned: "o"}, Skip},
		"no longer":       {Marks{}, live, Memory{Left: true}, Configure},
		"merged, live":    {Marks{}, Live{Exists: true, UID: "u", Owned: "o", Stray: true, Marks: Marks{Merge: true}}, Memory{Digest: "d", UID: "u", Owned: "o"}, Unchanged},
		"once, live":      {Marks{}, Live{Exists: true, UID: "u", Owned: "o", Marks: Marks{Once: true}}, Memory{Digest: "x", UID: "u", Owned: "o"}, Configure},
	}
	for name, c := range cases {
		if got := Plan("d", c.declared, c.live, c.memory); got.Action != c.want || (got.Action != Unchanged && got.Why == "") {
			t.Errorf("%s: got %+v, want %s and a reason", name, got, c.want)
		}
	}
}

func TestMemoryDrifted(t *testing.T) {
	applied, paused := Memory{Digest: "d", UID: "u", Owned: "o"}, Marks{HandsOff: true}
	cases := map[string]struct {
		reason string
		memory Memory
		live   Live
		want   bool
	}{
		"as applied":    {"what is as it was applied has not", applied, Live{Exists: true, UID: "u", Owned: "o"}, false},
		"never applied": {"nor has what was not applied here", Memory{}, Live{Exists: true, UID: "x"}, false},
		"deleted":       {"what is gone has", applied, Live{}, true},
		"recreated":     {"and what is another object", applied, Live{Exists: true, UID: "x", Owned: "o"}, true},
		"taken":         {"and what lost a field", applied, Live{Exists: true, UID: "u", Owned: "x"}, true},
		"kubectl":       {"and what kubectl added to", applied, Live{Exists: true, UID: "u", Owned: "o", Stray: true}, true},
		"merged":        {"unless it may", applied, Live{Exists: true, UID: "u", Owned: "o", Stray: true, Marks: Marks{Merge: true}}, false},
		"paused":        {"a pause in the cluster is no drift, nor is what is changed meanwhile", applied, Live{Exists: true, UID: "u", Owned: "x", Stray: true, Marks: paused}, false},
		"still paused":  {"what was left alone stays so", Memory{Left: true}, Live{Exists: true, Marks: paused}, false},
		"resumed":       {"until the pause ends", Memory{Left: true}, Live{Exists: true, UID: "u"}, true},
		"left, gone":    {"or the object goes", Memory{Left: true}, Live{}, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := c.memory.Drifted(c.live); got != c.want {
				t.Errorf("%s: got %v", c.reason, got)
			}
		})
	}
}

func TestCycles(t *testing.T) {
	id := unitNamed
	g := Graph{
		id("a"): {id("b")}, id("b"): {id("c")}, id("c"): {id("a")}, id("d"): {id("a")}, id("e"): {id("e")}, id("f"): {id("gone")},
	}
	var got []string
	for _, cycle := range g.Cycles() {
		got = append(got, Path(cycle))
	}
	want := []string{"Unit/ns/a -> Unit/ns/b -> Unit/ns/c -> Unit/ns/a", "Unit/ns/e -> Unit/ns/e"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cycles (-want +got):\n%s", diff)
	}
	in := g.InCycle()
	if in[id("d")] != nil || in[id("f")] != nil || len(in) != 4 {
		t.Errorf("members of cycles: %v", in)
	}
	knotted := [][]UnitID{{id("a"), id("b"), id("c")}, {id("e")}}
	if diff := cmp.Diff(knotted, g.Knotted()); diff != "" {
		t.Errorf("sets with a cycle (-want +got):\n%s", diff)
	}
}

func TestRollUp(t *testing.T) {
	h := RollUp([]ObjectHealth{
		{ID: ObjectID{Kind: "Pod", Name: "b"}, Verdict: InProgress},
		{ID: ObjectID{Kind: "Pod", Name: "a"}, Verdict: NotFound},
		{ID: ObjectID{Kind: "Job", Name: "j"}, Verdict: Failed, Message: "no"},
		{ID: ObjectID{Kind: "Pod", Name: "c"}, Verdict: Current},
	})
	if h.Verdict != Failed || len(h.Pending) != 2 || h.Pending[0].ID.Name != "a" {
		t.Errorf("rolled up to %+v", h)
	}
	if text := Describe(h.Broken); !strings.Contains(text, "Job/j status: 'Failed': no") {
		t.Errorf("described as %q", text)
	}
}

// TestRollUpEvaluating says nothing of what is evaluated, where there is something to say of others.
func TestRollUpEvaluating(t *testing.T) {
	current := ObjectHealth{ID: ObjectID{Name: "a"}, Verdict: Current}
	unknown := ObjectHealth{ID: ObjectID{Name: "b"}, Verdict: InProgress, Evaluating: true}
	waited := ObjectHealth{ID: ObjectID{Name: "c"}, Verdict: InProgress, Evaluating: true, Message: "not yet current"}
	slow := ObjectHealth{ID: ObjectID{Name: "d"}, Verdict: InProgress}
	ill := ObjectHealth{ID: ObjectID{Name: "e"}, Verdict: Failed}
	for i, c := range []struct {
		objects    []ObjectHealth
		verdict    Verdict
		pending    string
		evaluating bool
	}{
		{[]ObjectHealth{current}, Current, "", false},
		{[]ObjectHealth{current, unknown}, InProgress, "b", true},
		{[]ObjectHealth{unknown, waited}, InProgress, "c", true},
		{[]ObjectHealth{unknown, waited, slow}, InProgress, "cd", false},
		{[]ObjectHealth{unknown, ill}, Failed, "b", false},
	} {
		h := RollUp(c.objects)
		pending := ""
		for _, o := range h.Pending {
			pending += o.ID.Name
		}
		if h.Verdict != c.verdict || pending != c.pending || h.Evaluating != c.evaluating {
			t.Errorf("%d: rolled up to %+v", i, h)
		}
	}
}

// TestUnmetEvaluating names a dependency that is being evaluated where no other one is unmet.
func TestUnmetEvaluating(t *testing.T) {
	known := DependencyFact{Dependency: Dependency{Unit: unitNamed("a")}, Message: "not ready"}
	unknown := DependencyFact{Dependency: Dependency{Unit: unitNamed("b")}, Message: "m", Evaluating: true}
	for want, f := range map[string]Facts{
		"[Unit/ns/a: not ready]": {Dependencies: []DependencyFact{known, unknown}},
		"[Unit/ns/b: m]":         {Dependencies: []DependencyFact{unknown, {Met: true}}},
		"[]":                     {Dependencies: []DependencyFact{{Met: true}}},
	} {
		if got := fmt.Sprint(f.unmet()); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestMemoryStands(t *testing.T) {
	live := Live{Exists: true, UID: "u", Owned: "o", Updated: "p", Version: 7}
	held := func(inSync bool, uid, owned, updated string, version uint64) Memory {
		return Memory{Digest: "d", UID: uid, Owned: owned, Updated: updated, Version: version, InSync: inSync, Signs: SignsHeld}
	}
	version := func(inSync bool, version uint64) Memory {
		return Memory{Digest: "d", UID: "u", Owned: "o", Updated: "p", Version: version, InSync: inSync, Signs: SignsVersion}
	}
	cases := map[string]struct {
		reason string
		memory Memory
		gone   bool
		want   bool
	}{
		"held":         {"our fields are as they were", held(true, "u", "o", "p", 5), false, true},
		"taken":        {"one was taken from us", held(true, "u", "x", "p", 7), false, false},
		"updated":      {"one that we wrote by an update", held(true, "u", "o", "x", 0), false, false},
		"recreated":    {"it is another object", held(true, "v", "o", "p", 0), false, false},
		"gone":         {"it went", held(true, "u", "o", "p", 0), true, false},
		"not held":     {"not all fields are ours: any other version counts", version(true, 6), false, false},
		"same version": {"nothing happened", version(true, 7), false, true},
		"out of sync":  {"out of sync, and changed since", held(false, "u", "o", "p", 6), false, false},
		"still":        {"out of sync, and as it was", held(false, "u", "x", "", 7), false, true},
		"missing":      {"it is missing still", Memory{Digest: "d", Missing: true}, true, true},
		"came":         {"it was missing and came", Memory{Digest: "d", Missing: true, UID: "u", Version: 7}, false, false},
		"beside":       {"others may write what is not ours", Memory{Digest: "d", UID: "u", Owned: "o", Version: 6}, false, true},
	}
	for name, c := range cases {
		now := live
		if c.gone {
			now = Live{}
		}
		if got := c.memory.Stands(now); got != c.want || c.memory.Drifted(now) == got {
			t.Errorf("%s: %s: got %v", name, c.reason, got)
		}
	}
}
