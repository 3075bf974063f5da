package builds

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/headgate-dev/headgate/api/build/v1alpha1"
	"github.com/headgate-dev/headgate/internal/builds/plan"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/rounds"
)

// rounds of decisions in one pass: the status of a run that was created, outputs that were written. What is left then is done by the next pass.
const decisions = 6

// Pass brings a Build closer to what it declares.
func (p *part) Pass(ctx context.Context, id engine.UnitID) rounds.Next {
	began := now()
	next, err := p.pass(ctx, id)
	if b, there := p.builds.Get(id); there {
		ready := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionReady)
		p.Metrics.Pass(id.Kind, id.Namespace, id.Name, time.Since(began), ready != nil && ready.Status == "True")
	}
	if err != nil && ctx.Err() == nil {
		return rounds.Retry(err)
	}
	return next
}

func (p *part) pass(ctx context.Context, id engine.UnitID) (rounds.Next, error) {
	for range decisions {
		b, there := p.builds.Get(id)
		if !there || b.DeletionTimestamp != nil {
			return rounds.Rest(), nil
		}
		d := p.decide(ctx, b)
		if err := p.write(ctx, b, d.Build); err != nil {
			return rounds.Rest(), err
		}
		if len(d.Actions) == 0 {
			return until(d.Wake), d.again
		}
		if err := p.carryOut(ctx, b, d.Actions); err != nil {
			return rounds.Rest(), p.refused(ctx, id, err)
		}
		p.note(id, nil)
	}
	return rounds.After(time.Second), nil
}

// until waits for a time, if there is one.
func until(at time.Time) rounds.Next {
	if at.IsZero() {
		return rounds.Rest()
	}
	return rounds.After(at.Sub(now()))
}

// decision is one with why the facts are gathered again, although nothing will report a change.
type decision struct {
	plan.Decision

	again error
}

// decide gathers the facts about a Build and decides. Where something cannot be read that may have been deleted, nothing is done.
func (p *part) decide(ctx context.Context, b *v1alpha1.Build) decision {
	if b.Spec.Suspend {
		return decision{Decision: plan.Next(b, plan.Facts{Now: now()})}
	}
	g, err := p.gatherer(b)
	if err != nil {
		return decision{plan.Blocked(b, now(), err.Error()), err}
	}
	facts, err := g.facts(ctx)
	switch {
	case ctx.Err() != nil:
		return decision{plan.Decision{Build: b}, ctx.Err()}
	case err != nil:
		return decision{plan.Blocked(b, now(), err.Error()), err}
	}
	facts.Problem = p.problem(idOf(b))
	return decision{plan.Next(b, facts), g.again}
}

// refused has the status say why an action could not be carried out.
func (p *part) refused(ctx context.Context, id engine.UnitID, cause error) error {
	if ctx.Err() != nil {
		return cause
	}
	p.note(id, cause)
	b, there := p.builds.Get(id)
	if !there {
		return cause
	}
	if err := p.write(ctx, b, p.decide(ctx, b).Build); err != nil {
		return err
	}
	return cause
}

// write writes a status, unless the Build was changed since it was read: then the decision was about another one.
func (p *part) write(ctx context.Context, before, after *v1alpha1.Build) error {
	was, err := declared.Fields(before.Status)
	if err != nil {
		return fmt.Errorf("encoding the status of Build %s/%s: %w", before.Namespace, before.Name, err)
	}
	is, err := declared.Fields(after.Status)
	if err != nil {
		return fmt.Errorf("encoding the status of Build %s/%s: %w", before.Namespace, before.Name, err)
	}
	diff := declared.Difference(was, is)
	if len(diff) == 0 {
		return nil
	}
	patch := map[string]any{"metadata": map[string]any{"resourceVersion": before.ResourceVersion}, "status": diff}
	u, err := p.writer.Patch(ctx, before, patch, "status")
	if err != nil {
		return fmt.Errorf("writing the status of Build %s/%s: %w", before.Namespace, before.Name, err)
	}
	if u == nil {
		return nil
	}
	if _, err := p.builds.Put(u); err != nil {
		return err
	}
	p.tell(before, after)
	return nil
}

// tell emits an event when a Build stands in another way than before.
func (p *part) tell(before, after *v1alpha1.Build) {
	was, is := meta.FindStatusCondition(before.Status.Conditions, v1alpha1.ConditionReady), meta.FindStatusCondition(after.Status.Conditions, v1alpha1.ConditionReady)
	if is == nil || was != nil && was.Status == is.Status && was.Reason == is.Reason && runOf(before) == runOf(after) {
		return
	}
	kind := corev1.EventTypeNormal
	if is.Status != "True" && after.Status.Active == nil {
		kind = corev1.EventTypeWarning
	}
	ref := &corev1.ObjectReference{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.BuildKind, Namespace: after.Namespace, Name: after.Name,
		UID: after.UID, ResourceVersion: after.ResourceVersion,
	}
	p.events.Emit(after, ref, declared.Event{Component: "build-controller", Type: kind, Reason: is.Reason, Message: is.Message})
}

// runOf is the run that events tell apart: the active one, or that of the outputs.
func runOf(b *v1alpha1.Build) string {
	if b.Status.Active != nil {
		return b.Status.Active.Run
	}
	if b.Status.LastSuccess != nil {
		return b.Status.LastSuccess.Run
	}
	return ""
}

// decoded reads JSON that an object has as it is.
func decoded(data []byte) (map[string]any, error) {
	m := map[string]any{}
	if len(data) == 0 {
		return m, nil
	}
	return m, json.Unmarshal(data, &m)
}
