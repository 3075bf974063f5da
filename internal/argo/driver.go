package argo

import (
	"context"
	"errors"
	"fmt"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/argo/live"
	"github.com/headgate-dev/headgate/internal/argo/manifests"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// driver brings Applications to what they declare. The runner calls it for one Application at a time.
type driver struct{ *Engine }

// job is what the worker of an Application knows between two calls.
type job struct {
	// rendered is the last render, from what was options.
	rendered *manifests.Result
	options  string
	// key is the desired state that is worked on, target where and as whom.
	key    engine.Key
	target engine.Target
	// compared is the last comparison.
	compared *comparison
	// op is the current operation, with the request that started it.
	op *running
	// attempted is the digest of what the last operation applied, obstacles that of what was in its way.
	attempted, obstacles string
	// surveyed is the request for which the cluster was last searched for marked objects.
	surveyed *string
	// orphans are those of the namespace of the destination, as they were counted last.
	orphans orphans
	// teardown is the current deletion, in tearing.
	teardown *operation.Operation
	tearing  engine.Target
}

// sameContent reports whether what is declared is what the last operation applied.
func (j *job) sameContent(c *comparison) bool { return j.attempted != "" && j.attempted == c.digest }

// failure is one that the status of an Application says by a condition.
type failure struct {
	condition engine.Reason
	err       error
	lasting   bool
}

func (f *failure) Error() string         { return f.err.Error() }
func (f *failure) Unwrap() error         { return f.err }
func (f *failure) Reason() engine.Reason { return f.condition }

// Terminal reports whether trying again would give the same.
func (f *failure) Terminal() bool { return f.lasting }

// Traits are those of units whose objects are known before, and that apply and delete them in their own order.
func (d *driver) Traits() runner.Traits { return runner.Traits{Declares: true} }

// Prepare renders the sources of an Application.
func (d *driver) Prepare(ctx context.Context, p runner.Preparation) (runner.Prepared, error) {
	inputs, err := d.inputs(ctx, p.Unit, p.Fresh)
	out := runner.Prepared{Inputs: inputs}
	if err != nil {
		out.Mentions = d.mentions(p.Unit)
	}
	return out, err
}

func (d *driver) inputs(ctx context.Context, id engine.UnitID, fresh bool) (runner.Inputs, error) {
	a := d.apps.get(id)
	if a == nil {
		return runner.Inputs{}, fmt.Errorf("reading %s: it was deleted", id)
	}
	request, err := d.request(ctx, a, fresh)
	if err != nil {
		return runner.Inputs{}, err
	}
	defer d.measuresReconcile(a)()
	result, err := d.render(ctx, a, request)
	if err != nil {
		a.typed(err)
		return runner.Inputs{}, &failure{condition: v1alpha1.ApplicationConditionComparisonError, err: err}
	}
	if err := d.comesFrom(a, request.origins); err != nil {
		return runner.Inputs{}, err
	}
	d.foresee(a, request.Request, result)
	obj := a.now()
	objects, digest, err := d.objects(a, result)
	if err != nil {
		return runner.Inputs{}, err
	}
	d.makes(a, madeOf(result, objects))
	return runner.Inputs{Objects: objects, Namespace: obj.Spec.Destination.Namespace, LastWins: true, Digest: digest}, nil
}

// Act compares, begins an operation when there is reason to, and brings it on as far as it can be without waiting.
func (d *driver) Act(ctx context.Context, w runner.Work) runner.Acted {
	a := d.apps.get(w.Unit)
	if a == nil {
		return runner.Acted{Failure: &engine.Failure{Reason: engine.ReasonFailed, Message: "it was deleted"}, Terminal: true}
	}
	if err := d.gate(a, w).stale(); err != nil {
		return stopped(a, err)
	}
	a.see(w.Cluster)
	d.leaveBehind(a, w)
	if a.job.op == nil || a.job.key != w.Key || a.job.target != w.Declared.Target || a.job.op.misplaced(w) {
		d.endEarly(ctx, a, w)
		if acted, stop := d.open(ctx, a, w); stop {
			return acted
		}
	}
	if a.job.op != nil {
		return d.advance(ctx, a, w)
	}
	return d.rest(a)
}

// open compares what is declared with what is there, and begins an operation when there is reason to.
func (d *driver) open(ctx context.Context, a *app, w runner.Work) (runner.Acted, bool) {
	c, err := d.compare(ctx, a, w)
	if errors.Is(err, errMoved) {
		return stopped(a, err), true
	}
	if err != nil {
		return failed(err), true
	}
	if err := d.keepHooks(ctx, a, c); err != nil {
		return failed(err), true
	}
	why, err := d.barred(ctx, a, w, c)
	switch {
	case err != nil:
		return failed(err), true
	case why != "":
		return d.hold(a, c, why), true
	}
	if a.job.op != nil && a.job.key == w.Key && a.job.target == w.Declared.Target {
		// The same is declared: only which of it has a namespace was unknown.
		a.job.attempted = c.digest
	}
	continues := d.continues(a, w, c)
	a.job.key, a.job.target, a.job.compared = w.Key, w.Declared.Target, c
	if continues {
		d.goOn(a, w, c)
	} else {
		d.startOver(ctx, a, w, c)
	}
	d.releaseStrays(ctx, a, w)
	return runner.Acted{}, false
}

// startOver begins an operation when there is reason to, instead of one that runs.
func (d *driver) startOver(ctx context.Context, a *app, w runner.Work, c *comparison) {
	switch op := d.begin(a, w, c); {
	case op != nil:
		if was := a.job.op; was != nil {
			op.sync.Supersede(was.sync, c.declaresHook)
		}
		a.job.op = op
	case a.job.op != nil:
		// What was superseded is over; its hooks run to their end on their own.
		d.abandon(ctx, a, w)
	}
}

// endEarly ends an operation that is terminated, or whose time is over, before what is declared by now is compared: that may have to wait.
func (d *driver) endEarly(ctx context.Context, a *app, w runner.Work) {
	if a.job.op == nil {
		return
	}
	if why, _ := d.ends(a, a.job.op); why != "" {
		d.stop(ctx, a, w, why)
	}
}

// stopped is what is left of a step that may not continue: what is declared by now is about to be evaluated.
func stopped(a *app, why error) runner.Acted {
	return runner.Acted{Waiting: []engine.Wait{{On: a.id, Reason: why.Error()}}}
}

// leaveBehind ends an operation whose objects are in another cluster than those of now. What it did there is done there; here,
// nothing of it was.
func (d *driver) leaveBehind(a *app, w runner.Work) {
	op, was := a.job.op, a.job.target
	if op == nil || was.Cluster == w.Declared.Target.Cluster {
		return
	}
	op.state.Phase, op.state.Message = v1alpha1.OperationFailed, policy.Moved
	a.job.op, a.job.attempted = nil, ""
	a.ended(op, a.job.compared, false, 0)
	d.events.operation(a.now(), op)
}

func failed(err error) runner.Acted {
	known := (*failure)(nil)
	f := &engine.Failure{Reason: engine.ReasonFailed, Message: err.Error(), Transient: apply.Transient(err), Refused: apply.Refused(err)}
	if errors.As(err, &known) {
		f.Reason = known.condition
	}
	return runner.Acted{Failure: f, Terminal: known != nil && known.lasting}
}

// rest is what is left when no operation is in progress: the objects are followed, and their health is waited for, or when
// one may begin.
func (d *driver) rest(a *app) runner.Acted {
	c := a.job.compared
	if why := a.failure(c); why != "" {
		f := &engine.Failure{Reason: engine.ReasonFailed, Message: why, After: a.untilAgain()}
		return runner.Acted{Entries: c.entries(), Held: true, Failure: f, Needs: c.needs, Terminal: f.After == 0 && len(c.needs) == 0}
	}
	acted := runner.Acted{Entries: c.entries(), Held: true, Waits: true, Needs: c.needs}
	if again, why := a.again(); !again.IsZero() {
		acted.Again, acted.Waiting = again, []engine.Wait{{On: a.id, Reason: "out of sync: " + why, Until: again}}
	}
	return acted
}

// Judge says how well an Application is as the object of another one.
func (d *driver) Judge(id engine.UnitID, rec cluster.Record) engine.ObjectHealth {
	h := d.children.Health(id, rec)
	out := engine.ObjectHealth{ID: rec.ID, Verdict: engine.InProgress, Status: h.Status, Message: h.Message}
	switch h.Status {
	case live.Healthy, "":
		out.Verdict = engine.Current
	case live.Degraded:
		out.Verdict = engine.Failed
	}
	return out
}
