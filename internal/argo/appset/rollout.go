package appset

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
)

// The states of an Application in a rollout.
const (
	RolloutWaiting     = "Waiting"
	RolloutPending     = "Pending"
	RolloutProgressing = "Progressing"
	RolloutHealthy     = "Healthy"
)

// Rollout is how far a set is whose Applications change in steps.
type Rollout struct {
	// Active says that there are steps at all.
	Active bool
	// Statuses are those of the Applications that exist.
	Statuses []v1alpha1.ApplicationSetApplicationStatus
	// Sync are the Applications to sync now; see SyncOperation.
	Sync []string
	// Step is the current one, counted from 1, and 0 when all have ended.
	Step int
	// Warnings are what is odd about the steps.
	Warnings []string
}

// MakeRollout says how far each Application is, and which are to be synced. A step begins when all Applications of
// those before it are there and healthy; those that no step chooses are not synced.
func MakeRollout(set *Set, apps []AppState, now time.Time) Rollout {
	if !set.rolling() {
		return Rollout{}
	}
	r := &rolling{steps: set.Spec.Strategy.RollingSync.Steps, apps: apps, now: metav1.NewTime(now.Truncate(time.Second)), of: map[string]int{}}
	r.out.Active = true
	r.assign()
	before := map[string]v1alpha1.ApplicationSetApplicationStatus{}
	for _, status := range set.Status.ApplicationStatus {
		before[status.Application] = status
	}
	for _, app := range apps {
		if app.Exists {
			status, known := before[app.Name]
			r.out.Statuses = append(r.out.Statuses, r.status(app, status, known))
		}
	}
	r.promote(r.permitted())
	r.pick()
	return r.out
}

// rolling is a rollout that is being made.
type rolling struct {
	steps []v1alpha1.ApplicationSetRolloutStep
	apps  []AppState
	now   metav1.Time
	// of are the steps of the Applications, counted from 0, and -1 for those that no step chooses.
	of  map[string]int
	out Rollout
}

// assign puts each Application in the first step that chooses it.
func (r *rolling) assign() {
	for _, app := range r.apps {
		r.of[app.Name] = -1
		for i, step := range r.steps {
			if !chooses(step, app.Labels) {
				continue
			}
			if first := r.of[app.Name]; first >= 0 {
				r.out.Warnings = append(r.out.Warnings, fmt.Sprintf("steps %d and %d both select Application %q; the first one is used", first+1, i+1, app.Name))
				break
			}
			r.of[app.Name] = i
		}
	}
	for i, step := range r.steps {
		for _, e := range step.MatchExpressions {
			if e.Operator != "In" && e.Operator != "NotIn" {
				r.out.Warnings = append(r.out.Warnings, fmt.Sprintf("step %d selects nothing: operator %q is neither In nor NotIn", i+1, e.Operator))
			}
		}
	}
}

func chooses(step v1alpha1.ApplicationSetRolloutStep, labels map[string]string) bool {
	for _, e := range step.MatchExpressions {
		value, there := labels[e.Key]
		listed := there && slices.Contains(e.Values, value)
		if e.Operator != "In" && e.Operator != "NotIn" || listed != (e.Operator == "In") {
			return false
		}
	}
	return true
}

// status is the next state of an Application.
func (r *rolling) status(app AppState, before v1alpha1.ApplicationSetApplicationStatus, known bool) v1alpha1.ApplicationSetApplicationStatus {
	next := before
	revisions := append([]string{}, app.Revisions...)
	if !known {
		next = v1alpha1.ApplicationSetApplicationStatus{Application: app.Name, TargetRevisions: revisions}
		r.to(&next, RolloutWaiting, "No Application status found, defaulting status to Waiting")
	}
	next.Step = strconv.Itoa(r.number(app.Name))
	moved := !slices.Equal(next.TargetRevisions, revisions)
	if moved || app.Changed {
		next.TargetRevisions = revisions
		r.to(&next, RolloutWaiting, pendingChange(moved, app.Changed))
	}
	synced, healthy := app.Sync == v1alpha1.SyncStatusCodeSynced, app.Health == v1alpha1.HealthStatusHealthy
	switch {
	case next.Status == RolloutWaiting && (app.Changed || stale(app, next)):
		// What was compared last is not what is wanted now.
	case next.Status == RolloutWaiting && synced && healthy:
		r.to(&next, RolloutHealthy, "Application resource has synced, updating status to Healthy")
	case next.Status == RolloutWaiting && synced:
		r.to(&next, RolloutProgressing, "Application resource has synced, updating status to Progressing")
	case next.Status == RolloutPending && begun(app, next):
		r.to(&next, RolloutProgressing, "Application resource became Progressing, updating status from Pending to Progressing")
	case next.Status == RolloutPending && app.Broken && !early(app.Reconciled, next):
		r.to(&next, RolloutProgressing, "Application resource has error and cannot sync, updating status to Progressing")
	case next.Status == RolloutProgressing && synced && healthy:
		r.to(&next, RolloutHealthy, "Application resource became Healthy, updating status from Progressing to Healthy")
	}
	return next
}

// The messages of changes that wait.
const (
	bothDiffer      = "Application has pending changes (revision and spec differ), setting status to Waiting"
	revisionDiffers = "Application has pending changes, setting status to Waiting"
	specDiffers     = "Application has pending changes (spec differs), setting status to Waiting"
)

func pendingChange(revision, spec bool) string {
	switch {
	case revision && spec:
		return bothDiffer
	case revision:
		return revisionDiffers
	}
	return specDiffers
}

// stale says whether an Application was compared last before its spec changed.
func stale(app AppState, status v1alpha1.ApplicationSetApplicationStatus) bool {
	return (status.Message == bothDiffer || status.Message == specDiffers) && early(app.Reconciled, status)
}

// begun says whether an operation began since the Application was to be synced. One of the same second is an older one when
// it had other revisions.
func begun(app AppState, status v1alpha1.ApplicationSetApplicationStatus) bool {
	if app.OperationStarted.IsZero() || early(app.OperationStarted, status) {
		return false
	}
	same := status.LastTransitionTime != nil && !app.OperationStarted.After(status.LastTransitionTime.Time)
	return !same || len(app.Operated) == 0 || slices.Equal(app.Operated, status.TargetRevisions)
}

// early says whether a time lies before the last change of a state. Both have whole seconds, and what happens in the
// same one counts as after it.
func early(at time.Time, status v1alpha1.ApplicationSetApplicationStatus) bool {
	return !at.IsZero() && status.LastTransitionTime != nil && at.Before(status.LastTransitionTime.Time)
}

func (r *rolling) to(status *v1alpha1.ApplicationSetApplicationStatus, state, message string) {
	status.Status, status.Message, status.LastTransitionTime = state, message, r.now.DeepCopy()
}

// number is that of the step of an Application, counted from 1, and -1 when there is none.
func (r *rolling) number(name string) int {
	step, known := r.of[name]
	if !known || step < 0 {
		return -1
	}
	return step + 1
}

// permitted are the steps that may run: the first one that has not ended, and those before it. One has not ended while an
// Application of it is behind: of a commit that changes two of them, the later one may be compared first.
func (r *rolling) permitted() int {
	healthy := map[string]bool{}
	for _, status := range r.out.Statuses {
		healthy[status.Application] = status.Status == RolloutHealthy
	}
	for i := range r.steps {
		for _, app := range r.apps {
			if r.of[app.Name] == i && (!healthy[app.Name] || app.Behind) {
				r.out.Step = i + 1
				return i
			}
		}
	}
	return len(r.steps) - 1
}

// promote has Applications that wait be synced, as many at once as their step permits.
func (r *rolling) promote(last int) {
	busy, total := map[int]int{}, map[int]int{}
	for _, status := range r.out.Statuses {
		step := r.of[status.Application]
		total[step]++
		if status.Status == RolloutPending || status.Status == RolloutProgressing {
			busy[step]++
		}
	}
	for i := range r.out.Statuses {
		status := &r.out.Statuses[i]
		step := r.of[status.Application]
		if step < 0 || step > last || status.Status != RolloutWaiting || busy[step] >= r.atOnce(step, total[step]) {
			continue
		}
		r.to(status, RolloutPending, "Application moved to Pending status, watching for the Application resource to start Progressing")
		busy[step]++
	}
}

// atOnce is how many Applications of a step may be on their way.
func (r *rolling) atOnce(step, total int) int {
	limit := r.steps[step].MaxUpdate
	if limit == nil {
		return total
	}
	scaled, err := intstr.GetScaledValueFromIntOrPercent(limit, total, false)
	if err != nil {
		r.out.Warnings = append(r.out.Warnings, fmt.Sprintf("step %d: maxUpdate %q is neither a number nor a percentage; one at a time is changed", step+1, limit.String()))
		return 1
	}
	if limit.Type == intstr.String && limit.StrVal != "0%" {
		return max(1, scaled)
	}
	return scaled
}

// pick names the Applications that are to be synced and for which no sync is requested yet.
func (r *rolling) pick() {
	states := map[string]AppState{}
	for _, app := range r.apps {
		states[app.Name] = app
	}
	for _, status := range r.out.Statuses {
		app := states[status.Application]
		if status.Status == RolloutPending && !app.Operating && !begun(app, status) {
			r.out.Sync = append(r.out.Sync, status.Application)
		}
	}
}
