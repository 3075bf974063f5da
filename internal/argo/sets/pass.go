package sets

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/appset"
	"github.com/headgate-dev/headgate/internal/argo/feeds"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/rounds"
)

// Passes that failed are made again after backoff.
var backoff = rounds.Backoff{Min: time.Second, Max: retryMax}

const (
	retryMax = 3 * time.Minute
	// soon is when a rollout that moved is evaluated again.
	soon = time.Millisecond
)

// passes are those over the sets.
type passes struct{ *Sets }

// Share is the namespace of a set.
func (passes) Share(name types.NamespacedName) string { return name.Namespace }

// Pass brings one set to what it declares.
func (s passes) Pass(ctx context.Context, name types.NamespacedName) rounds.Next {
	s.mu.Lock()
	state := s.sets[name]
	if state == nil {
		s.mu.Unlock()
		return rounds.Rest()
	}
	object := state.object
	s.mu.Unlock()
	began := time.Now()
	again, err := s.reconcile(ctx, name, state, object)
	if s.host.Metrics != nil {
		s.host.Metrics.Generated(name.Namespace, name.Name, time.Since(began))
	}
	switch {
	case errors.Is(err, feeds.ErrPending), ctx.Err() != nil:
		return rounds.Rest()
	}
	s.passed(state, object.GetGeneration(), err)
	switch {
	case err != nil:
		if state.told != err.Error() {
			s.observe(s.owner(name), err.Error())
		}
		state.told = err.Error()
		return rounds.Retry(err)
	}
	state.told = ""
	if again > 0 {
		return rounds.After(again)
	}
	return rounds.Rest()
}

// generateTime bounds what is generated in a pass: passes of sets are made one after another.
const generateTime = time.Minute

// reconcile brings the Applications of a set to what it generates, and writes its status.
func (s *Sets) reconcile(ctx context.Context, name types.NamespacedName, state *setState, object *unstructured.Unstructured) (time.Duration, error) {
	set, err := appset.Read(object)
	if err != nil {
		return 0, err
	}
	if set.DeletionTimestamp != nil {
		return 0, s.finalize(ctx, set)
	}
	if err := s.keep(ctx, set); err != nil {
		return 0, err
	}
	if set.Annotations[v1alpha1.ApplicationSetRefreshAnnotation] == "true" {
		s.feeds.Refresh(state.keys)
		done := map[string]any{"metadata": map[string]any{"annotations": map[string]any{v1alpha1.ApplicationSetRefreshAnnotation: nil}}}
		if err := s.wrote(s.writer().Patch(ctx, set, done)); err != nil {
			return 0, fmt.Errorf("removing the annotation %s: %w", v1alpha1.ApplicationSetRefreshAnnotation, err)
		}
	}
	options := s.installation.Settings().AppSets
	facts := &setFacts{sets: s, state: state}
	var generated appset.Generated
	within, cancel := context.WithTimeoutCause(ctx, generateTime, fmt.Errorf("its generators and templates take longer than %s", generateTime))
	defer cancel()
	err = s.host.Guard.Call("ApplicationSet "+name.String(), func() (err error) {
		generated, err = appset.Generate(within, set, facts, appset.Options{HiddenDirectories: s.installation.Settings().Fetching.HiddenDirectories, NewGlobbing: options.NewGlobbing})
		return err
	})
	s.follow(name, state, facts.keys, err)
	if errors.Is(err, feeds.ErrPending) {
		return 0, err
	}
	outcome := appset.Outcome{Generate: err, Problems: generated.Problems, MaxResources: options.MaxResources, Now: time.Now()}
	var plan appset.Plan
	if err == nil {
		outcome.Generate = s.host.Guard.Call("ApplicationSet "+name.String(), func() (err error) {
			plan, err = appset.MakePlan(within, set, generated, s.existing(set), s.planOptions(set, state, options))
			return err
		})
	}
	if outcome.Generate == nil {
		s.remember(state, generated)
		outcome.Refused = plan.Refused
		if !options.DryRun {
			outcome.Write = s.write(ctx, plan)
		}
		state.yields = plan.Yields
		if options.Progressive {
			outcome.Rollout, err = s.rollout(ctx, set, generated, plan)
			outcome.Write = errors.Join(outcome.Write, err)
		}
	}
	outcome.Applications = appset.Members(set, generated, s.existing(set))
	if err := s.report(ctx, set, outcome); err != nil {
		return 0, err
	}
	return requeueOf(set, outcome), outcome.Err()
}

// requeueOf is when a rollout is evaluated again although nothing changed.
func requeueOf(set *appset.Set, o appset.Outcome) time.Duration {
	switch {
	case o.Rollout.Active && !sameStatuses(set.Status.ApplicationStatus, o.Rollout.Statuses):
		// A pass takes each Application one state further, and what is next may be so already.
		return soon
	case o.Rollout.Step > 0:
		return retryMax
	}
	return 0
}

// sameStatuses reports whether two lists say the same in the API, which knows no fractions of seconds.
func sameStatuses(a, b []v1alpha1.ApplicationSetApplicationStatus) bool {
	before, err := json.Marshal(a)
	after, failed := json.Marshal(b)
	return err == nil && failed == nil && bytes.Equal(before, after)
}

func (s *Sets) planOptions(set *appset.Set, state *setState, o settings.ApplicationSets) appset.PlanOptions {
	return appset.PlanOptions{
		Policy:               policyOf(set, o),
		PreservedAnnotations: o.PreservedAnnotations, PreservedLabels: o.PreservedLabels, Managers: []string{appset.UpstreamManager},
		Progressive: o.Progressive, Previous: state.yields, Now: time.Now(),
		Sandbox: s.host.Sandbox.For(set.Namespace, Kind+" "+set.Namespace+"/"+set.Name),
	}
}

func policyOf(set *appset.Set, o settings.ApplicationSets) appset.Policy {
	return appset.PolicyOf(set, v1alpha1.ApplicationsSyncPolicy(o.Policy), o.PolicyOverride || o.Policy == "")
}
