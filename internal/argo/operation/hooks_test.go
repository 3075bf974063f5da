package operation_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/engine"
)

func TestNames(t *testing.T) {
	cases := map[string]struct {
		reason, generate, hook, revision string
		want                             []string
	}{
		"prefix":     {"a hook with a prefix gets a name that no other run has", "gen-", "Sync", "abcdef0123", []string{"gen-abcdef0-sync-1767323045"}},
		"none":       {"one without even that gets one too, another one in each phase", "", "PreSync,PostSync", "abcdef0123", []string{"abcdef0-presync-1767323045", "abcdef0-postsync-1767323045"}},
		"several":    {"of several revisions the first one counts", "gen-", "Sync", "1.2.3,abcdef0123", []string{"gen-1.2.3-sync-1767323045"}},
		"digest":     {"a digest is named without its algorithm", "gen-", "Sync", "sha256:0123456789", []string{"gen-0123456-sync-1767323045"}},
		"upper case": {"names have no capitals", "Gen-", "Sync", "ABC", []string{"gen-abc-sync-1767323045"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u := object("x hook=" + tc.hook)
			u.SetName("")
			u.SetGenerateName(tc.generate)
			op := operation.New(operation.Request{
				ID: engine.EntryOf, Digest: func(*unstructured.Unstructured) string { return "d" }, Revision: tc.revision, Started: began,
				Objects: []*unstructured.Unstructured{u},
			})
			var got []string
			for _, task := range op.Tasks {
				if task.Object.GetName() != task.ID.Name || task.Object.GetGenerateName() != "" {
					t.Errorf("%s is written as %s%s", task.ID, task.Object.GetGenerateName(), task.Object.GetName())
				}
				got = append(got, task.ID.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// A hook is released as soon as it has completed, well or not, before anything else goes on; objects are not.
func TestRelease(t *testing.T) {
	w := start("pre hook=PreSync hook-delete-policy=HookFailed", "x", "post hook=PostSync")
	w.health = map[string]string{"pre": "Progressing", "post": "Degraded"}
	if got := w.run(t); got != "waiting for completion of hook /ConfigMap/pre" || len(w.released) > 0 {
		t.Errorf("it says %q and released %v", got, w.released)
	}
	w.health["pre"] = "Healthy"
	if got := w.run(t); !strings.HasPrefix(got, "FAILED") {
		t.Errorf("it says %q", got)
	}
	if diff := cmp.Diff([]string{"pre", "post"}, w.released); diff != "" {
		t.Errorf("released, -want +got:\n%s", diff)
	}
	w = start("pre hook=PreSync", "x")
	w.op.Next(began, w.live)
	w.there["pre"] = true
	w.op.Applied(w.op.Tasks[0], began, operation.Result{})
	w.op.Released(w.op.Next(began, w.live).Release[0], errors.New("it is forbidden"))
	if got := w.run(t); !strings.Contains(got, "Failed to remove hook finalizer: it is forbidden") || len(w.done) > 0 {
		t.Errorf("it says %q and wrote %v", got, w.done)
	}
}

// A sync that a killed process left continues with what succeeded: such a hook does not run again, whether it is still there or its
// time to live has deleted it; it is released, and deleted in the end where its policy says so.
func TestSucceeded(t *testing.T) {
	objects := []string{"pre hook=PreSync hook-delete-policy=HookSucceeded", "both hook=PreSync,PostSync", "x", "post hook=PostSync"}
	for name, tc := range map[string]struct {
		reason    string
		succeeded []string
		there     bool
		done      []string
		dropped   string
	}{
		"none":  {"all of them run", nil, false, []string{"both+pre", "x", "both+post"}, "pre"},
		"gone":  {"what succeeded and is gone does not run again", []string{"pre", "both"}, false, []string{"x", "both+post"}, ""},
		"there": {"nor does what is still there, and is deleted by its policy", []string{"pre", "both"}, true, []string{"x", "both+post"}, "pre"},
		"other": {"a hook of another name runs", []string{"other"}, false, []string{"both+pre", "x", "both+post"}, "pre"},
	} {
		t.Run(name, func(t *testing.T) {
			r := operation.Request{
				ID: engine.EntryOf, Digest: func(u *unstructured.Unstructured) string { return u.GetName() }, Run: "r", Started: began,
				Succeeded: map[operation.Hooked]bool{},
			}
			w := &world{there: map[string]bool{}, health: map[string]string{}}
			for _, name := range tc.succeeded {
				r.Succeeded[operation.Hooked{ID: engine.IDOf(object(name)), Phase: operation.PreSync}] = true
				w.there[name] = tc.there
			}
			for _, text := range objects {
				r.Objects = append(r.Objects, object(text))
			}
			w.op = operation.New(r)
			if got := w.run(t); got != "successfully synced (all tasks run)" {
				t.Errorf("%s: it says %q", tc.reason, got)
			}
			if diff := cmp.Diff(tc.done, w.done); diff != "" {
				t.Errorf("%s, -want +got:\n%s", tc.reason, diff)
			}
			dropped := ""
			for _, task := range w.op.Next(began, w.live).Drop {
				dropped += task.ID.Name
			}
			if dropped != tc.dropped {
				t.Errorf("%s: it drops %q, want %q", tc.reason, dropped, tc.dropped)
			}
		})
	}
}

// Hooks that run when a sync is terminated are deleted; what has completed by then says so, is released, and stays.
func TestTerminate(t *testing.T) {
	w := start("complete hook=PreSync", "completing hook=PreSync", "running hook=PreSync", "x")
	w.health = map[string]string{"completing": "Progressing", "running": "Progressing"}
	w.run(t)
	w.health["completing"] = "Healthy"
	step := w.op.Terminate(began, w.live, "Operation terminated")
	if !step.Ended || !step.Failed || step.Message != "Operation terminated" {
		t.Errorf("it ends with %+v", step)
	}
	names := func(tasks []*operation.Task) string {
		var all []string
		for _, task := range tasks {
			all = append(all, task.ID.Name+":"+task.Message)
		}
		return strings.Join(all, " ")
	}
	if got := names(step.Drop); got != "running:Terminated" {
		t.Errorf("it drops %s", got)
	}
	if got := names(step.Release); got != "completing:it is Healthy" {
		t.Errorf("it releases %s", got)
	}
}

func TestDeletion(t *testing.T) {
	begin := func(cascade bool, phases []operation.Phase) *world {
		return &world{there: map[string]bool{"x": true}, health: map[string]string{}, op: operation.Delete(operation.Removal{
			ID: engine.EntryOf, Digest: func(u *unstructured.Unstructured) string { return u.GetName() }, Cascade: cascade, Started: began, Phases: phases,
			Hooks: []*unstructured.Unstructured{object("before hook=PreDelete"), object("sync hook=Sync"), object("after hook=PostDelete")},
			Held:  map[bool][]operation.Extra{true: {{Entry: engine.EntryOf(object("x"))}}}[cascade],
		})}
	}
	both := []operation.Phase{operation.PreDelete, operation.PostDelete}
	cases := map[string]struct {
		reason  string
		cascade bool
		phases  []operation.Phase
		health  map[string]string
		message string
		done    []string
		dropped string
	}{
		"cascade": {
			"the hook before goes with the objects, the one after stays; a hook of a sync does not run", true, both, nil,
			"successfully synced (all tasks run)",
			[]string{"before", "-before-x", "after"},
			"",
		},
		"orphans": {"objects that stay are left alone", false, both, nil, "successfully synced (all tasks run)", []string{"before", "after"}, ""},
		"failure": {
			"a hook that fails holds the deletion, and makes room for the next attempt", true, both,
			map[string]string{"before": "Degraded"},
			"FAILED PreDelete hook(s) failed: ConfigMap/before: it is Degraded",
			[]string{"before"},
			"before",
		},
		"second": {
			"what ran before the objects went does not run again in another attempt", true, both[1:], nil,
			"successfully synced (all tasks run)",
			[]string{"-x", "after"},
			"",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := begin(tc.cascade, tc.phases)
			w.health = tc.health
			if got := w.run(t); got != tc.message {
				t.Errorf("\n%s\nit says %q, want %q", tc.reason, got, tc.message)
			}
			if diff := cmp.Diff(tc.done, w.done); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
			dropped := ""
			for _, task := range w.op.Next(began, w.live).Drop {
				dropped += task.ID.Name
			}
			if dropped != tc.dropped {
				t.Errorf("\n%s\nit drops %q, want %q", tc.reason, dropped, tc.dropped)
			}
		})
	}
}

// TestPassed tells when the hooks from before a deletion have run: all of them, and well.
func TestPassed(t *testing.T) {
	w := &world{there: map[string]bool{}, health: map[string]string{"b": "Progressing"}, op: operation.Delete(operation.Removal{
		ID: engine.EntryOf, Digest: func(u *unstructured.Unstructured) string { return u.GetName() }, Started: began, Phases: []operation.Phase{operation.PreDelete},
		Hooks: []*unstructured.Unstructured{object("a hook=PreDelete"), object("b hook=PreDelete")},
	})}
	passed := func() (names string) {
		for _, task := range w.op.Passed(operation.PreDelete) {
			names += task.ID.Name
		}
		return names
	}
	w.run(t)
	if got := passed(); got != "" {
		t.Errorf("while b runs, %q have passed", got)
	}
	w.health["b"] = "Healthy"
	w.run(t)
	if got := passed(); got != "ab" {
		t.Errorf("at the end, %q have passed", got)
	}
	if got := w.op.Passed(operation.PostDelete); got != nil {
		t.Errorf("of a phase without hooks, %d have passed", len(got))
	}
}

// TestWithdrawn has a newer revision take the place of a sync whose hook hangs: one that it declares as it runs is waited for, any other
// is ended at once, and the one that replaces it runs.
func TestWithdrawn(t *testing.T) {
	for name, tc := range map[string]struct {
		reason   string
		newer    []string
		declared bool
		message  string
		done     []string
		dropped  string
	}{
		"joined": {
			"the same hook goes on", []string{"pre hook=PreSync", "x"}, true, "waiting for completion of hook /ConfigMap/pre", nil, "",
		},
		"changed": {
			"another one takes its place",
			[]string{"other hook=PreSync", "x"},
			false,
			"successfully synced (all tasks run); ConfigMap/pre was terminated: the newer revision changes or removes it",
			[]string{"other", "x"},
			"pre",
		},
		"removed": {
			"the newer revision has none",
			[]string{"x"},
			false,
			"successfully synced (all tasks run); ConfigMap/pre was terminated: the newer revision changes or removes it",
			[]string{"x"},
			"pre",
		},
		"left out": {
			"a sync that runs no hooks waits for one that is declared",
			[]string{"x"},
			true,
			"waiting for completion of hook /ConfigMap/pre of a superseded sync", nil, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			old := start("pre hook=PreSync", "x")
			old.health["pre"] = "Progressing"
			old.run(t)
			w := start(tc.newer...)
			w.there, w.health = old.there, old.health
			w.op.Supersede(old.op, func(*operation.Task) bool { return tc.declared })
			if got := w.run(t); got != tc.message {
				t.Errorf("%s: it says %q, want %q", tc.reason, got, tc.message)
			}
			if diff := cmp.Diff(tc.done, w.done); diff != "" {
				t.Errorf("%s, -want +got:\n%s", tc.reason, diff)
			}
			if w.dropped != tc.dropped {
				t.Errorf("%s: it drops %q, want %q", tc.reason, w.dropped, tc.dropped)
			}
		})
	}
}

// TestReporting has a sync take the place of one whose hook reports its failure: that ends, and is not one of the newer sync.
func TestReporting(t *testing.T) {
	objects := []string{"x", "later sync-wave=1", "fail hook=SyncFail"}
	old := start(objects...)
	old.health = map[string]string{"x": "Degraded", "fail": "Progressing"}
	old.run(t)
	w := start(objects...)
	w.there, w.health = old.there, old.health
	w.op.Supersede(old.op, func(*operation.Task) bool { return true })
	if got, want := w.run(t), "waiting for completion of hook /ConfigMap/fail of a superseded sync"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	w.health = map[string]string{"fail": "Degraded"}
	if got, want := w.run(t), "successfully synced (all tasks run); the superseded hook ConfigMap/fail ended"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	for _, task := range w.op.Tasks {
		if task.Phase == operation.SyncFail && task.State != operation.Pending {
			t.Errorf("%s of the newer sync is in state %d", task.ID, task.State)
		}
	}
}

// TestAbandon ends a sync that nothing replaces: its hook that runs does so to its end if it is still declared, and nothing else is done.
func TestAbandon(t *testing.T) {
	declared := func(is bool) func(*operation.Task) bool { return func(*operation.Task) bool { return is } }
	w := start("pre hook=PreSync", "x")
	w.health["pre"] = "Progressing"
	w.run(t)
	if !w.op.Abandon("not needed", declared(true)) {
		t.Error("no hook runs")
	}
	if got, want := w.run(t), "waiting for completion of hook /ConfigMap/pre of a superseded sync"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	w.health["pre"] = "Healthy"
	if got, want := w.run(t), "FAILED not needed; the superseded hook ConfigMap/pre ended"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	if diff := cmp.Diff([]string{"pre"}, w.done); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if idle := start("x"); idle.op.Abandon("not needed", declared(true)) {
		t.Error("a hook runs where there is none")
	}
	w = start("pre hook=PreSync", "x")
	w.health["pre"] = "Progressing"
	w.run(t)
	w.op.Abandon("not needed", declared(false))
	if got, want := w.run(t), "FAILED not needed; ConfigMap/pre was terminated: the newer revision changes or removes it"; got != want || w.dropped != "pre" {
		t.Errorf("where it is not declared any more, it says %q, want %q, and drops %q", got, want, w.dropped)
	}
}

// TestSpare leaves what others have claimed by now, and what is being deleted already goes.
func TestSpare(t *testing.T) {
	w := &world{there: map[string]bool{"first": true, "kept": true}, health: map[string]string{}, op: operation.New(operation.Request{
		ID: engine.EntryOf, Digest: func(*unstructured.Unstructured) string { return "" }, Started: began,
		Extra: []operation.Extra{{Entry: engine.EntryOf(object("first")), Wave: 1}, {Entry: engine.EntryOf(object("kept"))}},
	})}
	first, kept := engine.EntryOf(object("first")).ID, engine.EntryOf(object("kept")).ID
	for _, task := range w.op.Next(began, w.live).Delete {
		w.op.Deleted(task, began, operation.Result{})
	}
	w.op.Spare(nil)
	if pruned := w.op.Prunes(); !pruned[first] || pruned[kept] {
		t.Errorf("it deletes first: %t, kept: %t", pruned[first], pruned[kept])
	}
}
