package argo

import (
	"encoding/json"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/live"
	"github.com/headgate-dev/headgate/internal/engine"
)

// done are the Jobs that have completed, by the digest of their content.
func (a *app) done(obj *v1alpha1.Application) map[string]string {
	done := doneOf(obj)
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, content := range a.view.finished {
		done[doneKey(id)] = content
	}
	return done
}

// hasFinished tells whether a Job has completed.
func (a *app) hasFinished(id engine.ObjectID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.view.jobs[id] != "" && a.view.finished[id] == a.view.jobs[id]
}

// noteFinished remembers the Jobs that have completed: they may be gone in a moment. The caller holds the lock.
func (a *app) noteFinished() {
	for id := range a.view.jobs {
		if rec, there := a.recordOf(id); there && rec.Health.Status == live.Healthy {
			a.finish(id)
		}
	}
}

// complete remembers a Job that was seen to have completed by an operation, which goes on with that: its record may be gone
// when the next one looks.
func (a *app) complete(id engine.ObjectID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.finish(id)
}

// finish remembers a Job that has completed, if it runs once. The caller holds the lock.
func (a *app) finish(id engine.ObjectID) {
	content, once := a.view.jobs[id]
	if !once {
		return
	}
	if a.view.finished == nil {
		a.view.finished = map[engine.ObjectID]string{}
	}
	a.view.finished[id] = content
}

// completed is what the annotation says of Jobs that have completed and that their time to live deletes. The caller
// holds the lock.
func (a *app) completed() string {
	done := doneOf(a.obj)
	kept := map[string]string{}
	for id, content := range a.view.jobs {
		key := doneKey(id)
		if a.view.finished[id] == content || done[key] == content {
			kept[key] = content
		}
	}
	if a.view.jobs == nil {
		kept = done
	}
	if len(kept) == 0 {
		return ""
	}
	return encoded(kept)
}

// doneOf are the objects that have completed, by the digest of their content.
func doneOf(obj *v1alpha1.Application) map[string]string {
	done := map[string]string{}
	if text := obj.Annotations[annotationDone]; text != "" {
		if err := json.Unmarshal([]byte(text), &done); err != nil {
			return map[string]string{}
		}
	}
	return done
}

func doneKey(id engine.ObjectID) string { return id.Group + "/" + id.String() }
