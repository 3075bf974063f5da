package plan_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/build/v1alpha1"
	"github.com/headgate-dev/headgate/internal/builds/plan"
)

func pointer[T any](v T) *T { return &v }

// story is what happens to a Build, and what is to be seen then.
type story struct {
	reason string
	spec   v1alpha1.BuildSpec
	do     func(t *testing.T, w *world)
	// runs is how many runs and images were created; ready is the status and reason of the condition.
	runs  int
	ready string
}

func TestStories(t *testing.T) {
	withRetry := func(limit int32) v1alpha1.BuildSpec {
		s := secretSpec()
		s.Retry.Limit = &limit
		return s
	}
	cancel := secretSpec()
	cancel.Concurrency.OnNewInputs = v1alpha1.Cancel
	restore := secretSpec()
	restore.RestoreOutput = v1alpha1.RestoreAlways
	scheduled := secretSpec()
	scheduled.Schedule = &v1alpha1.Schedule{Cron: "0 3 * * *", Timezone: "Europe/Berlin"}
	bare := secretSpec()
	bare.Outputs = nil
	byRun := secretSpec()
	byRun.Outputs[0].Secret.Keys = nil
	lose := func(w *world) { delete(w.secrets, "nixos-image") }

	for name, s := range map[string]story{
		"bootstrap": {"without outputs there is one run", secretSpec(), func(t *testing.T, w *world) { w.built(t) }, 1, "True BuildSucceeded"},
		"at rest": {"what is there is not built again", secretSpec(), func(t *testing.T, w *world) {
			w.built(t)
			w.now = w.now.Add(240 * time.Hour)
			w.built(t)
		}, 1, "True BuildSucceeded"},
		"while it runs": {"the outputs are not there yet", secretSpec(), func(t *testing.T, w *world) { w.settle(t) }, 1, "False Building"},
		"no inputs": {"nothing starts before the inputs are known", secretSpec(), func(t *testing.T, w *world) {
			w.missing = "GitRepository infra has no artifact"
			w.settle(t)
		}, 0, "False WaitingForInputs"},
		"suspended": {"nothing starts while it is suspended", func() v1alpha1.BuildSpec {
			x := secretSpec()
			x.Suspend = true
			return x
		}(), func(t *testing.T, w *world) { w.settle(t) }, 0, " "},
		"other input": {"other inputs are another digest", secretSpec(), func(t *testing.T, w *world) {
			w.built(t)
			w.rev = "def"
			w.built(t)
		}, 2, "True BuildSucceeded"},
		"secret deleted": {"to delete the Secret requests one run", secretSpec(), func(t *testing.T, w *world) {
			w.built(t)
			lose(w)
			w.built(t)
			w.built(t)
		}, 2, "True BuildSucceeded"},
		"secret deleted again": {"each deletion requests one", secretSpec(), func(t *testing.T, w *world) {
			w.built(t)
			for range 2 {
				lose(w)
				w.built(t)
			}
		}, 3, "True BuildSucceeded"},
		"secret deleted while inputs are unknown": {"the deletion counts once, however long nothing can be built", secretSpec(), func(t *testing.T, w *world) {
			w.built(t)
			lose(w)
			w.missing = "GitRepository infra has no artifact"
			w.settle(t)
			w.settle(t)
			if e := w.build.Status.RebuildEpoch; e != 1 {
				t.Errorf("the epoch is %d", e)
			}
			w.missing = ""
			w.built(t)
		}, 2, "True BuildSucceeded"},
		"secret emptied": {"a Secret without a value is as good as none", secretSpec(), func(t *testing.T, w *world) {
			w.built(t)
			s := w.secrets["nixos-image"]
			s.Empty = true
			w.secrets["nixos-image"] = s
			w.built(t)
		}, 2, "True BuildSucceeded"},
		"secret replaced": {"another Secret of that name is no output", secretSpec(), func(t *testing.T, w *world) {
			w.built(t)
			w.secrets["nixos-image"] = plan.Secret{UID: "other", Values: map[string]string{}}
			w.built(t)
		}, 2, "True BuildSucceeded"},
		"secret restored from a backup": {"a copy with its provenance is the output", secretSpec(), func(t *testing.T, w *world) {
			w.built(t)
			s := w.secrets["nixos-image"]
			s.UID = "restored"
			w.secrets["nixos-image"] = s
			w.built(t)
		}, 1, "True BuildSucceeded"},
		"secret deleted while it is built": {"the run that is active brings the Secret", secretSpec(), func(t *testing.T, w *world) {
			w.built(t)
			w.rev = "def"
			w.settle(t)
			lose(w)
			w.built(t)
		}, 2, "True BuildSucceeded"},
		"secret deleted, restored": {"by policy the Secret is written again from its run", restore, func(t *testing.T, w *world) {
			w.built(t)
			lose(w)
			w.built(t)
		}, 1, "True BuildSucceeded"},
		"secret deleted, run gone": {"without the run there is nothing to restore", restore, func(t *testing.T, w *world) {
			w.built(t)
			lose(w)
			clear(w.runs)
			w.built(t)
		}, 2, "True BuildSucceeded"},
		"build created again": {"what was built is known by its provenance, with the epoch", secretSpec(), func(t *testing.T, w *world) {
			w.built(t)
			lose(w)
			w.built(t)
			w.build.Status = v1alpha1.BuildStatus{}
			clear(w.runs)
			w.built(t)
		}, 2, "True BuildSucceeded"},
		"run deleted after it succeeded": {"a run that is gone is not missing", secretSpec(), func(t *testing.T, w *world) {
			w.built(t)
			clear(w.runs)
			w.built(t)
		}, 1, "True BuildSucceeded"},
		"run deleted while it was active": {"what a person deletes is not created again at once", secretSpec(), func(t *testing.T, w *world) {
			w.settle(t)
			clear(w.runs)
			w.settle(t)
		}, 1, "False ProgressingWithRetry"},
		"queue": {"new inputs wait for the run, and only the latest are built", secretSpec(), func(t *testing.T, w *world) {
			w.settle(t)
			for _, rev := range []string{"b", "c", "d"} {
				w.rev = rev
				w.settle(t)
			}
			w.built(t)
		}, 2, "True BuildSucceeded"},
		"cancel": {"new inputs terminate the run, which is no failure", cancel, func(t *testing.T, w *world) {
			w.settle(t)
			w.rev = "b"
			w.built(t)
			if w.build.Status.LastFailure != nil {
				t.Errorf("a failure was recorded: %+v", w.build.Status.LastFailure)
			}
		}, 2, "True BuildSucceeded"},
		"back to old inputs": {"a run that succeeded serves again", secretSpec(), func(t *testing.T, w *world) {
			for _, rev := range []string{"a", "b", "a"} {
				w.rev = rev
				w.built(t)
			}
		}, 2, "True BuildSucceeded"},
		"back to inputs that failed": {"they are attempted again, by another run", withRetry(0), func(t *testing.T, w *world) {
			w.settle(t)
			w.end("Failed", "no space")
			w.settle(t)
			w.rev = "b"
			w.built(t)
			w.rev = "abc1234567"
			w.built(t)
		}, 3, "True BuildSucceeded"},
		"failed once": {"a failure is repeated after a wait", secretSpec(), func(t *testing.T, w *world) {
			w.settle(t)
			w.end("Failed", "no space")
			w.settle(t)
			w.now = w.now.Add(time.Minute)
			w.built(t)
		}, 2, "True BuildSucceeded"},
		"stalled": {"after the limit nothing is paid for any more", withRetry(1), func(t *testing.T, w *world) {
			for range 5 {
				w.settle(t)
				w.end("Failed", "no space")
				w.settle(t)
				w.now = w.now.Add(time.Hour)
			}
		}, 2, "False RunFailed"},
		"stalled, then requested": {"a request allows as many attempts again, under other names", withRetry(0), func(t *testing.T, w *world) {
			w.settle(t)
			w.end("Failed", "no space")
			w.settle(t)
			w.build.Annotations = map[string]string{plan.RequestedAt: "now"}
			w.built(t)
		}, 2, "True BuildSucceeded"},
		"stalled, then other inputs": {"other inputs are attempted", withRetry(0), func(t *testing.T, w *world) {
			w.settle(t)
			w.end("Error", "lost")
			w.settle(t)
			w.rev = "b"
			w.built(t)
		}, 2, "True BuildSucceeded"},
		"output parameter missing": {"a run without the output has failed", withRetry(0), func(t *testing.T, w *world) {
			w.settle(t)
			w.end("Succeeded", "")
			for name, r := range w.runs {
				r.Outputs = nil
				w.runs[name] = r
			}
			w.settle(t)
			if len(w.secrets) > 0 {
				t.Errorf("a Secret was written")
			}
		}, 1, "False OutputMissing"},
		"secret of another Build": {"an output has one Build", withRetry(0), func(t *testing.T, w *world) {
			w.secrets["nixos-image"] = plan.Secret{UID: "x", Of: "apps/other", Values: map[string]string{"image": "1"}}
			w.built(t)
			if w.secrets["nixos-image"].Values["image"] != "1" {
				t.Errorf("it was overwritten")
			}
		}, 1, "False OutputInUse"},
		"written by the run": {"a Secret that the run writes gets its provenance", byRun, func(t *testing.T, w *world) {
			w.settle(t)
			w.secrets["nixos-image"] = plan.Secret{UID: "x", Values: map[string]string{"image": "nixos-latest"}}
			w.built(t)
			s := w.secrets["nixos-image"]
			if s.Annotations[v1alpha1.AnnotationRun] == "" || s.Values["image"] != "nixos-latest" {
				t.Errorf("it is %+v", s)
			}
			lose(w)
			w.settle(t)
			w.secrets["nixos-image"] = plan.Secret{UID: "y", Values: map[string]string{"image": "nixos-latest"}}
			w.built(t)
		}, 2, "True BuildSucceeded"},
		"not written by the run": {"a run that does not write its Secret has failed", func() v1alpha1.BuildSpec {
			x := byRun
			x.Retry.Limit = pointer(int32(0))
			return x
		}(), func(t *testing.T, w *world) { w.built(t) }, 1, "False OutputMissing"},
		"no outputs": {"without outputs a run is enough", bare, func(t *testing.T, w *world) {
			w.built(t)
			w.built(t)
		}, 1, "True BuildSucceeded"},
		"scheduled": {"each day there is one more, late or not", scheduled, func(t *testing.T, w *world) {
			w.built(t)
			w.now = w.now.Add(24 * time.Hour)
			w.built(t)
			w.now = w.now.Add(72 * time.Hour)
			w.built(t)
			if want := "2026-11-24T02:00:00Z"; w.build.Status.LastScheduleTime.UTC().Format(time.RFC3339) != want {
				t.Errorf("the last time is %s, want %s: 3:00 in Berlin", w.build.Status.LastScheduleTime, want)
			}
		}, 3, "True BuildSucceeded"},
		"scheduled while it is built": {"the active run is as fresh", scheduled, func(t *testing.T, w *world) {
			w.settle(t)
			w.now = w.now.Add(24 * time.Hour)
			w.built(t)
		}, 1, "True BuildSucceeded"},
		"wrong schedule": {"a schedule that is none is named", func() v1alpha1.BuildSpec {
			x := secretSpec()
			x.Schedule = &v1alpha1.Schedule{Cron: "often"}
			return x
		}(), func(t *testing.T, w *world) { w.settle(t) }, 1, "False InvalidSpec"},
		"image": {"the run uploads, one image is registered, and then the Secret is written", imageSpec(), func(t *testing.T, w *world) {
			w.built(t)
			s := w.secrets["nixos-image"].Values
			if s["image"] == "" || s["slug"] == "" || s["digest"] != w.build.Status.ObservedDigest || s["builtAt"] == "" {
				t.Errorf("the Secret has %v", s)
			}
			if want := "nixos-20261120-abc1234-" + plan.Short(w.build.Status.ObservedDigest); s["slug"] != want {
				t.Errorf("the image is %q, want %q", s["slug"], want)
			}
		}, 2, "True BuildSucceeded"},
		"image not available": {"nothing is written before the image is available", imageSpec(), func(t *testing.T, w *world) {
			w.settle(t)
			w.end("Succeeded", "")
			w.settle(t)
			if len(w.secrets) > 0 {
				t.Errorf("a Secret was written")
			}
		}, 2, "False Building"},
		"image failed": {"an image that cannot be imported is a failure, and the next attempt registers another one", imageSpec(), func(t *testing.T, w *world) {
			w.settle(t)
			w.end("Succeeded", "")
			w.settle(t)
			for name, i := range w.images {
				i.Failed = "the URL answers 404"
				w.images[name] = i
			}
			w.settle(t)
			w.now = w.now.Add(time.Minute)
			w.built(t)
		}, 4, "True BuildSucceeded"},
		"image deleted": {"without its image an output is of no use", imageSpec(), func(t *testing.T, w *world) {
			w.built(t)
			clear(w.images)
			w.built(t)
		}, 4, "True BuildSucceeded"},
		"images unknown": {"what could not be read is not taken for deleted", imageSpec(), func(t *testing.T, w *world) {
			w.built(t)
			kept := w.images
			w.unread, w.images = "forbidden", nil
			w.settle(t)
			w.unread, w.images = "", kept
			w.settle(t)
		}, 2, "True BuildSucceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, s.spec)
			s.do(t, w)
			if n := w.runsCreated(t); n != s.runs {
				t.Errorf("%s: %d runs and images were created, want %d: %v", s.reason, n, s.runs, w.created)
			}
			status, reason, message := w.condition(v1alpha1.ConditionReady)
			if got := status + " " + reason; got != s.ready {
				t.Errorf("%s: Ready is %q, want %q: %s", s.reason, got, s.ready, message)
			}
		})
	}
}

// TestKilledAnywhere kills the process after every effect of a life of a Build, with the deletion of its Secret while it is down. There is one run for
// each reason to run, one image for each run, and the outputs are there in the end.
func TestKilledAnywhere(t *testing.T) {
	for name, spec := range map[string]v1alpha1.BuildSpec{"secret": secretSpec(), "image": imageSpec()} {
		t.Run(name, func(t *testing.T) {
			perRun := 1
			if spec.Image != nil {
				perRun = 2
			}
			for kill := range 20 {
				w := newWorld(t, spec)
				w.budget = kill
				for range 4 {
					for w.pass() {
					}
					w.end("Succeeded", "")
					w.available()
				}
				// Another process starts.
				w.budget = -1
				w.built(t)
				if n := w.runsCreated(t); n != perRun {
					t.Errorf("killed after %d effects: %v", kill, w.created)
				}
				delete(w.secrets, "nixos-image")
				w.budget = kill
				for range 4 {
					for w.pass() {
					}
					w.end("Succeeded", "")
					w.available()
				}
				w.budget = -1
				w.built(t)
				if n := w.runsCreated(t); n != 2*perRun || w.secrets["nixos-image"].Empty {
					t.Errorf("the Secret was deleted, and the process killed after %d effects: %v, %+v", kill, w.created, w.secrets)
				}
			}
		})
	}
}

func TestBackoff(t *testing.T) {
	spec := secretSpec()
	spec.Retry = v1alpha1.Retry{Limit: pointer(int32(9)), Backoff: v1alpha1.Backoff{
		Duration: &metav1.Duration{Duration: time.Second}, Factor: pointer(int32(3)), Cap: &metav1.Duration{Duration: 10 * time.Second},
	}}
	w := newWorld(t, spec)
	for _, want := range []time.Duration{time.Second, 3 * time.Second, 9 * time.Second, 10 * time.Second} {
		w.settle(t)
		w.end("Failed", "x")
		d := plan.Next(w.build, w.facts())
		if got := d.Build.Status.NextAttemptTime.Sub(w.now); got != want {
			t.Errorf("it waits %s, want %s", got, want)
		}
		if !d.Wake.Equal(w.now.Add(want)) {
			t.Errorf("it wakes at %s", d.Wake)
		}
		w.settle(t)
		w.now = w.now.Add(want)
	}
}

// TestInUse deletes all old images but those that something needs.
func TestInUse(t *testing.T) {
	spec := imageSpec()
	spec.GC = &v1alpha1.GC{KeepImages: pointer(int32(1)), MinAge: &metav1.Duration{Duration: time.Hour}}
	for name, c := range map[string]struct {
		reason string
		change func(w *world, oldest *plan.Image)
		kept   bool
	}{
		"unused":               {"nothing needs it", func(*world, *plan.Image) {}, false},
		"droplet by number":    {"a Droplet was created from it", func(w *world, i *plan.Image) { w.users[i.ID] = "Droplet web" }, true},
		"droplet by reference": {"a Droplet refers to it", func(w *world, i *plan.Image) { w.users[i.Resource] = "Droplet web" }, true},
		"active run": {"a run makes it", func(w *world, i *plan.Image) {
			w.build.Status.Active = &v1alpha1.ActiveRun{Run: i.Resource, Digest: i.Digest}
		}, true},
		"output":                   {"an output names it", func(w *world, i *plan.Image) { w.build.Status.LastSuccess.Image.ID = i.ID }, true},
		"unread":                   {"what uses images is unknown", func(w *world, _ *plan.Image) { w.unread = "Droplets cannot be read" }, true},
		"young":                    {"it is too young", func(w *world, i *plan.Image) { i.Created = w.now.Add(-time.Minute) }, true},
		"inputs unknown":           {"it may be what is declared", func(w *world, _ *plan.Image) { w.missing = "no artifact" }, true},
		"failed, young":            {"a failed one is kept for a while", func(w *world, i *plan.Image) { i.Failed, i.Created = "404", w.now }, true},
		"failed":                   {"a failed one is deleted", func(_ *world, i *plan.Image) { i.Failed = "404" }, false},
		"another one uses another": {"what others need does not matter", func(w *world, _ *plan.Image) { w.users["1"] = "Droplet web" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, spec)
			w.built(t)
			var first string
			for first = range w.images {
			}
			w.rev = "b"
			w.now = w.now.Add(time.Minute)
			w.built(t)
			w.now = w.now.Add(48 * time.Hour)
			i := w.images[first]
			c.change(w, &i)
			w.images[first] = i
			deleted := false
			for _, a := range plan.Next(w.build, w.facts()).Actions {
				deleted = deleted || a.Do == plan.DeleteImage && a.Name == first && a.UID == i.UID
				if a.Do == plan.DeleteImage && a.Name != first {
					t.Errorf("%s is deleted, too", a.Name)
				}
			}
			if deleted == c.kept {
				t.Errorf("%s: deleted %v", c.reason, deleted)
			}
		})
	}
}

func TestHistory(t *testing.T) {
	spec := secretSpec()
	spec.History = v1alpha1.History{Successful: pointer(int32(1)), Failed: pointer(int32(0))}
	w := newWorld(t, spec)
	for _, rev := range []string{"a", "b", "c"} {
		w.rev = rev
		w.now = w.now.Add(time.Hour)
		w.settle(t)
		w.end("Failed", "x")
		w.settle(t)
		w.now = w.now.Add(time.Hour)
		w.built(t)
	}
	if len(w.runs) != 1 || w.runs[w.build.Status.LastSuccess.Run].Name == "" {
		t.Errorf("the runs are %v, want that of the outputs", w.runs)
	}
}

// TestNoSecretInStatus shows only the values that are declared public.
func TestNoSecretInStatus(t *testing.T) {
	spec := secretSpec()
	spec.Outputs[0].Secret.Keys["token"] = "t0ps3cret-{{outputs.parameters.image-id}}"
	w := newWorld(t, spec)
	w.built(t)
	text := strings.Join([]string{jsonOf(t, w.build.Status)}, "")
	if strings.Contains(text, "t0ps3cret") {
		t.Errorf("the status has a secret value: %s", text)
	}
	if !strings.Contains(text, w.secrets["nixos-image"].Values["image"]) {
		t.Errorf("the status lacks the public value: %s", text)
	}
}
