// Package cron decides when a CronWorkflow creates a run, and what becomes of earlier ones: a pure function of the object, of the runs that exist,
// and of the time.
//
// A run has a name that follows from the time at which it was due, so that it is created once, even by two processes. A run that was never seen is
// created again after a crash; one that was seen and deleted is not.
package cron

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

const (
	// annotationSchedule records the schedules that were in use, annotationSince from when on times are due.
	annotationSchedule = "cronworkflows.argoproj.io/last-used-schedule"
	annotationSince    = "workflows.headgate.dev/schedule-since"
	// labelStopped is on a CronWorkflow that creates no more runs.
	labelStopped = "workflows.argoproj.io/cron-workflow-completed"
)

// late is how much later than due a run may be created without a starting deadline: for as long, another process may have to take over.
const late = time.Minute

// The numbers of runs that are kept by default.
const (
	keepSucceeded = 3
	keepFailed    = 1
)

// Facts are what was observed.
type Facts struct {
	// Now is the time of the pass.
	Now time.Time
	// Runs are all runs of the CronWorkflow that exist.
	Runs []Run
}

// Run is one run.
type Run struct {
	Name       string
	UID        types.UID
	Phase      v1alpha1.WorkflowPhase
	FinishedAt time.Time
}

// Decision is what happens next.
type Decision struct {
	// Cron is the object as it is to be written: status, labels and annotations. It is a copy.
	Cron *v1alpha1.CronWorkflow
	// Create are runs to create; one that exists is left alone.
	Create []*v1alpha1.Workflow
	// Terminate and Delete are the names of runs.
	Terminate, Delete []string
	// Wake is when to decide again without any change; zero for never.
	Wake time.Time
}

// Next decides what a CronWorkflow does next.
func Next(given *v1alpha1.CronWorkflow, facts Facts) Decision {
	p := &pass{cron: given.DeepCopy(), facts: facts}
	p.count()
	p.history()
	p.schedule()
	return Decision{Cron: p.cron, Create: p.create, Terminate: p.terminate, Delete: p.remove, Wake: p.wake}
}

type pass struct {
	cron              *v1alpha1.CronWorkflow
	facts             Facts
	create            []*v1alpha1.Workflow
	terminate, remove []string
	wake              time.Time
}

// count brings the list of active runs up to date, and counts those that have ended.
func (p *pass) count() {
	status := &p.cron.Status
	var active []corev1.ObjectReference
	known := map[string]bool{}
	for _, reference := range status.Active {
		known[reference.Name] = true
		run, exists := p.run(reference.Name)
		switch {
		case !exists && reference.UID == "":
			// Its creation was recorded, and never seen.
			if at, err := scheduledTime(p.cron.Name, reference.Name); err == nil {
				p.create = append(p.create, p.newRun(at))
				active = append(active, reference)
			}
		case !exists:
		case run.Phase.Completed():
			p.ended(run)
		default:
			active = append(active, p.reference(run))
		}
	}
	for _, run := range p.facts.Runs {
		if !known[run.Name] && !run.Phase.Completed() {
			active = append(active, p.reference(run))
		}
	}
	slices.SortFunc(active, func(a, b corev1.ObjectReference) int { return strings.Compare(a.Name, b.Name) })
	status.Active = active
}

func (p *pass) ended(run Run) {
	if run.Phase == v1alpha1.WorkflowSucceeded {
		p.cron.Status.Succeeded++
		return
	}
	p.cron.Status.Failed++
}

func (p *pass) run(name string) (Run, bool) {
	for _, run := range p.facts.Runs {
		if run.Name == name {
			return run, true
		}
	}
	return Run{}, false
}

func (p *pass) reference(run Run) corev1.ObjectReference {
	return corev1.ObjectReference{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.WorkflowKind, Namespace: p.cron.Namespace, Name: run.Name, UID: run.UID,
	}
}

// history deletes the runs that have ended beyond the numbers to keep, the oldest first.
func (p *pass) history() {
	p.trim(p.cron.Spec.SuccessfulJobsHistoryLimit, keepSucceeded, func(phase v1alpha1.WorkflowPhase) bool { return phase == v1alpha1.WorkflowSucceeded })
	p.trim(p.cron.Spec.FailedJobsHistoryLimit, keepFailed, func(phase v1alpha1.WorkflowPhase) bool {
		return phase == v1alpha1.WorkflowFailed || phase == v1alpha1.WorkflowError
	})
}

func (p *pass) trim(limit *int32, byDefault int32, of func(v1alpha1.WorkflowPhase) bool) {
	keep := byDefault
	if limit != nil {
		keep = max(0, *limit)
	}
	var ended []Run
	for _, run := range p.facts.Runs {
		if of(run.Phase) {
			ended = append(ended, run)
		}
	}
	slices.SortFunc(ended, func(a, b Run) int {
		if order := a.FinishedAt.Compare(b.FinishedAt); order != 0 {
			return order
		}
		return strings.Compare(a.Name, b.Name)
	})
	for i := range len(ended) - int(keep) {
		p.remove = append(p.remove, ended[i].Name)
	}
}

// schedule creates the run that is due.
func (p *pass) schedule() {
	if p.stopped() {
		return
	}
	schedules, err := ParseSchedules(&p.cron.Spec)
	if err != nil {
		p.specError(err)
		return
	}
	p.schedulesFine()
	base := p.base(schedules)
	p.wake = schedules.Next(p.facts.Now)
	if p.cron.Spec.Suspend {
		p.wake = time.Time{}
		return
	}
	due := schedules.Last(base, p.facts.Now)
	if due.IsZero() || !p.inTime(due) {
		return
	}
	proceed, err := p.when()
	if err != nil {
		p.specError(err)
		return
	}
	p.condition(v1alpha1.ConditionSpecError, metav1.ConditionFalse, "")
	if !proceed || !p.admits() {
		p.since(due)
		return
	}
	p.begin(due)
}

// base is the time after which runs are due: that of the last run, or since when the schedules are the ones that they are.
func (p *pass) base(schedules Schedules) time.Time {
	if recorded := p.cron.Annotations[annotationSchedule]; recorded != schedules.String() {
		p.annotate(annotationSchedule, schedules.String())
		if recorded != "" {
			p.since(p.facts.Now)
		}
	}
	base := p.cron.CreationTimestamp.Time
	if last := p.cron.Status.LastScheduledTime; last != nil && last.After(base) {
		base = last.Time
	}
	if since, err := time.Parse(time.RFC3339, p.cron.Annotations[annotationSince]); err == nil && since.After(base) {
		base = since
	}
	return base
}

// since records a time before which nothing is due anymore.
func (p *pass) since(at time.Time) { p.annotate(annotationSince, at.UTC().Format(time.RFC3339)) }

func (p *pass) annotate(name, value string) {
	if p.cron.Annotations == nil {
		p.cron.Annotations = map[string]string{}
	}
	p.cron.Annotations[name] = value
}

// inTime reports whether a run may still be created. One that was missed by more than a moment needs a deadline that says so, and a run before it.
func (p *pass) inTime(due time.Time) bool {
	behind := p.facts.Now.Sub(due)
	if behind <= late {
		return true
	}
	deadline := p.cron.Spec.StartingDeadlineSeconds
	return deadline != nil && p.cron.Status.LastScheduledTime != nil && behind <= time.Duration(*deadline)*time.Second
}

// admits reports whether a run may begin beside those that are active.
func (p *pass) admits() bool {
	switch p.cron.Spec.ConcurrencyPolicy {
	case v1alpha1.ForbidConcurrent:
		return len(p.cron.Status.Active) == 0
	case v1alpha1.ReplaceConcurrent:
		for _, reference := range p.cron.Status.Active {
			if reference.UID != "" {
				p.terminate = append(p.terminate, reference.Name)
			}
		}
	}
	return true
}

// begin creates the run that was due at a time.
func (p *pass) begin(due time.Time) {
	run := p.newRun(due)
	p.create = append(p.create, run)
	at := metav1.NewTime(due)
	status := &p.cron.Status
	status.LastScheduledTime = &at
	status.Phase = v1alpha1.CronActive
	if _, exists := p.run(run.Name); !exists {
		status.Active = append(status.Active, p.reference(Run{Name: run.Name}))
	}
}

// newRun is the run that is due at a time.
func (p *pass) newRun(due time.Time) *v1alpha1.Workflow {
	run := &v1alpha1.Workflow{Spec: *p.cron.Spec.WorkflowSpec.DeepCopy()}
	run.APIVersion, run.Kind = v1alpha1.GroupVersion.String(), v1alpha1.WorkflowKind
	run.Name, run.Namespace = RunName(p.cron.Name, due), p.cron.Namespace
	run.Labels, run.Annotations = map[string]string{}, map[string]string{}
	if metadata := p.cron.Spec.WorkflowMetadata; metadata != nil {
		maps.Copy(run.Labels, metadata.Labels)
		maps.Copy(run.Annotations, metadata.Annotations)
		run.Finalizers = slices.Clone(metadata.Finalizers)
	}
	run.Labels[v1alpha1.LabelCronWorkflow] = p.cron.Name
	run.Annotations[v1alpha1.AnnotationScheduledTime] = due.UTC().Format(time.RFC3339)
	run.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(p.cron, v1alpha1.GroupVersion.WithKind(v1alpha1.CronWorkflowKind))}
	return run
}

// RunName is the name of the run that is due at a time.
func RunName(cron string, due time.Time) string {
	return cron + "-" + strconv.FormatInt(due.Unix(), 10)
}

// scheduledTime is when a run was due, by its name.
func scheduledTime(cron, run string) (time.Time, error) {
	seconds, err := strconv.ParseInt(strings.TrimPrefix(run, cron+"-"), 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is not the name of a run of %q", run, cron)
	}
	return time.Unix(seconds, 0).UTC(), nil
}
