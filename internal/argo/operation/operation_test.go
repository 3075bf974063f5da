package operation_test

import (
	"errors"
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
	// released are hooks that are held no more; dropped those that are deleted before the end.
	released []string
	dropped  string
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
		for _, task := range step.Drop {
			if !step.Ended {
				w.dropped += task.ID.Name
			}
		}
		switch {
		case len(step.Release) > 0, len(step.Drop) > 0 && !step.Ended:
			continue
		case step.Ended:
			return map[bool]string{true: "FAILED "}[step.Failed] + strings.Join(append([]string{step.Message}, w.op.Notes()...), "; ")
		case len(step.Apply)+len(step.Delete) == 0:
			return step.Message
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

// A refused object fails its sync at once, whatever else its wave waits for, but for a hook that runs: that comes to its end.
func TestRefused(t *testing.T) {
	const why = "one or more objects failed to apply, reason: ConfigMap/b: it is forbidden"
	for name, tc := range map[string]struct {
		reason  string
		objects []string
		needy   string
		message string
		then    string
	}{
		"health": {
			"what is on its way is not waited for", []string{"a", "b", "later sync-wave=1"}, "", "FAILED " + why, "FAILED " + why,
		},
		"needs": {
			"nor what cannot be written yet", []string{"a", "b", "c", "later sync-wave=1"}, "c", "FAILED " + why, "FAILED " + why,
		},
		"hook": {
			"a hook that runs is",
			[]string{"a hook=Sync", "b", "later sync-wave=1"},
			"", "waiting for completion of hook /ConfigMap/a",
			"FAILED " + why,
		},
		"failure": {
			"hooks for failures run",
			[]string{"a", "b", "later sync-wave=1", "fail hook=SyncFail"},
			"", "waiting for completion of hook /ConfigMap/fail",
			"FAILED " + why,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(tc.objects...)
			w.health = map[string]string{"a": "Progressing", "fail": "Progressing"}
			for _, task := range w.op.Next(began, w.live).Apply {
				switch task.ID.Name {
				case "b":
					w.op.Applied(task, began, operation.Result{Err: errors.New("it is forbidden")})
				case tc.needy:
					w.op.Applied(task, began, operation.Result{Needs: []engine.Wait{{On: task.ID, Reason: "its namespace does not exist"}}})
				default:
					w.there[task.ID.Name] = true
					w.op.Applied(task, began, operation.Result{})
				}
			}
			if got := w.run(t); got != tc.message {
				t.Errorf("%s: it says %q, want %q", tc.reason, got, tc.message)
			}
			w.health = map[string]string{}
			if got := w.run(t); got != tc.then {
				t.Errorf("%s: then it says %q, want %q", tc.reason, got, tc.then)
			}
		})
	}
}
