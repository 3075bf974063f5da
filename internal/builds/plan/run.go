package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/build/v1alpha1"
)

// The reasons of runs that failed.
const (
	RunFailed     = "RunFailed"
	RunDeleted    = "RunDeleted"
	RunNotOwned   = "RunNotOwned"
	OutputMissing = "OutputMissing"
	OutputInUse   = "OutputInUse"
	ImageFailed   = "ImageFailed"
)

// The defaults of retries.
const (
	retryLimit    = 3
	retryDuration = time.Minute
	retryFactor   = 2
	retryCap      = time.Hour
)

// follow observes the active run.
func (p *pass) follow(a *v1alpha1.ActiveRun) {
	r := p.run(a.Run)
	superseded := p.want != "" && a.Digest != p.want
	switch {
	case r == nil && a.UID == "" && superseded:
		p.status.Active = nil
	case r == nil && a.UID == "":
		p.create(a)
	case r == nil || a.UID != "" && r.UID != a.UID:
		p.failed(a, RunDeleted, "the run was deleted before its outputs were written", p.facts.Now)
	case !r.Owned:
		p.failed(a, RunNotOwned, "there is a Workflow of that name that does not belong to the Build", p.facts.Now)
	default:
		a.UID = r.UID
		p.observe(a, r, superseded)
	}
}

// observe continues with a run that exists.
func (p *pass) observe(a *v1alpha1.ActiveRun, r *Run, superseded bool) {
	switch {
	case !r.ended():
		p.doing = "run " + a.Run + " is active"
		if superseded && p.build.Spec.Concurrency.OnNewInputs == v1alpha1.Cancel {
			p.doing = "run " + a.Run + " is being terminated, since there are new inputs"
			p.do(Action{Do: CancelRun, Name: r.Name, UID: r.UID})
		}
	case r.Phase == succeeded:
		p.finish(a, r)
	case superseded:
		p.status.Active = nil
	default:
		p.failed(a, RunFailed, cmp.Or(r.Message, "the run ended as "+r.Phase), cmp.Or(r.FinishedAt, p.facts.Now))
	}
}

// begin has the current digest built: by a run that exists, or by another one.
func (p *pass) begin() {
	if p.status.Failures > int64(p.limit()) {
		return
	}
	if next := p.status.NextAttemptTime; next != nil && next.After(p.facts.Now) {
		p.wakeAt(next.Time)
		return
	}
	p.status.NextAttemptTime = nil
	attempt := p.status.Attempts
	for i := range p.facts.Runs {
		r := &p.facts.Runs[i]
		if !r.Owned {
			continue
		}
		if !r.ended() || r.Phase == succeeded && r.Digest == p.want && (p.status.Failures == 0 || r.Attempt > p.status.Attempts) {
			p.join(r)
			return
		}
		if r.Digest == p.want {
			attempt = max(attempt, r.Attempt)
		}
	}
	a := &v1alpha1.ActiveRun{Run: RunName(p.build.Name, p.want, attempt+1), Digest: p.want, Attempt: attempt + 1, Epoch: p.status.RebuildEpoch}
	p.status.Active, p.status.Attempts = a, a.Attempt
	p.create(a)
}

// join continues with a run that exists.
func (p *pass) join(r *Run) {
	p.status.Active = p.activeOf(r)
	if r.Digest == p.want {
		p.status.Attempts = max(p.status.Attempts, r.Attempt)
	}
	p.follow(p.status.Active)
	if p.status.Active == nil && p.upToDate() {
		p.current = true
		p.record()
	}
}

func (p *pass) create(a *v1alpha1.ActiveRun) {
	p.doing = "run " + a.Run + " is created"
	if p.want == "" {
		p.doing = "run " + a.Run + " waits for the inputs: " + p.facts.Missing
		return
	}
	p.do(Action{Do: CreateRun, Name: a.Run, Object: p.workflow(a)})
}

func (p *pass) limit() int32 {
	if l := p.build.Spec.Retry.Limit; l != nil {
		return *l
	}
	return retryLimit
}

// failed records that a run gave no outputs, and when the next one is due.
func (p *pass) failed(a *v1alpha1.ActiveRun, reason, message string, at time.Time) {
	p.status.Active = nil
	p.status.LastFailure = &v1alpha1.FailedRun{
		Run: a.Run, Digest: a.Digest, Reason: reason, Message: message, Time: metav1.NewTime(at.UTC().Truncate(time.Second)),
	}
	if p.want != "" && a.Digest != p.want {
		return
	}
	p.status.Failures++
	p.status.Attempts = max(p.status.Attempts, a.Attempt)
	p.status.NextAttemptTime = nil
	if p.status.Failures <= int64(p.limit()) {
		next := metav1.NewTime(at.Add(p.backoff()).UTC().Truncate(time.Second))
		p.status.NextAttemptTime = &next
	}
}

// backoff is how long is waited after the failures until now.
func (p *pass) backoff() time.Duration {
	b := p.build.Spec.Retry.Backoff
	wait, factor, longest := retryDuration, float64(retryFactor), retryCap
	if b.Duration != nil {
		wait = max(0, b.Duration.Duration)
	}
	if b.Factor != nil {
		factor = float64(max(1, *b.Factor))
	}
	if b.Cap != nil {
		longest = max(0, b.Cap.Duration)
	}
	grown := float64(wait) * math.Pow(factor, float64(p.status.Failures-1))
	if grown >= float64(longest) {
		return longest
	}
	return time.Duration(grown)
}

// The defaults of histories.
const keptRuns = 3

// history deletes the oldest runs beyond the numbers that are kept. Neither the active one nor that of the outputs is deleted.
func (p *pass) history() {
	keep := func(limit *int32) int {
		if limit != nil {
			return int(*limit)
		}
		return keptRuns
	}
	good, bad := keep(p.build.Spec.History.Successful), keep(p.build.Spec.History.Failed)
	ended := slices.DeleteFunc(slices.Clone(p.facts.Runs), func(r Run) bool { return !r.Owned || !r.ended() })
	slices.SortFunc(ended, func(a, b Run) int { return cmp.Or(b.FinishedAt.Compare(a.FinishedAt), cmp.Compare(b.Name, a.Name)) })
	for _, r := range ended {
		left := &bad
		if r.Phase == succeeded {
			left = &good
		}
		needed := p.status.Active != nil && p.status.Active.Run == r.Name || p.status.LastSuccess != nil && p.status.LastSuccess.Run == r.Name
		if *left--; *left < 0 && !needed {
			p.do(Action{Do: DeleteRun, Name: r.Name, UID: r.UID})
		}
	}
}

// stalledBy says why nothing happens until something changes; empty if something does.
func (p *pass) stalledBy() (reason, message string) {
	f := p.status.LastFailure
	switch {
	case p.invalid != "":
		return "InvalidSpec", p.invalid
	case p.current || p.status.Active != nil || f == nil || p.status.Failures <= int64(p.limit()):
		return "", ""
	}
	return f.Reason, fmt.Sprintf("run %s failed, which was attempt %d of %d: %s; change an input, or request a pass: headgate sync build/%s -n %s",
		f.Run, p.status.Failures, p.limit()+1, f.Message, p.build.Name, p.build.Namespace)
}
