package appset

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
)

// AppState is what a rollout asks of an Application that was generated.
type AppState struct {
	Name string
	// Labels are those that were generated.
	Labels map[string]string
	// Exists says that it is there; what follows is empty where it is not.
	Exists    bool
	Health    v1alpha1.HealthStatusCode
	Sync      v1alpha1.SyncStatusCode
	Revisions []string
	// Reconciled is when it was compared last, OperationStarted when its last operation began; zero is never.
	Reconciled, OperationStarted time.Time
	// Operated are the revisions of that operation, once they are known.
	Operated []string
	// Operating says that an operation is requested and has not started.
	Operating bool
	// Broken says that it has an error for which it cannot be synced.
	Broken bool
	// Changed says that its spec changes in this pass.
	Changed bool
	// Behind says that it has not been compared yet with what its sources hold now, or that its status does not tell yet what
	// came of that: it may have to change first.
	Behind bool
}

// States are those of the Applications that were generated.
func States(generated Generated, plan Plan, existing []*unstructured.Unstructured) ([]AppState, error) {
	live := map[string]*unstructured.Unstructured{}
	for _, o := range existing {
		live[o.GetName()] = o
	}
	changed := map[string]bool{}
	for _, change := range plan.Update {
		changed[change.Live.GetName()] = change.Spec
	}
	states := make([]AppState, 0, len(generated.Applications))
	for _, app := range generated.Applications {
		state := AppState{Name: app.GetName(), Labels: app.GetLabels(), Changed: changed[app.GetName()]}
		if o, there := live[app.GetName()]; there {
			if err := state.read(o); err != nil {
				return nil, fmt.Errorf("reading the status of Application %q: %w", app.GetName(), err)
			}
		}
		states = append(states, state)
	}
	return states, nil
}

func (s *AppState) read(o *unstructured.Unstructured) error {
	var typed v1alpha1.Application
	if err := convert(map[string]any{"status": o.Object["status"], "operation": o.Object["operation"]}, &typed); err != nil {
		return err
	}
	status := typed.Status
	s.Exists, s.Health, s.Sync, s.Operating = true, status.Health.Status, status.Sync.Status, typed.Operation != nil
	s.Revisions = revisionsOf(status.Sync)
	if status.ReconciledAt != nil {
		s.Reconciled = status.ReconciledAt.Time
	}
	if status.OperationState != nil {
		s.OperationStarted = status.OperationState.StartedAt.Time
		if result := status.OperationState.SyncResult; result != nil {
			if s.Operated = result.Revisions; len(s.Operated) == 0 && result.Revision != "" {
				s.Operated = []string{result.Revision}
			}
		}
	}
	s.Broken = slices.ContainsFunc(status.Conditions, func(c v1alpha1.ApplicationCondition) bool {
		return c.Type == v1alpha1.ApplicationConditionInvalidSpecError || c.Type == v1alpha1.ApplicationConditionUnknownError
	})
	return nil
}

func revisionsOf(sync v1alpha1.SyncStatus) []string {
	if len(sync.Revisions) == 0 && sync.Revision != "" {
		return []string{sync.Revision}
	}
	return sync.Revisions
}

// Tells says whether what was read of an Application is what a comparison found. One that could not be compared says that
// nothing is known.
func (s *AppState) Tells(found v1alpha1.SyncStatus) bool {
	return slices.Equal(s.Revisions, revisionsOf(found)) && (s.Sync == found.Status || s.Sync == v1alpha1.SyncStatusCodeUnknown)
}

// SyncOperation is what a rollout writes into the field operation of an Application, as it was generated, to have it
// synced.
func SyncOperation(generated *unstructured.Unstructured) (*v1alpha1.Operation, error) {
	var typed struct {
		Spec struct {
			SyncPolicy v1alpha1.SyncPolicy `json:"syncPolicy"`
		} `json:"spec"`
	}
	if err := convert(generated.Object, &typed); err != nil {
		return nil, err
	}
	policy := typed.Spec.SyncPolicy
	operation := &v1alpha1.Operation{
		InitiatedBy: v1alpha1.OperationInitiator{Username: "applicationset-controller", Automated: true},
		Info:        []v1alpha1.Info{{Name: "Reason", Value: "ApplicationSet RollingSync triggered a sync of this Application resource"}},
		Sync:        &v1alpha1.SyncOperation{SyncOptions: policy.SyncOptions},
		Retry:       v1alpha1.RetryStrategy{Limit: 5},
	}
	if policy.Retry != nil {
		operation.Retry = *policy.Retry
	}
	if a := policy.Automated; a != nil && (a.Enabled == nil || *a.Enabled) {
		operation.Sync.Prune = a.Prune != nil && *a.Prune
	}
	return operation, nil
}
