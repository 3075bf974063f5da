package promote

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/promote/expressions"
	"github.com/headgate-dev/headgate/internal/promote/plan"
	"github.com/headgate-dev/headgate/internal/promote/steps"
	"github.com/headgate-dev/headgate/internal/redaction"
	"github.com/headgate-dev/headgate/internal/rounds"
)

// memory is the key of status.state under which it is kept what steps leave for later ones, beside their outputs.
const memory = "headgate.dev/steps"

// stepTimeout bounds one attempt at a step.
const stepTimeout = 10 * time.Minute

// promotion carries out the next step of a Promotion whose turn it is. What it did is in the status before the next one begins.
func (p *part) promotion(ctx context.Context, id engine.UnitID) rounds.Next {
	promotion, there := p.promotions.Get(id)
	if !there || promotion.DeletionTimestamp != nil || plan.Terminal(promotion.Status.Phase) {
		return rounds.Rest()
	}
	stage, there := p.stages.Get(idOf(v1alpha1.StageKind, promotion.Namespace, promotion.Spec.Stage))
	if !there || stage.Spec.Shard != "" {
		return rounds.Rest()
	}
	now := time.Now()
	if why, ends := plan.TakeTurns(p.pipeline(stage)).End[promotion.Name]; ends {
		return p.record(ctx, promotion, plan.End(promotion, why, now), rounds.Rest())
	}
	if current := stage.Status.CurrentPromotion; current == nil || current.Name != promotion.Name {
		after := *promotion.Status.DeepCopy()
		if after.Phase == "" {
			after.Phase = v1alpha1.PromotionPending
		}
		return p.record(ctx, promotion, after, rounds.Rest())
	}
	begun, why := p.begin(stage, promotion, now)
	if why != "" {
		after := plan.End(promotion, why, now)
		after.Phase = v1alpha1.PromotionErrored
		return p.record(ctx, promotion, after, rounds.Rest())
	}
	if err := p.promotions.State(ctx, p.writer(promotionKind()), promotion, promotion.Status, begun); err != nil {
		return rounds.Retry(err)
	}
	working := promotion.DeepCopy()
	working.Status = begun
	result := p.step(ctx, stage, working)
	if ctx.Err() != nil {
		return rounds.Rest()
	}
	result.Message = redaction.Text(result.Message)
	alias, finished := "", false
	if int(begun.CurrentStep) < len(working.Spec.Steps) {
		alias = working.Spec.Steps[begun.CurrentStep].As
		finished = result.Status == plan.StepSucceeded || result.Status == plan.StepSkipped
	}
	after, wait := plan.Advance(working, result.Outcome, plan.Limits{Timeout: timeoutOf(working), Threshold: 1}, time.Now())
	if result.Status == plan.StepRunning && result.Again > 0 {
		wait = result.Again
	}
	if finished {
		state, err := kept(working, alias, result)
		if err != nil {
			return rounds.Retry(err)
		}
		after.State = state
	}
	// The object was written since: the difference is that of what was begun.
	if latest, still := p.promotions.Get(id); still {
		promotion = latest
	}
	return p.record(ctx, promotion, after, rounds.After(wait))
}

// timeoutOf is how long a step may be in progress if it does not say so itself.
func timeoutOf(promotion *v1alpha1.Promotion) time.Duration {
	const sync = 5 * time.Minute
	if i := int(promotion.Status.CurrentStep); i < len(promotion.Spec.Steps) && promotion.Spec.Steps[i].Uses == argocdUpdate {
		return sync
	}
	return 0
}

// record writes the status of a Promotion, and deletes the directory of one that ended.
func (p *part) record(ctx context.Context, promotion *v1alpha1.Promotion, after v1alpha1.PromotionStatus, next rounds.Next) rounds.Next {
	if err := p.promotions.State(ctx, p.writer(promotionKind()), promotion, promotion.Status, after); err != nil {
		return rounds.Retry(err)
	}
	p.loop.Wake(idOf(v1alpha1.StageKind, promotion.Namespace, promotion.Spec.Stage))
	if !plan.Terminal(after.Phase) {
		return next
	}
	if err := os.RemoveAll(p.dir(promotion)); err != nil {
		p.Log.V(1).Info("the directory of a Promotion cannot be deleted", "promotion", promotion.Name, "error", err.Error())
	}
	return rounds.Rest()
}

// dir is where the files of a Promotion are.
func (p *part) dir(promotion *v1alpha1.Promotion) string {
	root := p.Dir
	if root == "" {
		root = filepath.Join(os.TempDir(), "headgate")
	}
	return filepath.Join(root, "promotions", string(promotion.UID))
}

// begin is the status of a Promotion before its next step, or why it cannot begin. One whose files are gone starts over: its steps may be repeated.
func (p *part) begin(stage *v1alpha1.Stage, promotion *v1alpha1.Promotion, now time.Time) (v1alpha1.PromotionStatus, string) {
	working := promotion.DeepCopy()
	if working.Status.FreightCollection == nil {
		freight, there := p.freights.Get(idOf(v1alpha1.FreightKind, promotion.Namespace, promotion.Spec.Freight))
		if !there {
			return working.Status, fmt.Sprintf("there is no Freight %q in Project %q", promotion.Spec.Freight, promotion.Namespace)
		}
		if available := plan.Available(stage, freight, now); !available.Now {
			return working.Status, "the Freight is not available to the Stage: " + available.Why
		}
		reference := plan.Reference(freight)
		working.Status.Freight, working.Status.FreightCollection = &reference, plan.Collect(stage, reference)
	}
	if _, err := os.Stat(p.dir(promotion)); err != nil {
		working.Status.CurrentStep, working.Status.StepExecutionMetadata, working.Status.State, working.Status.HealthChecks = 0, nil, nil, nil
		if err := os.MkdirAll(p.dir(promotion), 0o700); err != nil {
			return working.Status, fmt.Sprintf("creating the directory of the Promotion: %v", err)
		}
	}
	return plan.Begin(working, now), ""
}

// step makes an attempt at the current step.
func (p *part) step(ctx context.Context, stage *v1alpha1.Stage, promotion *v1alpha1.Promotion) steps.Result {
	if int(promotion.Status.CurrentStep) >= len(promotion.Spec.Steps) {
		return steps.Result{}
	}
	read := &reader{part: p, project: promotion.Namespace, values: map[string]bool{}}
	return read.withhold(p.attempt(ctx, stage, promotion, read))
}

// attempt is step; it reads what expressions name.
func (p *part) attempt(ctx context.Context, stage *v1alpha1.Stage, promotion *v1alpha1.Promotion, read *reader) steps.Result {
	step := promotion.Spec.Steps[promotion.Status.CurrentStep]
	final := func(err error) steps.Result {
		return steps.Result{Outcome: plan.Outcome{Status: plan.StepErrored, Terminal: true, Message: err.Error()}}
	}
	outputs, work, err := p.state(promotion)
	if err != nil {
		return final(err)
	}
	scope := &expressions.Scope{
		Project: promotion.Namespace, Stage: promotion.Spec.Stage, Promotion: promotion.Name, Now: time.Now(),
		Actor: promotion.Annotations[v1alpha1.CreateActorAnnotation], Target: *promotion.Status.Freight,
		Requests: stage.Spec.RequestedFreight, Outputs: outputs, Steps: promotion.Status.StepExecutionMetadata[:promotion.Status.CurrentStep], Alias: step.As,
	}
	scope.Rollback = plan.Rollback(p.pipeline(stage), promotion)
	if f, there := p.freights.Get(idOf(v1alpha1.FreightKind, promotion.Namespace, promotion.Status.Freight.Name)); there {
		scope.TargetAlias = cmp.Or(f.Labels[v1alpha1.AliasLabel], f.Alias)
	}
	scope.Read = func(kind expressions.Kind, name string) (map[string]any, error) { return read.read(ctx, kind, name) }
	for _, key := range slices.Sorted(maps.Keys(promotion.Status.FreightCollection.Items)) {
		freight := promotion.Status.FreightCollection.Items[key]
		scope.Freight = append(scope.Freight, freight)
		for _, i := range freight.Images {
			work.Images = append(work.Images, steps.Image{RepoURL: i.RepoURL, Tag: i.Tag, Digest: i.Digest})
		}
	}
	for _, variables := range [][]v1alpha1.ExpressionVariable{stage.Spec.Vars, promotion.Spec.Vars, step.Vars} {
		if scope.Vars, err = expressions.Vars(variables, scope); err != nil {
			return final(err)
		}
	}
	runs, err := expressions.Runs(step, scope)
	if err != nil {
		return final(err)
	}
	if !runs {
		return steps.Result{Outcome: plan.Outcome{Status: plan.StepSkipped}, State: work.State}
	}
	config, err := expressions.Config(step.Config, scope)
	if err != nil {
		return final(err)
	}
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	result := p.runner.Run(context.WithValue(ctx, projectKey{}, promotion.Namespace), work, step.Uses, config)
	if result.Sync != nil {
		result.Outcome = p.sync(ctx, promotion, step.As, result.Sync)
	}
	return result
}

// state is what steps before left: their outputs, and what they know of the files.
func (p *part) state(promotion *v1alpha1.Promotion) (map[string]any, steps.Work, error) {
	work := steps.Work{Dir: p.dir(promotion), Promotion: promotion.Name, Stage: promotion.Namespace + ":" + promotion.Spec.Stage}
	outputs := map[string]any{}
	if promotion.Status.State == nil {
		return outputs, work, nil
	}
	var inner struct {
		Steps steps.State `json:"headgate.dev/steps"`
	}
	if err := json.Unmarshal(promotion.Status.State.Raw, &outputs); err != nil {
		return nil, work, fmt.Errorf("reading status.state: %w", err)
	}
	if err := json.Unmarshal(promotion.Status.State.Raw, &inner); err != nil {
		return nil, work, fmt.Errorf("reading status.state: %w", err)
	}
	delete(outputs, memory)
	work.State = inner.Steps
	return outputs, work, nil
}

// kept is the state of a Promotion after a step.
func kept(promotion *v1alpha1.Promotion, alias string, result steps.Result) (*apiextensionsv1.JSON, error) {
	all := map[string]any{}
	if promotion.Status.State != nil {
		if err := json.Unmarshal(promotion.Status.State.Raw, &all); err != nil {
			return nil, fmt.Errorf("reading status.state: %w", err)
		}
	}
	if len(result.Output) > 0 {
		all[alias] = result.Output
	}
	all[memory] = result.State
	data, err := json.Marshal(all)
	if err != nil {
		return nil, fmt.Errorf("writing status.state: %w", err)
	}
	return &apiextensionsv1.JSON{Raw: data}, nil
}
