package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
)

// Turn is whose turn it is in a Stage.
type Turn struct {
	// Run is the Promotion that runs, or is next; nil if there is none.
	Run *v1alpha1.Promotion
	// Queue are those that wait for it, in their order.
	Queue []*v1alpha1.Promotion
	// End are those that end without another step, by their names, with the messages of their statuses.
	End map[string]string
}

// TakeTurns orders the Promotions of one Stage. One runs at a time, the oldest first. One that is to be aborted ends, and so does one that was created
// automatically, if one of newer Freight of the same origin waits for it: this only between two steps, so that none is left half done.
func TakeTurns(p Pipeline) Turn {
	turn := Turn{End: map[string]string{}}
	var open []*v1alpha1.Promotion
	for i := range p.Promotions {
		promotion := &p.Promotions[i]
		if promotion.Spec.Stage == p.Stage.Name && promotion.Namespace == p.Stage.Namespace && !Terminal(promotion.Status.Phase) {
			open = append(open, promotion)
		}
	}
	slices.SortFunc(open, inTurn)
	for i, promotion := range open {
		if why := p.ends(promotion, open[i+1:]); why != "" {
			turn.End[promotion.Name] = why
			continue
		}
		if turn.Run == nil {
			turn.Run = promotion
			continue
		}
		turn.Queue = append(turn.Queue, promotion)
	}
	return turn
}

// inTurn puts a Promotion that runs before those that wait.
func inTurn(a, b *v1alpha1.Promotion) int {
	waits := func(p *v1alpha1.Promotion) int {
		if p.Status.Phase == v1alpha1.PromotionRunning {
			return 0
		}
		return 1
	}
	return cmp.Or(waits(a)-waits(b), inOrder(a, b))
}

// inOrder sorts by creation. Times have whole seconds; within one, the ULIDs in the names count.
func inOrder(a, b *v1alpha1.Promotion) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
}

// ends says why a Promotion ends without another step; empty if it does not.
func (p Pipeline) ends(promotion *v1alpha1.Promotion, later []*v1alpha1.Promotion) string {
	if actor, requested := AbortRequested(promotion.Annotations); requested {
		if actor == "" {
			return "the Promotion was aborted"
		}
		return fmt.Sprintf("the Promotion was aborted by %s", actor)
	}
	if ControlFlow(p.Stage) {
		return errNoSteps.Error()
	}
	freight := p.freight(promotion.Spec.Freight)
	if freight == nil || !Automatic(promotion) || InStep(&promotion.Status) {
		return ""
	}
	for _, other := range later {
		newer := p.freight(other.Spec.Freight)
		if newer == nil || newer.Origin != freight.Origin || newer.Name == freight.Name || discovered(newer).Before(discovered(freight)) {
			continue
		}
		// Times have whole seconds: within one, what a policy chose later is newer.
		if discovered(newer).Equal(discovered(freight)) && !Automatic(other) {
			continue
		}
		if _, aborted := AbortRequested(other.Annotations); !aborted {
			return fmt.Sprintf("superseded by Promotion %q of newer Freight %q", other.Name, newer.Name)
		}
	}
	return ""
}

func (p Pipeline) freight(name string) *v1alpha1.Freight {
	for i := range p.Freight {
		if p.Freight[i].Name == name && p.Freight[i].Namespace == p.Stage.Namespace {
			return &p.Freight[i]
		}
	}
	return nil
}

// ControllerActor begins the value of the annotation that names who created an object, for objects that a controller created.
const ControllerActor = "controller:"

// Automatic reports whether a controller created a Promotion, and not a person.
func Automatic(promotion *v1alpha1.Promotion) bool {
	return strings.HasPrefix(promotion.Annotations[v1alpha1.CreateActorAnnotation], ControllerActor)
}

// AbortRequested reads the annotation that ends a Promotion, and who is named in it. Its value is an object with an action, or the action alone;
// "terminate" is the only one.
func AbortRequested(annotations map[string]string) (actor string, requested bool) {
	value := annotations[v1alpha1.AbortAnnotation]
	if !strings.HasPrefix(value, "{") {
		return "", value == "terminate"
	}
	var request struct {
		Action string `json:"action"`
		Actor  string `json:"actor"`
	}
	if err := json.Unmarshal([]byte(value), &request); err != nil {
		return "", false
	}
	return request.Actor, request.Action == "terminate"
}

// InStep reports whether a Promotion is in the middle of a step.
func InStep(status *v1alpha1.PromotionStatus) bool {
	if status.Phase != v1alpha1.PromotionRunning || int(status.CurrentStep) >= len(status.StepExecutionMetadata) {
		return false
	}
	step := status.StepExecutionMetadata[status.CurrentStep]
	// A step that waits to be tried again has changed nothing since, and neither is it carried out.
	return step.StartedAt != nil && step.FinishedAt == nil && step.Status == StepRunning
}
