package argo

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/argo/configuration"
	"github.com/headgate-dev/headgate/internal/argo/live"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/guard"
)

// unheard listens to a cluster, to no end.
type unheard struct{ cluster.Listener }

func (unheard) ObjectChanged(engine.ObjectID) {}

// clusterWith knows of some objects, and is never asked more.
func clusterWith(t *testing.T, objects ...*unstructured.Unstructured) *cluster.Cluster {
	t.Helper()
	judge := live.NewJudge(t.Context(), "argocd", configuration.NewSettings("argocd"))
	c, err := cluster.Connect(&rest.Config{Host: "http://127.0.0.1:1"}, "", cluster.Ownership{Judge: judge}, unheard{}, guard.Guard{})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range objects {
		c.Objects.Put(u)
	}
	return c
}

// onceJob is a Job that its time to live deletes, and that has completed or runs.
func onceJob(completed bool) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "once", "namespace": "a", "resourceVersion": "5"},
		"spec": map[string]any{"ttlSecondsAfterFinished": int64(1)},
	}}
	if completed {
		u.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Complete", "status": "True"}}}
	}
	return u
}

// TestJobsThatRunOnce reports which Jobs have completed, and what the Application is to say of them.
func TestJobsThatRunOnce(t *testing.T) {
	declared := onceJob(false)
	id := engine.IDOf(declared)
	noted := encoded(map[string]string{doneKey(id): "new"})
	for name, tc := range map[string]struct {
		reason     string
		live       *unstructured.Unstructured
		standing   apply.Standing
		annotation string
		finished   bool
		said       string
	}{
		"runs":      {"one that runs has not completed", onceJob(false), apply.Standing{InSync: true}, "", false, ""},
		"completed": {"one that has completed when the first comparison finds it counts, and is noted", onceJob(true), apply.Standing{InSync: true}, "", true, noted},
		"other":     {"one of another content says nothing of the declared one", onceJob(true), apply.Standing{}, "", false, ""},
		"changed":   {"nor does a change by hand take back what was noted", onceJob(true), apply.Standing{}, noted, true, noted},
		"gone":      {"what another process noted counts when it is gone", nil, apply.Standing{Missing: true}, noted, true, noted},
		"lost":      {"what nobody noted is to run", nil, apply.Standing{Missing: true}, "", false, ""},
		"replaced":  {"what was noted of another content does not count", nil, apply.Standing{Missing: true}, encoded(map[string]string{doneKey(id): "old"}), false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := &app{declaration: declaration{obj: application("1")}}
			a.obj.Annotations = map[string]string{annotationDone: tc.annotation}
			var there []*unstructured.Unstructured
			if tc.live != nil {
				there = append(there, tc.live)
			}
			a.see(clusterWith(t, there...))
			o := &compared{entry: engine.EntryOf(declared), order: apply.Order{Object: declared, Digest: "new"}, standing: tc.standing}
			a.view.jobs = jobsOf(&comparison{objects: []*compared{o}})
			if got := a.hasFinished(id); got != tc.finished {
				t.Errorf("%s: it has completed: %t", tc.reason, got)
			}
			if got := a.completed(); got != tc.said {
				t.Errorf("%s: the annotation is to be %s, want %s", tc.reason, got, tc.said)
			}
			if got, want := a.unnoted(), tc.said != tc.annotation; got != want {
				t.Errorf("%s: there is something to note: %t", tc.reason, got)
			}
		})
	}
}

// TestOver reports which Jobs that have completed are not written again: their time to live may be over.
func TestOver(t *testing.T) {
	same := apply.Standing{InSync: true}
	for name, tc := range map[string]struct {
		o     compared
		there bool
		want  bool
	}{
		"as declared":             {compared{standing: same}, true, true},
		"gone since":              {compared{standing: same}, false, true},
		"changed":                 {compared{}, true, false},
		"changed, and gone since": {compared{}, false, true},
		"recreated by every sync": {compared{standing: same, order: apply.Order{Force: true}}, true, false},
		"recreated by every sync, and deleted for that": {compared{standing: same, order: apply.Order{Force: true}}, false, false},
		"replaced by every sync":                        {compared{standing: same, order: apply.Order{Mode: apply.Replace}}, true, false},
	} {
		if got := tc.o.over(tc.there); got != tc.want {
			t.Errorf("%s: over is %t", name, got)
		}
	}
}
