package appset

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
)

func TestStatus(t *testing.T) {
	cases := map[string]struct {
		reason  string
		outcome Outcome
		want    []string
		health  v1alpha1.HealthStatusCode
	}{
		"Fine": {
			reason: "all is well", health: v1alpha1.HealthStatusHealthy,
			want: []string{"ErrorOccurred False ApplicationSetUpToDate", "ParametersGenerated True ParametersGenerated", "ResourcesUpToDate True ApplicationSetUpToDate"},
		},
		"Generate": {
			reason: "nothing could be generated", outcome: Outcome{Generate: errors.New("oops")}, health: v1alpha1.HealthStatusDegraded,
			want: []string{"ErrorOccurred True ApplicationGenerationFromParamsError oops", "ParametersGenerated False ErrorOccurred oops", "ResourcesUpToDate False ErrorOccurred oops"},
		},
		"Write": {
			reason: "a write failed", outcome: Outcome{Write: errors.New("oops"), Refused: "x"}, health: v1alpha1.HealthStatusDegraded,
			want: []string{"ErrorOccurred True UpdateApplicationError oops", "ParametersGenerated True ParametersGenerated", "ResourcesUpToDate False ErrorOccurred oops"},
		},
		"Refused": {
			reason: "deletions are held", outcome: Outcome{Refused: "too many", Problems: []Problem{{Message: "one"}}}, health: v1alpha1.HealthStatusDegraded,
			want: []string{"ErrorOccurred True DeletionsHeld Deletions are held: too many", "ParametersGenerated True ParametersGenerated", "ResourcesUpToDate False ErrorOccurred Deletions are held: too many"},
		},
		"Problems": {
			reason: "some Applications cannot be", outcome: Outcome{Problems: []Problem{{Message: "one"}, {Message: "two"}}}, health: v1alpha1.HealthStatusDegraded,
			want: []string{"ErrorOccurred True ApplicationValidationError one (and 1 more)", "ParametersGenerated True ParametersGenerated", "ResourcesUpToDate False ErrorOccurred one (and 1 more)"},
		},
		"Rollout": {
			reason: "a step is under way", outcome: Outcome{Rollout: Rollout{Active: true, Step: 2}}, health: v1alpha1.HealthStatusProgressing,
			want: []string{
				"ErrorOccurred False ApplicationSetUpToDate", "ParametersGenerated True ParametersGenerated", "ResourcesUpToDate True ApplicationSetUpToDate",
				"RolloutProgressing True ApplicationSetModified ApplicationSet is performing rollout of step 2",
			},
		},
		"RolledOut": {
			reason: "all steps have ended", outcome: Outcome{Rollout: Rollout{Active: true}}, health: v1alpha1.HealthStatusHealthy,
			want: []string{
				"ErrorOccurred False ApplicationSetUpToDate", "ParametersGenerated True ParametersGenerated", "ResourcesUpToDate True ApplicationSetUpToDate",
				"RolloutProgressing False ApplicationSetRolloutComplete ApplicationSet Rollout has completed",
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			set := setOf(t, planSpec("", "one"))
			c.outcome.Now = now
			status := StatusOf(set, c.outcome)
			var got []string
			for _, condition := range status.Conditions {
				text := condition.Type + " " + string(condition.Status) + " " + condition.Reason
				if !strings.HasPrefix(condition.Message, "Successfully") && !strings.HasPrefix(condition.Message, "All applications") {
					text += " " + condition.Message
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(c.want, got); diff != "" || status.Health.Status != c.health {
				t.Errorf("%s: health %s, -want +got:\n%s", c.reason, status.Health.Status, diff)
			}
			set.Status = status
			c.outcome.Now = now.Add(time.Hour)
			if diff := cmp.Diff(status, StatusOf(set, c.outcome)); diff != "" {
				t.Errorf("%s: the same outcome gives the same status: %s", c.reason, diff)
			}
			if failed := name != "Fine" && !strings.HasPrefix(name, "Roll"); (c.outcome.Err() != nil) != failed {
				t.Errorf("%s: the error is %v", c.reason, c.outcome.Err())
			}
		})
	}
}

func TestStatusResources(t *testing.T) {
	set := setOf(t, planSpec("", "one"))
	apps := []*unstructured.Unstructured{liveApp(t, "two", "status: {sync: {status: OutOfSync}}"), liveApp(t, "one", "")}
	status := StatusOf(set, Outcome{Applications: apps, MaxResources: 1, Now: now, Rollout: Rollout{Active: true, Statuses: []v1alpha1.ApplicationSetApplicationStatus{was("one", RolloutHealthy, "")}}})
	want := []v1alpha1.ResourceStatus{{Group: "argoproj.io", Version: "v1alpha1", Kind: "Application", Namespace: "argocd", Name: "one", Health: &v1alpha1.HealthStatus{Status: v1alpha1.HealthStatusHealthy}}}
	if diff := cmp.Diff(want, status.Resources); diff != "" || status.ResourcesCount != 2 || len(status.ApplicationStatus) != 1 {
		t.Errorf("some are listed and all are counted: %d %s", status.ResourcesCount, diff)
	}
	set.Status = status
	failed := StatusOf(set, Outcome{Generate: errors.New("oops"), Now: now})
	if diff := cmp.Diff(status.Resources, failed.Resources); diff != "" || failed.ResourcesCount != 2 || len(failed.ApplicationStatus) != 1 {
		t.Errorf("what was there stays listed when nothing can be generated: %s", diff)
	}
}
