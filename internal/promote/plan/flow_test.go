package plan

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
)

// TestSeen has a Stage note in each Freight what it does with it.
func TestSeen(t *testing.T) {
	flow := func(from ...string) *v1alpha1.Stage {
		return stage(func(s *v1alpha1.Stage) {
			s.Spec.PromotionTemplate = nil
			s.Spec.RequestedFreight[0].Sources = v1alpha1.FreightSources{Direct: len(from) == 0, Stages: from, RequiredSoakTime: "1h"}
		})
	}
	has := func(phase v1alpha1.VerificationPhase) *v1alpha1.Stage {
		return stage(func(s *v1alpha1.Stage) {
			f := v1alpha1.FreightReference{Name: "f", Origin: origin}
			s.Status.FreightHistory = []*v1alpha1.FreightCollection{{
				Items: map[string]v1alpha1.FreightReference{OriginKey(origin): f}, VerificationHistory: []v1alpha1.VerificationInfo{{Phase: phase}},
			}}
		})
	}
	in := func(age time.Duration, stages ...string) func(*v1alpha1.Freight) {
		return func(f *v1alpha1.Freight) {
			for _, s := range stages {
				f.Status = Enter(f.Status, s, noon.Add(-age))
			}
			verified("test")(f)
		}
	}
	for name, tc := range map[string]struct {
		reason          string
		stage           *v1alpha1.Stage
		freight         func(*v1alpha1.Freight)
		inside, checked bool
		soon            time.Time
	}{
		"Regular":  {reason: "a Stage with steps takes Freight by Promotions alone", stage: stage(nil)},
		"Has":      {reason: "what it has is noted", stage: has(v1alpha1.VerificationPending), inside: true},
		"Verified": {reason: "and that it verified it", stage: has(v1alpha1.VerificationSuccessful), inside: true, checked: true},
		"Left":     {reason: "as is that it has it no longer", stage: stage(nil), freight: in(time.Hour, "prod")},
		"Direct":   {reason: "without steps, what comes from the Warehouse is forwarded", stage: flow(), checked: true},
		"NoSteps": {reason: "a template without steps is none", stage: func() *v1alpha1.Stage {
			s := flow()
			s.Spec.PromotionTemplate = &v1alpha1.PromotionTemplate{}
			return s
		}(), checked: true},
		"Upstream":    {reason: "and what upstream Stages have verified", stage: flow("test"), freight: in(2*time.Hour, "test"), checked: true},
		"Soaks":       {reason: "once it was there for long enough", stage: flow("test"), freight: in(time.Minute, "test"), soon: noon.Add(59 * time.Minute)},
		"Unverified":  {reason: "not what they have not", stage: flow("other"), freight: in(2*time.Hour, "other")},
		"Approved":    {reason: "but what a person approved", stage: flow("other"), freight: func(f *v1alpha1.Freight) { f.Status = Approve(f.Status, "prod", noon) }, checked: true},
		"Other":       {reason: "and not of other origins", stage: flow(), freight: func(f *v1alpha1.Freight) { f.Origin.Name = "other" }},
		"WasRegular":  {reason: "a Stage that had it before its steps were removed has it no longer", stage: flow(), freight: in(time.Minute, "prod"), checked: true},
		"StayForever": {reason: "what was verified stays so", stage: flow("other"), freight: verified("prod"), checked: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := freight("f", time.Hour, tc.freight)
			after := Seen(tc.stage, &f, noon)
			_, inside := after.CurrentlyIn["prod"]
			_, checked := after.VerifiedIn["prod"]
			if inside != tc.inside || checked != tc.checked {
				t.Errorf("%s: in it %t, verified %t", tc.reason, inside, checked)
			}
			if got := Forwards(Pipeline{Stage: tc.stage, Freight: []v1alpha1.Freight{f, freight("g", 0, nil)}}, noon); !got.Equal(tc.soon) {
				t.Errorf("%s: more is available at %s", tc.reason, got)
			}
		})
	}
}

// TestForwarding has a Stage that was a regular one say of itself what upstream says of a control-flow Stage.
func TestForwarding(t *testing.T) {
	f := v1alpha1.FreightReference{Name: "a", Origin: origin}
	s := stage(func(s *v1alpha1.Stage) { s.Generation = 2 })
	s.Status = Finished(s, ended("p1", v1alpha1.PromotionSucceeded, f, s))
	s.Status.Health = Health(s, nil)
	s.Status.Conditions = Conditions(s, metav1.NewTime(noon.Add(-time.Hour)))
	s.Spec.PromotionTemplate = nil
	s.Annotations = map[string]string{v1alpha1.RefreshAnnotation: "now"}
	want := v1alpha1.StageStatus{
		ObservedGeneration: 2, LastHandledRefresh: "now", FreightSummary: "N/A",
		Conditions: []metav1.Condition{{Type: "Ready", Status: "True", Reason: "Ready", ObservedGeneration: 2, LastTransitionTime: metav1.NewTime(noon)}},
	}
	if diff := cmp.Diff(want, Forwarding(s, noon)); diff != "" {
		t.Errorf("the status (-want +got):\n%s", diff)
	}
	s.Status = want
	if diff := cmp.Diff(want, Forwarding(s, noon.Add(time.Hour))); diff != "" {
		t.Errorf("it changes without a reason (-want +got):\n%s", diff)
	}
	waits := promotion("p", "a", v1alpha1.PromotionPending, nil)
	if turn := TakeTurns(Pipeline{Stage: s, Promotions: []v1alpha1.Promotion{waits}}); turn.Run != nil || turn.End["p"] == "" {
		t.Errorf("a Promotion to a Stage without steps waits: %+v", turn)
	}
}
