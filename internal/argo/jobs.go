package argo

import (
	"encoding/json"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/argo/live"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/engine"
)

// jobOnce is a declared Job that runs once.
type jobOnce struct {
	// content is the digest of its declaration.
	content string
	// stands is set where the Job that is there is of that content, or none is there: one of another content that has
	// completed says nothing of this one.
	stands bool
}

// jobsOf are the Jobs of a comparison that run once.
func jobsOf(c *comparison) map[engine.ObjectID]jobOnce {
	jobs := map[engine.ObjectID]jobOnce{}
	for _, o := range c.objects {
		if o.order.Object != nil && operation.RunsOnce(o.order.Object) {
			jobs[o.entry.ID] = jobOnce{o.order.Digest, o.done || o.standing.InSync || o.standing.Missing}
		}
	}
	return jobs
}

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

// hasFinished reports whether a Job has completed, as was seen here, or by a process that has ended since.
func (a *app) hasFinished(id engine.ObjectID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.noteFinished()
	job, once := a.view.jobs[id]
	return once && (a.view.finished[id] == job.content || doneOf(a.obj)[doneKey(id)] == job.content)
}

// unnoted reports whether the Application does not say yet which Jobs have completed.
func (a *app) unnoted() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.completed() != a.obj.Annotations[annotationDone]
}

// over reports whether a Job that has completed is not written again. Its time to live may delete it at any moment: whatever
// writes it then makes it run again. One that differs is written as long as it is there, and one that every sync recreates is
// recreated.
func (o *compared) over(there bool) bool {
	recreated := o.order.Force || o.order.Mode == apply.Replace
	return !recreated && (!there || o.standing.InSync)
}

// noteFinished remembers the Jobs that have completed: they may be gone in a moment. The caller holds the lock.
func (a *app) noteFinished() {
	for id, job := range a.view.jobs {
		if rec, there := a.recordOf(id); there && job.stands && rec.Health.Status == live.Healthy {
			a.finish(id)
		}
	}
}

// complete remembers a Job that was seen to have completed by an operation, which continues on that ground: its record may be gone
// when the next one looks.
func (a *app) complete(id engine.ObjectID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.finish(id)
}

// finish remembers a Job that has completed, if it runs once. The caller holds the lock.
func (a *app) finish(id engine.ObjectID) {
	job, once := a.view.jobs[id]
	if !once {
		return
	}
	if a.view.finished == nil {
		a.view.finished = map[engine.ObjectID]string{}
	}
	a.view.finished[id] = job.content
}

// completed is what the annotation says of Jobs that have completed and that their time to live deletes. The caller
// holds the lock.
func (a *app) completed() string {
	done := doneOf(a.obj)
	kept := map[string]string{}
	for id, job := range a.view.jobs {
		key := doneKey(id)
		if a.view.finished[id] == job.content || done[key] == job.content {
			kept[key] = job.content
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
