package plan_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/api/build/v1alpha1"
	"github.com/headgate-dev/headgate/internal/builds/plan"
)

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestRunObject creates a run that refers to the template, has the inputs as arguments, belongs to the Build and outlives its own TTL.
func TestRunObject(t *testing.T) {
	spec := secretSpec()
	spec.ServiceAccountName = "builder"
	w := newWorld(t, spec)
	f := w.facts()
	f.Inputs = append(f.Inputs, plan.Input{Name: "token", Digest: "d1"})
	d := plan.Next(w.build, f)
	if len(d.Actions) != 1 || d.Actions[0].Do != plan.CreateRun {
		t.Fatalf("the actions are %+v", d.Actions)
	}
	u := d.Actions[0].Object
	want := map[string]any{
		"workflowTemplateRef": map[string]any{"name": "builder"}, "serviceAccountName": "builder",
		"arguments":   map[string]any{"parameters": []any{map[string]any{"name": "rev", "value": "abc1234567"}}},
		"ttlStrategy": map[string]any{"secondsAfterCompletion": int64(2592000), "secondsAfterSuccess": int64(2592000), "secondsAfterFailure": int64(2592000)},
	}
	if diff := cmp.Diff(want, u.Object["spec"]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if want := plan.RunName("nixos", d.Build.Status.ObservedDigest, 1); u.GetName() != want || u.GetNamespace() != "apps" {
		t.Errorf("it is %s/%s, want %s", u.GetNamespace(), u.GetName(), want)
	}
	if owner := u.GetOwnerReferences(); len(owner) != 1 || owner[0].Kind != v1alpha1.BuildKind || owner[0].UID != "b" || !*owner[0].Controller {
		t.Errorf("it belongs to %+v", owner)
	}
}

// TestDigest changes with everything that the outputs depend on, and with nothing else.
func TestDigest(t *testing.T) {
	of := func(change func(w *world, f *plan.Facts)) string {
		w := newWorld(t, imageSpec())
		f := w.facts()
		f.Inputs = append(f.Inputs, plan.Input{Name: "token", Digest: "d1"})
		change(w, &f)
		return plan.Next(w.build, f).Build.Status.ObservedDigest
	}
	base := of(func(*world, *plan.Facts) {})
	for name, c := range map[string]struct {
		change func(w *world, f *plan.Facts)
		other  bool
	}{
		"a parameter":          {func(_ *world, f *plan.Facts) { f.Inputs[0].Value = "x" }, true},
		"a secret":             {func(_ *world, f *plan.Facts) { f.Inputs[1].Digest = "d2" }, true},
		"the template":         {func(_ *world, f *plan.Facts) { f.Workflow = map[string]any{"entrypoint": "other"} }, true},
		"a template of that":   {func(_ *world, f *plan.Facts) { f.Library = map[string]map[string]any{"WorkflowTemplate x": {"a": "b"}} }, true},
		"the epoch":            {func(w *world, _ *plan.Facts) { w.build.Status.RebuildEpoch = 2 }, true},
		"the region":           {func(w *world, _ *plan.Facts) { w.build.Spec.Image.Regions = []string{"ams3"} }, true},
		"the key of a Secret":  {func(w *world, _ *plan.Facts) { w.build.Spec.Outputs[0].Secret.Keys = map[string]string{"a": "b"} }, false},
		"the number of copies": {func(w *world, _ *plan.Facts) { w.build.Spec.GC = &v1alpha1.GC{} }, false},
		"the time":             {func(_ *world, f *plan.Facts) { f.Now = f.Now.AddDate(1, 0, 0) }, false},
		"the retries":          {func(w *world, _ *plan.Facts) { w.build.Spec.Retry.Limit = pointer(int32(7)) }, false},
	} {
		if got := of(c.change); (got != base) != c.other {
			t.Errorf("%s: another digest %v, want %v", name, got != base, c.other)
		}
	}
}

// TestReferences finds templates of other objects at any depth.
func TestReferences(t *testing.T) {
	var spec any
	if err := json.Unmarshal([]byte(`{"templates":[{"steps":[[{"templateRef":{"name":"b","template":"x"}}]]},
		{"dag":{"tasks":[{"templateRef":{"name":"a","template":"y","clusterScope":true}},{"templateRef":{"name":"b","template":"z"}}]}}]}`), &spec); err != nil {
		t.Fatal(err)
	}
	want := []plan.Reference{{Name: "a", Cluster: true}, {Name: "b"}}
	if diff := cmp.Diff(want, plan.References(spec)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
