package plan

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
)

func TestAdvance(t *testing.T) {
	type pass struct {
		after   time.Duration
		outcome Outcome
	}
	retry := func(threshold int32, timeout time.Duration) v1alpha1.PromotionStep {
		return v1alpha1.PromotionStep{Uses: "x", Retry: &v1alpha1.PromotionStepRetry{ErrorThreshold: threshold, Timeout: &metav1.Duration{Duration: timeout}}}
	}
	for name, tc := range map[string]struct {
		reason  string
		steps   []v1alpha1.PromotionStep
		passes  []pass
		phase   v1alpha1.PromotionPhase
		at      int64
		wait    time.Duration
		message string
	}{
		"Success":   {reason: "the last step ends it", steps: []v1alpha1.PromotionStep{{Uses: "x"}}, passes: []pass{{0, Outcome{Status: StepSucceeded}}}, phase: v1alpha1.PromotionSucceeded, at: 1},
		"Between":   {reason: "one of two", steps: []v1alpha1.PromotionStep{{Uses: "x"}, {Uses: "y"}}, passes: []pass{{0, Outcome{Status: StepSucceeded}}}, phase: v1alpha1.PromotionRunning, at: 1},
		"Skipped":   {reason: "a step without effect is fine", steps: []v1alpha1.PromotionStep{{Uses: "x"}}, passes: []pass{{0, Outcome{Status: StepSkipped}}}, phase: v1alpha1.PromotionSucceeded, at: 1},
		"Failed":    {reason: "what a step found is final", steps: []v1alpha1.PromotionStep{retry(5, 0)}, passes: []pass{{0, Outcome{Status: StepFailed, Message: "no"}}}, phase: v1alpha1.PromotionFailed, at: 1, message: `step "step-0": no`},
		"Error":     {reason: "one error is enough", steps: []v1alpha1.PromotionStep{{Uses: "x"}}, passes: []pass{{0, Outcome{Status: StepErrored, Message: "e"}}}, phase: v1alpha1.PromotionErrored, at: 1, message: `step "step-0": e`},
		"Retry":     {reason: "unless a step may be tried again", steps: []v1alpha1.PromotionStep{retry(3, 0)}, passes: []pass{{0, Outcome{Status: StepErrored}}, {0, Outcome{Status: StepErrored}}}, phase: v1alpha1.PromotionRunning, wait: 10 * time.Second},
		"Threshold": {reason: "as often as it says", steps: []v1alpha1.PromotionStep{retry(2, 0)}, passes: []pass{{0, Outcome{Status: StepErrored}}, {0, Outcome{Status: StepErrored, Message: "e"}}}, phase: v1alpha1.PromotionErrored, at: 1, message: `step "step-0": e`},
		"InARow":    {reason: "errors in a row", steps: []v1alpha1.PromotionStep{retry(2, 0)}, passes: []pass{{0, Outcome{Status: StepErrored}}, {0, Outcome{Status: StepRunning}}, {0, Outcome{Status: StepErrored}}}, phase: v1alpha1.PromotionRunning, wait: 5 * time.Second},
		"Terminal":  {reason: "an error may be final", steps: []v1alpha1.PromotionStep{retry(9, 0)}, passes: []pass{{0, Outcome{Status: StepErrored, Terminal: true, Message: "e"}}}, phase: v1alpha1.PromotionErrored, at: 1, message: `step "step-0": e`},
		"Waits":     {reason: "a step in progress is observed again", steps: []v1alpha1.PromotionStep{{Uses: "x"}}, passes: []pass{{0, Outcome{Status: StepRunning}}}, phase: v1alpha1.PromotionRunning, wait: pause},
		"Late":      {reason: "not for ever", steps: []v1alpha1.PromotionStep{retry(1, time.Minute)}, passes: []pass{{0, Outcome{Status: StepRunning}}, {time.Minute, Outcome{Status: StepRunning, Message: "waiting"}}}, phase: v1alpha1.PromotionErrored, at: 1, message: `step "step-0": step "step-0" timed out after 1m0s: waiting`},
		"MayFail":   {reason: "a step may fail", steps: []v1alpha1.PromotionStep{{Uses: "x", ContinueOnError: true}, {Uses: "y"}}, passes: []pass{{0, Outcome{Status: StepFailed}}, {0, Outcome{Status: StepSucceeded}}}, phase: v1alpha1.PromotionSucceeded, at: 2},
		"Worst":     {reason: "an error counts more than what a step found", steps: []v1alpha1.PromotionStep{{Uses: "x", As: "a"}, {Uses: "y", As: "b"}}, passes: []pass{{0, Outcome{Status: StepFailed, Message: "f"}}, {0, Outcome{Status: StepErrored, Message: "e"}}}, phase: v1alpha1.PromotionErrored, at: 2, message: `step "a": f`},
		"NoSteps":   {reason: "without steps there is nothing to do", passes: []pass{{0, Outcome{}}}, phase: v1alpha1.PromotionSucceeded},
	} {
		t.Run(name, func(t *testing.T) {
			p := promotion("p", "f", "", func(p *v1alpha1.Promotion) { p.Spec.Steps = tc.steps })
			var wait time.Duration
			for _, pass := range tc.passes {
				p.Status = Begin(&p, noon)
				before := p.DeepCopy()
				p.Status, wait = Advance(&p, pass.outcome, Limits{}, noon.Add(pass.after))
				again, _ := Advance(before, pass.outcome, Limits{}, noon.Add(pass.after))
				if diff := cmp.Diff(p.Status, again); diff != "" {
					t.Errorf("the same gives something else:\n%s", diff)
				}
			}
			if p.Status.Phase != tc.phase || p.Status.CurrentStep != tc.at || wait != tc.wait || p.Status.Message != tc.message {
				t.Errorf("%s: %s at step %d, wait %s: %q", tc.reason, p.Status.Phase, p.Status.CurrentStep, wait, p.Status.Message)
			}
			if Terminal(p.Status.Phase) != (p.Status.FinishedAt != nil) {
				t.Errorf("%s: it is %s and finished at %v", tc.reason, p.Status.Phase, p.Status.FinishedAt)
			}
		})
	}
	if got := Backoff(100); got != 5*time.Minute {
		t.Errorf("the wait grows to %s", got)
	}
	p := promotion("p", "f", v1alpha1.PromotionRunning, func(p *v1alpha1.Promotion) { p.Spec.Steps = []v1alpha1.PromotionStep{{Uses: "x"}} })
	p.Status = Begin(&p, noon)
	if got := End(&p, "why", noon); got.Phase != v1alpha1.PromotionAborted || got.Message != "why" || got.StepExecutionMetadata[0].Status != StepAborted {
		t.Errorf("what is ended is %+v", got)
	}
}

func TestInflate(t *testing.T) {
	task := &v1alpha1.PromotionTaskSpec{
		Vars:  []v1alpha1.ExpressionVariable{{Name: "branch", Value: "main"}, {Name: "repo"}},
		Steps: []v1alpha1.PromotionStep{{Uses: "git-clone"}, {Uses: "git-push", As: "push"}},
	}
	find := func(reference v1alpha1.PromotionTaskReference) (*v1alpha1.PromotionTaskSpec, error) {
		if reference.Name == "none" {
			return nil, errors.New("not found")
		}
		return task, nil
	}
	repo := []v1alpha1.ExpressionVariable{{Name: "repo", Value: "r"}, {Name: "branch", Value: "other"}}
	got, err := Inflate([]v1alpha1.PromotionStep{{Uses: "copy"}, {Task: &v1alpha1.PromotionTaskReference{Name: "t"}, Vars: repo, If: "true"}}, find)
	if err != nil {
		t.Fatal(err)
	}
	want := []v1alpha1.PromotionStep{
		{Uses: "copy", As: "step-0"},
		{Uses: "git-clone", As: "task-1::step-0", Vars: repo, If: "true"},
		{Uses: "git-push", As: "task-1::push", Vars: repo, If: "true"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the steps (-want +got):\n%s", diff)
	}
	for want, steps := range map[string][]v1alpha1.PromotionStep{
		`variable "repo"`: {{Task: &v1alpha1.PromotionTaskReference{Name: "t"}}},
		`"none"`:          {{Task: &v1alpha1.PromotionTaskReference{Name: "none", Kind: v1alpha1.ClusterPromotionTaskKind}}},
		`called "a"`:      {{Uses: "x", As: "a"}, {Uses: "y", As: "a"}},
		"at most":         make([]v1alpha1.PromotionStep, maxSteps+1),
	} {
		if _, err := Inflate(steps, find); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %s: %v", want, err)
		}
	}
	task.Steps = []v1alpha1.PromotionStep{{Task: &v1alpha1.PromotionTaskReference{Name: "t"}}}
	if _, err := Inflate([]v1alpha1.PromotionStep{{Task: &v1alpha1.PromotionTaskReference{Name: "t"}, Vars: repo}}, find); err == nil {
		t.Error("a task in a task is accepted")
	}
}

func ended(name string, phase v1alpha1.PromotionPhase, of v1alpha1.FreightReference, s *v1alpha1.Stage) *v1alpha1.Promotion {
	p := promotion(name, of.Name, phase, nil)
	p.Status.Freight, p.Status.FreightCollection = &of, Collect(s, of)
	return &p
}

func TestFinished(t *testing.T) {
	other := v1alpha1.FreightOrigin{Kind: v1alpha1.FreightFromWarehouse, Name: "x"}
	s := stage(func(s *v1alpha1.Stage) {
		s.Spec.RequestedFreight = append(s.Spec.RequestedFreight, v1alpha1.FreightRequest{Origin: other})
	})
	s.Status = Running(s, ended("p1", v1alpha1.PromotionRunning, v1alpha1.FreightReference{Name: "a", Origin: origin}, s))
	if s.Status.CurrentPromotion.Name != "p1" {
		t.Errorf("the Promotion that runs is %+v", s.Status.CurrentPromotion)
	}
	s.Status = Finished(s, ended("p1", v1alpha1.PromotionSucceeded, v1alpha1.FreightReference{Name: "a", Origin: origin}, s))
	if s.Status.FreightSummary != "1/2 Fulfilled" || s.Status.CurrentPromotion != nil {
		t.Errorf("the summary is %q", s.Status.FreightSummary)
	}
	p2 := ended("p2", v1alpha1.PromotionSucceeded, v1alpha1.FreightReference{Name: "b", Origin: other}, s)
	s.Status = Finished(s, p2)
	if got := s.Status.FreightHistory[0]; got.ID != sum("a,b") || len(got.Items) != 2 {
		t.Errorf("the Stage has %+v", got)
	}
	again := Finished(s, p2)
	if len(again.FreightHistory) != 2 {
		t.Errorf("what was recorded before is recorded again: %d", len(again.FreightHistory))
	}
	s.Status = Finished(s, ended("p3", v1alpha1.PromotionFailed, v1alpha1.FreightReference{Name: "c", Origin: origin}, s))
	if len(s.Status.FreightHistory) != 2 || s.Status.LastPromotion.Name != "p3" {
		t.Errorf("a Promotion that failed changes the Freight: %+v", s.Status.FreightHistory)
	}
	for i := range 12 {
		s.Status = Finished(s, ended("q"+string(rune('a'+i)), v1alpha1.PromotionSucceeded, v1alpha1.FreightReference{Name: "d", Origin: origin}, s))
	}
	if len(s.Status.FreightHistory) != maxHistory {
		t.Errorf("the history has %d entries", len(s.Status.FreightHistory))
	}
}

func TestHold(t *testing.T) {
	all := []v1alpha1.Freight{freight("old", time.Hour, nil), freight("new", time.Minute, nil)}
	for name, tc := range map[string]struct {
		reason string
		of     string
		phase  v1alpha1.PromotionPhase
		actor  string
		held   bool
		want   string
	}{
		"ByPerson":  {reason: "a person goes back", of: "old", phase: v1alpha1.PromotionSucceeded, actor: "ada", want: "old"},
		"Failed":    {reason: "only if it succeeds", of: "old", phase: v1alpha1.PromotionFailed, actor: "ada"},
		"Automatic": {reason: "and only a person does", of: "old", phase: v1alpha1.PromotionSucceeded, actor: "controller:x"},
		"Newest":    {reason: "the newest ends it", of: "new", phase: v1alpha1.PromotionSucceeded, actor: "ada", held: true},
		"Unknown":   {reason: "unknown Freight changes nothing", of: "none", phase: v1alpha1.PromotionSucceeded, actor: "ada", held: true, want: "old"},
	} {
		t.Run(name, func(t *testing.T) {
			s := stage(func(s *v1alpha1.Stage) {
				if tc.held {
					s.Status.AutoPromotionHolds = map[string]v1alpha1.AutoPromotionHold{OriginKey(origin): {FreightName: "old"}}
				}
			})
			p := promotion("p", tc.of, tc.phase, func(p *v1alpha1.Promotion) { p.Annotations[v1alpha1.CreateActorAnnotation] = tc.actor })
			if got := Hold(Pipeline{Stage: s, Freight: all}, &p, noon)[OriginKey(origin)].FreightName; got != tc.want {
				t.Errorf("%s: held by %q", tc.reason, got)
			}
		})
	}
}

// A Stage is promoted to, becomes healthy and is verified.
func TestRollback(t *testing.T) {
	other := freight("other", time.Hour, func(f *v1alpha1.Freight) { f.Origin.Name = "other" })
	all := []v1alpha1.Freight{freight("old", time.Hour, nil), freight("has", time.Minute, nil), freight("new", 0, nil), other}
	at := stage(nil)
	at.Status.FreightHistory = []*v1alpha1.FreightCollection{Collect(at, Reference(&all[1]))}
	for name, tc := range map[string]struct {
		reason string
		stage  *v1alpha1.Stage
		of     string
		says   string
		want   bool
	}{
		"Older":  {reason: "an older Freight than the Stage has", stage: at, of: "old", want: true},
		"Newer":  {reason: "not a newer one", stage: at, of: "new"},
		"Same":   {reason: "nor the same", stage: at, of: "has"},
		"Other":  {reason: "nor one of another origin", stage: at, of: "other"},
		"First":  {reason: "nor the first", stage: stage(nil), of: "old"},
		"Gone":   {reason: "nor one that is gone", stage: at, of: "gone"},
		"Says":   {reason: "a Promotion may say so", stage: at, of: "new", says: "true", want: true},
		"Denies": {reason: "or not", stage: at, of: "new", says: "false"},
	} {
		t.Run(name, func(t *testing.T) {
			one := promotion("p", tc.of, "", func(p *v1alpha1.Promotion) { p.Annotations[v1alpha1.RollbackAnnotation] = tc.says })
			if got := Rollback(Pipeline{Stage: tc.stage, Freight: all}, &one); got != tc.want {
				t.Errorf("%s: %t", tc.reason, got)
			}
		})
	}
}

func TestConditions(t *testing.T) {
	state := func(s *v1alpha1.Stage) string {
		var all []string
		for _, kind := range []string{ConditionReady, ConditionPromoting, ConditionHealthy, ConditionVerified} {
			for _, c := range Conditions(s, metav1.NewTime(noon)) {
				if c.Type == kind {
					all = append(all, kind+"="+string(c.Status)+"/"+c.Reason)
				}
			}
		}
		return strings.Join(all, " ")
	}
	expect := func(s *v1alpha1.Stage, want string) {
		t.Helper()
		if got := state(s); got != want {
			t.Errorf("the conditions are\n%s\nwant\n%s", got, want)
		}
	}
	f := v1alpha1.FreightReference{Name: "a", Origin: origin}
	s := stage(func(s *v1alpha1.Stage) { s.Spec.Verification = &v1alpha1.Verification{} })
	expect(s, "Ready=False/NoFreight Healthy=Unknown/NoFreight Verified=False/NoFreight")
	if v := Verify(s, nil, "v1", noon); v.Info != nil {
		t.Errorf("nothing is verified: %+v", v)
	}
	s.Status = Running(s, ended("p1", v1alpha1.PromotionRunning, f, s))
	s.Status.Conditions = Conditions(s, metav1.NewTime(noon))
	expect(s, "Ready=False/ActivePromotion Promoting=True/ActivePromotion Healthy=Unknown/ActivePromotion Verified=False/NoFreight")
	if h := Health(s, nil); h != nil {
		t.Errorf("the health is %+v while a Promotion runs", h)
	}
	p := ended("p1", v1alpha1.PromotionSucceeded, f, s)
	p.Status.HealthChecks = []v1alpha1.HealthCheckStep{{Uses: "argocd-update"}}
	s.Status = Finished(s, p)
	s.Status.Health = Health(s, nil)
	expect(s, "Ready=False/Unknown Healthy=Unknown/Unknown Verified=Unknown/Pending")
	s.Status.Health = Health(s, []v1alpha1.Health{{Status: v1alpha1.HealthProgressing}})
	expect(s, "Ready=False/Progressing Healthy=Unknown/Progressing Verified=Unknown/Pending")
	if v := Verify(s, nil, "v1", noon); v.Info != nil || v.Start {
		t.Errorf("it is verified before it is healthy: %+v", v)
	}
	s.Status.Health = Health(s, []v1alpha1.Health{{Status: v1alpha1.HealthHealthy}})
	v := Verify(s, nil, "v1", noon)
	if v.Info == nil || !v.Start || v.Info.Phase != v1alpha1.VerificationPending {
		t.Fatalf("the check is not started: %+v", v)
	}
	record := func(v Verification) {
		s.Status.FreightHistory[0].VerificationHistory = Record(s.Status.FreightHistory[0].VerificationHistory, *v.Info)
	}
	record(v)
	expect(s, "Ready=False/VerificationPending Healthy=True/Healthy Verified=Unknown/VerificationPending")
	if again := Verify(s, nil, "v2", noon); !again.Start || again.Info.ID != "v1" {
		t.Errorf("after a restart, the check is not started again as the same: %+v", again)
	}
	record(Verify(s, &Check{Phase: v1alpha1.VerificationFailed, Message: "status 500"}, "v2", noon))
	expect(s, "Ready=False/VerificationFailed Healthy=True/Healthy Verified=False/VerificationFailed")
	if again := Verify(s, nil, "v2", noon); again.Start {
		t.Error("what failed is verified again without a request")
	}
	s.Annotations = map[string]string{v1alpha1.ReverifyAnnotation: "v1"}
	record(Verify(s, nil, "v2", noon))
	s.Annotations = map[string]string{v1alpha1.AbortAnnotation: "v2"}
	if aborted := Verify(s, nil, "v3", noon); !aborted.Stop || aborted.Info.Phase != v1alpha1.VerificationAborted {
		t.Errorf("it is not aborted: %+v", aborted)
	}
	record(Verify(s, &Check{Phase: v1alpha1.VerificationSuccessful}, "v3", noon))
	s.Annotations = nil
	record(Verify(s, &Check{Phase: v1alpha1.VerificationSuccessful}, "v3", noon))
	if n := len(s.Status.FreightHistory[0].VerificationHistory); n != 2 {
		t.Errorf("there are %d verifications, want 2", n)
	}
	s.Spec.Verification = nil
	s.Status.FreightHistory[0].VerificationHistory = nil
	record(Verify(s, nil, "v4", noon))
	expect(s, "Ready=True/Verified Healthy=True/Healthy Verified=True/Verified")
	s.Status = Finished(s, ended("p2", v1alpha1.PromotionErrored, f, s))
	s.Status.Health = Health(s, nil)
	expect(s, "Ready=False/LastPromotionErrored Healthy=False/LastPromotionErrored Verified=True/Verified")
}

func TestHealth(t *testing.T) {
	s := stage(func(s *v1alpha1.Stage) {
		s.Status.LastPromotion = &v1alpha1.PromotionReference{Status: &v1alpha1.PromotionStatus{Phase: v1alpha1.PromotionSucceeded}}
	})
	if got := Health(s, nil); got.Status != v1alpha1.HealthHealthy {
		t.Errorf("without checks it is %s", got.Status)
	}
	got := Health(s, []v1alpha1.Health{{Status: v1alpha1.HealthProgressing, Issues: []string{"a"}}, {Status: v1alpha1.HealthUnhealthy, Issues: []string{"b"}}, {Status: v1alpha1.HealthHealthy}})
	if got.Status != v1alpha1.HealthUnhealthy || len(got.Issues) != 2 {
		t.Errorf("the worst does not count: %+v", got)
	}
}
