package operation_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/engine"
)

// began is when every operation of the tests began.
var began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// object is "NAME ANNOTATION=VALUE...", with annotations of Argo CD.
func object(text string) *unstructured.Unstructured {
	words := strings.Fields(text)
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	u.SetName(words[0])
	annotations := map[string]string{}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		annotations["argocd.argoproj.io/"+key] = value
	}
	u.SetAnnotations(annotations)
	return u
}

// world plays the cluster: every object gets the health that is set for it, "" at first.
type world struct {
	op     *operation.Operation
	there  map[string]bool
	health map[string]string
	done   []string
	// released are hooks that are held no more.
	released []string
}

func start(objects ...string) *world {
	r := operation.Request{
		ID: engine.EntryOf, Digest: func(u *unstructured.Unstructured) string { return u.GetName() }, Revision: "abcdef0123", Run: "r", Started: began,
	}
	for _, text := range objects {
		r.Objects = append(r.Objects, object(text))
	}
	return &world{op: operation.New(r), there: map[string]bool{}, health: map[string]string{}}
}

func (w *world) live(id engine.ObjectID) operation.Live {
	return operation.Live{Exists: w.there[id.Name], Health: w.health[id.Name], Message: "it is " + w.health[id.Name]}
}

// run brings the operation on until it waits or has ended, and returns its message. Each group that was written is
// noted.
func (w *world) run(t *testing.T) string {
	t.Helper()
	for range 100 {
		step := w.op.Next(began, w.live)
		for _, task := range step.Release {
			w.op.Released(task, nil)
			w.released = append(w.released, task.ID.Name)
		}
		if len(step.Release) > 0 {
			continue
		}
		if step.Ended || len(step.Apply)+len(step.Delete) == 0 {
			return fmt.Sprintf("%s%s", map[bool]string{true: "FAILED "}[step.Failed], step.Message)
		}
		var names []string
		for _, task := range step.Delete {
			names = append(names, "-"+task.ID.Name)
			delete(w.there, task.ID.Name)
			w.op.Deleted(task, began, operation.Result{})
		}
		if len(names) > 0 {
			w.done = append(w.done, strings.Join(names, ""))
			continue
		}
		for _, task := range step.Apply {
			names = append(names, task.ID.Name)
			w.there[task.ID.Name] = true
			w.op.Applied(task, began, operation.Result{Message: "made"})
		}
		w.done = append(w.done, strings.Join(names, "+"))
	}
	t.Fatal("the operation does not come to rest")
	return ""
}

func TestFailures(t *testing.T) {
	cases := map[string]struct {
		reason  string
		objects []string
		health  map[string]string
		message string
		done    []string
	}{
		"Hook": {
			reason:  "A hook that fails ends the sync before anything later is touched, also when it is alone in its wave.",
			objects: []string{"pre hook=PreSync", "x", "fail hook=SyncFail"}, health: map[string]string{"pre": "Degraded"},
			message: "FAILED one or more synchronization tasks completed unsuccessfully, reason: ConfigMap/pre: it is Degraded", done: []string{"pre", "fail"},
		},
		"Wave": {
			reason:  "An object that is broken ends the sync, and its own wave is written.",
			objects: []string{"a", "b", "later sync-wave=1"}, health: map[string]string{"a": "Degraded"},
			message: "FAILED one or more synchronization tasks completed unsuccessfully, reason: ConfigMap/a: it is Degraded", done: []string{"a+b"},
		},
		"Waits": {
			reason:  "What is on its way is waited for.",
			objects: []string{"a", "later sync-wave=1"}, health: map[string]string{"a": "Progressing"},
			message: "waiting for healthy state of /ConfigMap/a", done: []string{"a"},
		},
		"Last": {
			reason:  "Nobody waits for the last wave, and no hook for failures runs.",
			objects: []string{"a", "later sync-wave=1", "fail hook=SyncFail"}, health: map[string]string{"later": "Progressing"},
			message: "successfully synced (all tasks run)", done: []string{"a", "later"},
		},
		"Never": {
			reason:  "What is to be skipped, and a hook of no phase, are never made.",
			objects: []string{"a", "skip hook=Skip", "none hook=Nonsense"}, message: "successfully synced (all tasks run)", done: []string{"a"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := start(tc.objects...)
			w.health = tc.health
			if got := w.run(t); got != tc.message {
				t.Errorf("\n%s\nit says %q, want %q", tc.reason, got, tc.message)
			}
			if diff := cmp.Diff(tc.done, w.done); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// What fails since its kind is not there is tried again for as long as its wave goes on, and fails the sync then.
func TestAgain(t *testing.T) {
	lacking := func(w *world, id string) {
		for _, task := range w.op.Tasks {
			if task.ID.Name == id {
				w.op.Applied(task, began, operation.Result{Err: fmt.Errorf("ConfigMap/%s: its kind is not there", id), Again: true})
			}
		}
	}
	w := start("a", "b", "later sync-wave=1")
	w.health = map[string]string{"a": "Progressing"}
	w.op.Next(began, w.live)
	w.there["a"] = true
	for _, task := range w.op.Tasks {
		if task.ID.Name == "a" {
			w.op.Applied(task, began, operation.Result{})
		}
	}
	lacking(w, "b")
	if got := w.run(t); got != "waiting for healthy state of /ConfigMap/a" || len(w.done) > 0 {
		t.Errorf("it says %q and wrote %v", got, w.done)
	}
	w.op.Retry()
	if got := w.run(t); got != "waiting for healthy state of /ConfigMap/a" || !cmp.Equal(w.done, []string{"b"}) {
		t.Errorf("tried again, it says %q and wrote %v", got, w.done)
	}
	lacking(w, "b")
	w.health["a"] = "Healthy"
	if got := w.run(t); got != "FAILED one or more objects failed to apply, reason: ConfigMap/b: its kind is not there" {
		t.Errorf("at the end of the wave it says %q", got)
	}
	w.op.Retry()
	if got := w.run(t); !strings.HasPrefix(got, "FAILED") || !cmp.Equal(w.done, []string{"b"}) {
		t.Errorf("after its end it says %q and wrote %v", got, w.done)
	}
}
