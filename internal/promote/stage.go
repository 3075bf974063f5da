package promote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/promote/plan"
	"github.com/headgate-dev/headgate/internal/redaction"
	"github.com/headgate-dev/headgate/internal/rounds"
)

const (
	// healthPoll is how often the health of a Stage is observed without a change of an Application.
	healthPoll = 5 * time.Minute
	// checkPoll is how often it is while it is not healthy.
	checkPoll = 10 * time.Second
)

// stage has a Stage take turns with its Promotions, says how it is, and has new Freight promoted where policies permit that. Which Promotion runs is
// in its status before that begins, so that there is one at a time also after a restart.
func (p *part) stage(ctx context.Context, id engine.UnitID) rounds.Next {
	stage, there := p.stages.Get(id)
	if !there || stage.DeletionTimestamp != nil || stage.Spec.Shard != "" {
		return rounds.Rest()
	}
	now := time.Now()
	line := p.pipeline(stage)
	working := stage.DeepCopy()
	line.Stage = working
	if plan.ControlFlow(stage) {
		return p.forward(ctx, line, stage, now)
	}
	p.turn(line, now)
	automatic, err := plan.AutoPromotes(p.policies(stage.Namespace), working)
	working.Status.AutoPromotionEnabled = automatic
	var looks time.Time
	if working.Status.CurrentPromotion == nil {
		var found []v1alpha1.Health
		if last := working.Status.LastPromotion; last != nil && last.Status != nil {
			found = p.healths(ctx, stage.Namespace+":"+stage.Name, last.Status.HealthChecks)
		}
		working.Status.Health = plan.Health(working, found)
		looks = p.verify(ctx, working, now)
	}
	working.Status.ObservedGeneration, working.Status.LastHandledRefresh = stage.Generation, stage.Annotations[v1alpha1.RefreshAnnotation]
	working.Status.Conditions = plan.Conditions(working, metav1.NewTime(now))
	if ctx.Err() != nil {
		return rounds.Rest()
	}
	if werr := p.stages.State(ctx, p.writer(stageKind()), stage, stage.Status, working.Status); werr != nil {
		return rounds.Retry(werr)
	}
	err = errors.Join(err, p.freightOf(ctx, line, now))
	if err != nil {
		return rounds.Retry(fmt.Errorf("Stage %s/%s: %s", stage.Namespace, stage.Name, redaction.Text(err.Error())))
	}
	at := now.Add(healthPoll)
	if h := working.Status.Health; h != nil && h.Status != v1alpha1.HealthHealthy {
		at = now.Add(checkPoll)
	}
	if !looks.IsZero() && looks.Before(at) {
		at = looks
	}
	if automatic {
		soon, err := p.automate(ctx, line, now)
		if err != nil {
			return rounds.Retry(fmt.Errorf("Stage %s/%s: %s", stage.Namespace, stage.Name, redaction.Text(err.Error())))
		}
		if !soon.IsZero() && soon.Before(at) {
			at = soon
		}
	}
	return rounds.After(time.Until(at))
}

// forward has a Stage without steps say so, and verify the Freight that is available to it.
func (p *part) forward(ctx context.Context, line plan.Pipeline, stage *v1alpha1.Stage, now time.Time) rounds.Next {
	line.Stage.Status = plan.Forwarding(stage, now)
	if err := p.stages.State(ctx, p.writer(stageKind()), stage, stage.Status, line.Stage.Status); err != nil {
		return rounds.Retry(err)
	}
	if err := p.freightOf(ctx, line, now); err != nil {
		return rounds.Retry(fmt.Errorf("Stage %s/%s: %s", stage.Namespace, stage.Name, redaction.Text(err.Error())))
	}
	if soon := plan.Forwards(line, now); !soon.IsZero() {
		return rounds.After(time.Until(soon))
	}
	return rounds.Rest()
}

// turn notes a Promotion that ended, and which one is next.
func (p *part) turn(line plan.Pipeline, now time.Time) {
	stage := line.Stage
	if current := stage.Status.CurrentPromotion; current != nil {
		promotion, there := p.promotions.Get(idOf(v1alpha1.PromotionKind, stage.Namespace, current.Name))
		switch {
		case !there:
			stage.Status.CurrentPromotion = nil
		case plan.Terminal(promotion.Status.Phase):
			holds := plan.Hold(line, promotion, now)
			stage.Status = plan.Finished(stage, promotion)
			stage.Status.AutoPromotionHolds = holds
		}
	}
	if next := plan.TakeTurns(line).Run; stage.Status.CurrentPromotion == nil && next != nil {
		stage.Status = plan.Running(stage, next)
		p.loop.Wake(idOf(v1alpha1.PromotionKind, next.Namespace, next.Name))
	}
}

// freightOf has each Freight of the Project say whether the Stage uses it, and has verified it.
func (p *part) freightOf(ctx context.Context, line plan.Pipeline, now time.Time) error {
	stage := line.Stage
	var all error
	for i := range line.Freight {
		f := &line.Freight[i]
		after := plan.Seen(stage, f, now)
		if equality.Semantic.DeepEqual(f.Status, after) {
			continue
		}
		if err := p.freights.State(ctx, p.writer(freightKind()), f, f.Status, after); err != nil {
			all = errors.Join(all, fmt.Errorf("Freight %q: %w", f.Name, err))
		}
	}
	return all
}

// automate creates the Promotions that policies have created, and says when there may be another one.
func (p *part) automate(ctx context.Context, line plan.Pipeline, now time.Time) (time.Time, error) {
	var soon time.Time
	for _, choice := range plan.Next(line, now) {
		if choice.Freight != nil {
			if err := p.promote(ctx, line.Stage, choice.Freight); err != nil {
				return soon, err
			}
		}
		if !choice.At.IsZero() && (soon.IsZero() || choice.At.Before(soon)) {
			soon = choice.At
		}
	}
	return soon, nil
}
