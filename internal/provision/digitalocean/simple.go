package digitalocean

import (
	"context"

	"github.com/headgate-dev/headgate/internal/provision/digitalocean/kinds"
	"github.com/headgate-dev/headgate/internal/provision/managed"
)

// simple is what images, keys and addresses have in common: they are replaced by deleting them, or not at all.
type simple struct {
	session
	exists  bool
	outcome kinds.Outcome
	next    kinds.Replacement
}

// decide compares what there is by an outcome.
func (s *simple) decide(o kinds.Outcome) (managed.Observation, error) {
	s.outcome, s.exists = o, o.Condition != kinds.Missing
	if !s.exists {
		return managed.Observation{}, nil
	}
	policy, err := kinds.ParsePolicy(s.policy(), false)
	if err != nil {
		return managed.Observation{}, managed.Invalid("spec.replacementPolicy: %w", err)
	}
	s.next = kinds.Replace(o, kinds.ReplaceFacts{Policy: policy, Usable: true})
	result := managed.Observation{
		Exists: true, Difference: difference(o), UpToDate: o.UpToDate() || s.deleting(), Ready: readiness(o),
	}
	if s.next.Reason != "" && o.Next == nil && policy == kinds.Never {
		result.Restricted = &managed.Cause{Reason: s.next.Reason, Message: s.next.Message}
	}
	if o.Wait || !result.UpToDate && result.Restricted == nil {
		result.Next = poll
	}
	return result, nil
}

// changer is how a kind is changed in place, and deleted.
type changer interface {
	call(ctx context.Context, c kinds.Call) error
	destroy(ctx context.Context) error
}

// update makes the next step.
func (s *simple) update(ctx context.Context, by changer) (managed.Result, error) {
	again := managed.Result{Next: poll}
	switch {
	case s.next.Step == kinds.Delete:
		s.Emit("Normal", "Replacing", s.Kind.Kind.Kind+" "+s.ExternalName()+" is deleted, to be recreated: "+difference(s.outcome))
		return again, by.destroy(ctx)
	case s.outcome.Next == nil:
		return again, nil
	}
	s.Emit("Normal", "Updating", string(s.outcome.Next.Verb)+" of "+s.Kind.Kind.Kind+" "+s.ExternalName()+": "+difference(s.outcome))
	return again, failure(string(s.outcome.Next.Verb)+" of "+s.Kind.Kind.Kind+" "+s.ExternalName(), by.call(ctx, *s.outcome.Next))
}
