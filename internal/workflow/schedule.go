package workflow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/workflow/cron"
	"github.com/headgate-dev/headgate/internal/workflow/execute"
)

// schedulePasses are passes over CronWorkflows.
type schedulePasses struct{ *part }

// Share is the namespace.
func (schedulePasses) Share(name types.NamespacedName) string { return name.Namespace }

// Pass creates the runs of a CronWorkflow that are due, and ends and deletes earlier ones.
func (s schedulePasses) Pass(ctx context.Context, name types.NamespacedName) rounds.Next {
	id := idOf(v1alpha1.CronWorkflowKind, name)
	if u := s.takeBroken(id); u != nil {
		return rounds.Done(s.refuseSchedule(ctx, u))
	}
	c, known := s.schedules.Get(id)
	if !known || c.DeletionTimestamp != nil {
		return rounds.Rest()
	}
	d, changed, err := s.reschedule(ctx, c)
	switch {
	case errors.Is(err, errGone):
		return rounds.Rest()
	case apierrors.IsConflict(err):
		return rounds.Done(s.readSchedule(ctx, name))
	case err != nil:
		return rounds.Retry(fmt.Errorf("CronWorkflow %s: %w", name, err))
	case changed:
		return rounds.After(0)
	case !d.Wake.IsZero():
		return rounds.After(time.Until(d.Wake))
	default:
		return rounds.Rest()
	}
}

// reschedule makes one decision, records it, and carries it out: a run is created once its name is recorded.
func (p *part) reschedule(ctx context.Context, c *v1alpha1.CronWorkflow) (cron.Decision, bool, error) {
	var d cron.Decision
	raw := p.schedules.Raw(idOf(v1alpha1.CronWorkflowKind, types.NamespacedName{Namespace: c.Namespace, Name: c.Name}))
	if err := p.findings(raw, c.Namespace); err != nil {
		invalid := c.DeepCopy()
		conditions(invalid, v1alpha1.ConditionSpecError, err.Error())
		d.Cron = invalid
	} else {
		d = cron.Next(c, cron.Facts{Now: time.Now(), Runs: p.runsOf(c)})
	}
	written, err := p.writeSchedule(ctx, raw, c, d.Cron)
	if err != nil {
		return d, false, err
	}
	if err := p.create(ctx, d); err != nil {
		return d, false, p.submissionFailed(ctx, d.Cron, written, err)
	}
	if err := p.submitted(ctx, d, written); err != nil {
		return d, false, err
	}
	for _, name := range d.Terminate {
		if err := p.terminate(ctx, types.NamespacedName{Namespace: c.Namespace, Name: name}); err != nil {
			return d, false, err
		}
	}
	for _, name := range d.Delete {
		wf, known := p.workflow(types.NamespacedName{Namespace: c.Namespace, Name: name})
		if !known {
			continue
		}
		if err := p.deleteWorkflow(ctx, execute.Of(wf)); err != nil {
			return d, false, fmt.Errorf("deleting run %q: %w", name, err)
		}
	}
	return d, written != nil || len(d.Create) > 0, nil
}

// runsOf are the runs of a schedule that exist.
func (p *part) runsOf(c *v1alpha1.CronWorkflow) []cron.Run {
	var all []cron.Run
	for _, wf := range p.workflows.All() {
		if wf.Namespace == c.Namespace && (metav1.IsControlledBy(wf, c) || wf.Labels[v1alpha1.LabelCronWorkflow] == c.Name) {
			all = append(all, cron.Run{Name: wf.Name, UID: wf.UID, Phase: wf.Status.Phase, FinishedAt: wf.Status.FinishedAt.Time})
		}
	}
	return all
}

// create creates runs. One that exists was created before, by this process or by one that was killed.
func (p *part) create(ctx context.Context, d cron.Decision) error {
	client := p.client.Resource(v1alpha1.GroupVersion.WithResource("workflows")).Namespace(d.Cron.Namespace)
	for _, run := range d.Create {
		for _, name := range p.inherited {
			if value, has := d.Cron.Labels[name]; has {
				run.Labels[name] = value
			}
		}
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(run)
		if err != nil {
			return fmt.Errorf("encoding run %q: %w", run.Name, err)
		}
		u := &unstructured.Unstructured{Object: fields}
		unstructured.RemoveNestedField(u.Object, "status")
		created, err := client.Create(ctx, u, metav1.CreateOptions{FieldManager: manager})
		if apierrors.IsAlreadyExists(err) {
			created, err = client.Get(ctx, run.Name, metav1.GetOptions{})
		}
		if err != nil {
			return fmt.Errorf("failed to submit workflow %q: %w", run.Name, err)
		}
		if created.GetLabels()[v1alpha1.LabelCronWorkflow] != d.Cron.Name {
			return fmt.Errorf("failed to submit workflow %q: there is one of this name that is no run of the schedule", run.Name)
		}
		p.putWorkflow(created)
	}
	return nil
}

// submitted takes back what was said of runs that could not be created, once one was.
func (p *part) submitted(ctx context.Context, d cron.Decision, written *v1alpha1.CronWorkflow) error {
	fails := func(c v1alpha1.Condition) bool { return c.Type == v1alpha1.ConditionSubmissionError }
	if len(d.Create) == 0 || !slices.ContainsFunc(d.Cron.Status.Conditions, fails) {
		return nil
	}
	c := d.Cron
	if written != nil {
		c = written
	}
	fine := c.DeepCopy()
	fine.Status.Conditions = slices.DeleteFunc(fine.Status.Conditions, fails)
	raw := p.schedules.Raw(idOf(v1alpha1.CronWorkflowKind, types.NamespacedName{Namespace: c.Namespace, Name: c.Name}))
	_, err := p.writeSchedule(ctx, raw, c, fine)
	return err
}

// submissionFailed notes why a run could not be created, and returns the error, so that it is tried again.
func (p *part) submissionFailed(ctx context.Context, c, written *v1alpha1.CronWorkflow, cause error) error {
	if written != nil {
		c = written
	}
	failed := c.DeepCopy()
	conditions(failed, v1alpha1.ConditionSubmissionError, cause.Error())
	raw := p.schedules.Raw(idOf(v1alpha1.CronWorkflowKind, types.NamespacedName{Namespace: c.Namespace, Name: c.Name}))
	if _, err := p.writeSchedule(ctx, raw, c, failed); err != nil {
		return errors.Join(cause, err)
	}
	return cause
}

// conditions sets a condition to true, with a message.
func conditions(c *v1alpha1.CronWorkflow, kind v1alpha1.ConditionType, message string) {
	for i := range c.Status.Conditions {
		if c.Status.Conditions[i].Type == kind {
			c.Status.Conditions[i].Status, c.Status.Conditions[i].Message = metav1.ConditionTrue, message
			return
		}
	}
	c.Status.Conditions = append(c.Status.Conditions, v1alpha1.Condition{Type: kind, Status: metav1.ConditionTrue, Message: message})
}

// terminate has a run end that another one replaces.
func (p *part) terminate(ctx context.Context, name types.NamespacedName) error {
	wf, known := p.workflow(name)
	if !known || wf.Status.Phase.Completed() {
		return nil
	}
	writer := declared.Writer{Client: p.client.Resource(v1alpha1.GroupVersion.WithResource("workflows")), Manager: manager}
	u, err := writer.Patch(ctx, wf, map[string]any{"spec": map[string]any{"shutdown": string(v1alpha1.ShutdownTerminate)}})
	if err != nil {
		return fmt.Errorf("terminating run %q: %w", name.Name, err)
	}
	if u != nil {
		p.putWorkflow(u)
	}
	return nil
}

// writeSchedule writes status, labels and annotations of a schedule in one request, unless it was changed since it was read.
func (p *part) writeSchedule(ctx context.Context, raw map[string]any, before, after *v1alpha1.CronWorkflow) (*v1alpha1.CronWorkflow, error) {
	patch, err := difference(raw, &after.Status, metadata{before.Labels, after.Labels}, metadata{before.Annotations, after.Annotations})
	if err != nil || len(patch) == 0 {
		return nil, err
	}
	locked(patch, before.ResourceVersion)
	writer := declared.Writer{Client: p.client.Resource(v1alpha1.GroupVersion.WithResource("cronworkflows")), Manager: manager}
	u, err := writer.Patch(ctx, before, patch)
	if err != nil {
		return nil, fmt.Errorf("writing the status: %w", err)
	}
	if u == nil {
		return nil, errGone
	}
	return p.schedules.Put(u)
}

// refuseSchedule says what is wrong with a schedule that cannot be read.
func (p *part) refuseSchedule(ctx context.Context, u *unstructured.Unstructured) error {
	bare := &v1alpha1.CronWorkflow{ObjectMeta: metav1.ObjectMeta{Name: u.GetName(), Namespace: u.GetNamespace(), ResourceVersion: u.GetResourceVersion()}}
	err := p.findings(u.Object, u.GetNamespace())
	if err == nil {
		err = errors.New("invalid spec: it cannot be read")
	}
	after := bare.DeepCopy()
	conditions(after, v1alpha1.ConditionSpecError, err.Error())
	_, err = p.writeSchedule(ctx, u.Object, bare, after)
	if apierrors.IsConflict(err) || errors.Is(err, errGone) {
		return nil // the change that came between is seen by the watch
	}
	return err
}

// readSchedule takes a schedule as it is stored, since it was changed after it was seen.
func (p *part) readSchedule(ctx context.Context, name types.NamespacedName) error {
	u, err := p.client.Resource(v1alpha1.GroupVersion.WithResource("cronworkflows")).Namespace(name.Namespace).Get(ctx, name.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil // the watch tells
	}
	if err != nil {
		return fmt.Errorf("reading CronWorkflow %s: %w", name, err)
	}
	p.putSchedule(u)
	p.crons.Wake(name)
	return nil
}
