package argo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/argo/feeds"
	"github.com/headgate-dev/headgate/internal/argo/manifests"
	"github.com/headgate-dev/headgate/internal/argo/operation"
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
	// key is the desired state that is worked on.
	key engine.Key
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
	// teardown is the current deletion.
	teardown *operation.Operation
}

// sameContent tells whether what is declared is what the last operation applied.
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

// Terminal tells that trying again would give the same.
func (f *failure) Terminal() bool { return f.lasting }

// Traits are those of units whose objects are known before, and that apply and delete them in their own order.
func (d *driver) Traits() runner.Traits { return runner.Traits{Declares: true} }

// Prepare renders the sources of an Application.
func (d *driver) Prepare(ctx context.Context, p runner.Preparation) (runner.Prepared, error) {
	inputs, err := d.inputs(ctx, p.Unit)
	return runner.Prepared{Inputs: inputs}, err
}

func (d *driver) inputs(ctx context.Context, id engine.UnitID) (runner.Inputs, error) {
	a := d.apps.get(id)
	if a == nil {
		return runner.Inputs{}, fmt.Errorf("reading %s: it was deleted", id)
	}
	request, err := d.request(ctx, a)
	if err != nil {
		return runner.Inputs{}, err
	}
	defer d.measuresReconcile(a)()
	result, err := d.render(ctx, a, request)
	if err != nil {
		a.typed(err)
		return runner.Inputs{}, &failure{condition: v1alpha1.ApplicationConditionComparisonError, err: err}
	}
	d.charted(a, result)
	obj := a.now()
	objects, err := d.objects(a, result)
	if err != nil {
		return runner.Inputs{}, err
	}
	return runner.Inputs{Objects: objects, Namespace: obj.Spec.Destination.Namespace, LastWins: true, Digest: result.Digest}, nil
}

// request gathers what an Application is rendered from.
func (d *driver) request(ctx context.Context, a *app) (manifests.Request, error) {
	s := d.settings.now()
	a.mu.Lock()
	obj, sources, keys := a.obj, slices.Clone(a.sources), slices.Clone(a.keys)
	a.mu.Unlock()
	r := manifests.Request{
		App: manifests.App{
			Name: obj.Name, Namespace: obj.Spec.Destination.Namespace, Project: obj.Spec.Project,
			KubeVersion: d.version, APIVersions: d.apiVersions(),
		},
		Multiple: len(obj.Spec.Sources) > 0, Options: manifests.OptionsOf(s),
	}
	for i, k := range keys {
		state := d.feeds.Get(k)
		if !state.Has() {
			return r, fmt.Errorf("%s: not fetched", sourceName(keys, i))
		}
		r.Sources = append(r.Sources, manifests.Source{Spec: sources[i], Tree: state.Tree, Chart: state.Chart, Revision: state.Revision})
	}
	if d.Substitutes != nil {
		r.Options.LeaveOut, r.Options.StandIns = d.Substitutes.LeaveOut(a.id), true
	}
	var err error
	r.Decrypt, err = d.keys(ctx, a.id, obj)
	return r, err
}

// render renders, unless the sources would give the same again.
func (d *driver) render(ctx context.Context, a *app, r manifests.Request) (*manifests.Result, error) {
	options := optionsDigest(r)
	if was := a.job.rendered; was != nil && a.job.options == options && !was.Volatile && was.Unchanged(r.Sources) {
		return was, nil
	}
	result, err := d.renderCharted(ctx, a, r)
	if err != nil {
		return nil, err
	}
	a.job.rendered, a.job.options = result, options
	return result, nil
}

// renderCharted renders, and again when the charts that it requested have arrived.
func (d *driver) renderCharted(ctx context.Context, a *app, r manifests.Request) (*manifests.Result, error) {
	charts := d.feeds.Charts(a.now().Spec.Project)
	r.Charts = charts
	for {
		result, err := d.renderOnce(ctx, r)
		if !errors.Is(err, feeds.ErrPending) {
			return result, err
		}
		if err := charts.Wait(ctx); err != nil {
			return nil, err
		}
	}
}

// renderOnce renders, when a processor is free.
func (d *driver) renderOnce(ctx context.Context, r manifests.Request) (*manifests.Result, error) {
	select {
	case d.renders <- struct{}{}:
		defer func() { <-d.renders }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return d.renderer.Render(ctx, r)
}

// objects are those that are declared: of a request that brings objects of its own, those.
func (d *driver) objects(a *app, result *manifests.Result) ([]*unstructured.Unstructured, error) {
	obj := a.now()
	if op := obj.Operation; op != nil && op.Sync != nil && len(op.Sync.Manifests) > 0 {
		return parseManifests(op.Sync.Manifests)
	}
	// An empty list is an answer, none would be none.
	return slices.Concat([]*unstructured.Unstructured{}, result.Objects), nil
}

func parseManifests(texts []string) ([]*unstructured.Unstructured, error) {
	objects := []*unstructured.Unstructured{}
	for i, text := range texts {
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON([]byte(text)); err != nil {
			return nil, &failure{condition: v1alpha1.ApplicationConditionSyncError, err: fmt.Errorf("operation.sync.manifests[%d]: %w", i, err), lasting: true}
		}
		objects = append(objects, u)
	}
	return objects, nil
}

// Act compares, begins an operation when there is reason to, and brings it on as far as it can be without waiting.
func (d *driver) Act(ctx context.Context, w runner.Work) runner.Acted {
	a := d.apps.get(w.Unit)
	if a == nil {
		return runner.Acted{Failure: &engine.Failure{Reason: engine.ReasonFailed, Message: "it was deleted"}, Terminal: true}
	}
	a.see(w.Cluster)
	if a.job.op == nil || a.job.key != w.Key {
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
	a.job.key, a.job.compared = w.Key, c
	switch op := d.begin(a, w, c); {
	case op != nil:
		if was := a.job.op; was != nil {
			op.sync.Supersede(was.sync)
		}
		a.job.op = op
	case a.job.op != nil:
		// What was superseded is over; its hooks run to their end on their own.
		d.abandon(ctx, a, w)
	}
	d.releaseStrays(ctx, a, w)
	return runner.Acted{}, false
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
	acted := runner.Acted{Entries: c.entries(), Held: true, Waits: true, Needs: c.needs}
	if again, why := a.again(); !again.IsZero() {
		acted.Again, acted.Waiting = again, []engine.Wait{{On: a.id, Reason: "out of sync: " + why, Until: again}}
	}
	return acted
}

// Judge says how well an Application is as the object of another one.
func (d *driver) Judge(id engine.UnitID, rec cluster.Record) engine.ObjectHealth {
	h := d.childHealth(id, rec)
	out := engine.ObjectHealth{ID: rec.ID, Verdict: engine.InProgress, Status: h.Status, Message: h.Message}
	switch h.Status {
	case healthy, "":
		out.Verdict = engine.Current
	case degraded:
		out.Verdict = engine.Failed
	}
	return out
}

// optionsDigest stands for everything of a request but its sources' content.
func optionsDigest(r manifests.Request) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%+v %v %+v %v", r.App, r.Multiple, r.Options.Kustomize, r.Options.Jsonnet)
	for _, s := range r.Sources {
		text.WriteString(encoded(s.Spec))
		if buildEnvironment(s.Spec) {
			text.WriteString(s.Revision)
		}
	}
	if r.Decrypt != nil {
		text.WriteString("decrypted")
	}
	return digest(text.String())
}
