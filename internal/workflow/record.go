package workflow

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/workflow/execute"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

// record writes a decision into the object that it was made from, and returns the object as it is then; nil if nothing was to be written. What
// does not fit into the object cannot be carried out: the workflow ends.
func (p *part) record(ctx context.Context, before *v1alpha1.Workflow, d *plan.Decision) (*v1alpha1.Workflow, error) {
	raw := p.workflows.Raw(engine.UnitID{
		Group: v1alpha1.GroupVersion.Group, Kind: v1alpha1.WorkflowKind, Namespace: before.Namespace, Name: before.Name,
	})
	written, err := p.write(ctx, raw, before, d.Workflow)
	if !errors.Is(err, plan.ErrTooMany) {
		return written, err
	}
	*d = plan.Refuse(before, time.Now(), err)
	if err := p.executor.Forget(ctx, execute.Of(before)); err != nil {
		return nil, err
	}
	return p.write(ctx, raw, before, d.Workflow)
}

// write writes status, labels and annotations in one request, unless the object was changed since it was read.
func (p *part) write(ctx context.Context, raw map[string]any, before, after *v1alpha1.Workflow) (*v1alpha1.Workflow, error) {
	status, err := plan.Compressed(&after.Status)
	if err != nil {
		return nil, err
	}
	patch, err := difference(raw, status, metadata{before.Labels, after.Labels}, metadata{before.Annotations, after.Annotations})
	if err != nil || len(patch) == 0 {
		return nil, err
	}
	locked(patch, before.ResourceVersion)
	writer := declared.Writer{Client: p.client.Resource(v1alpha1.GroupVersion.WithResource("workflows")), Manager: manager}
	u, err := writer.Patch(ctx, before, patch)
	if err != nil {
		return nil, err
	}
	if u == nil {
		return nil, errGone
	}
	return p.workflows.Put(u)
}

// errGone is returned for an object that was deleted in the meantime.
var errGone = errors.New("it was deleted")

// metadata are labels or annotations as they were, and as they are to be.
type metadata struct{ before, after map[string]string }

// difference is the merge patch that makes an object say what was decided; it is empty if it does.
func difference(raw map[string]any, status any, labels, annotations metadata) (map[string]any, error) {
	before, err := declared.Fields(raw["status"])
	if err != nil {
		return nil, fmt.Errorf("encoding the status: %w", err)
	}
	after, err := declared.Fields(status)
	if err != nil {
		return nil, fmt.Errorf("encoding the status: %w", err)
	}
	withoutNull(before)
	withoutNull(after)
	patch := map[string]any{}
	if diff := declared.Difference(before, after); len(diff) > 0 {
		patch["status"] = diff
	}
	meta := map[string]any{}
	for field, m := range map[string]metadata{"labels": labels, "annotations": annotations} {
		if diff := declared.Difference(fieldsOf(m.before), fieldsOf(m.after)); len(diff) > 0 {
			meta[field] = diff
		}
	}
	if len(meta) > 0 {
		patch["metadata"] = meta
	}
	return patch, nil
}

func fieldsOf(m map[string]string) map[string]any {
	fields := make(map[string]any, len(m))
	for name, value := range m {
		fields[name] = value
	}
	return fields
}

// withoutNull drops fields that have no value: times that are not set.
func withoutNull(fields map[string]any) {
	for name, value := range fields {
		switch value := value.(type) {
		case nil:
			delete(fields, name)
		case map[string]any:
			withoutNull(value)
		}
	}
}

// locked has a patch fail with a conflict if the object was changed.
func locked(patch map[string]any, version string) {
	meta, has := patch["metadata"].(map[string]any)
	if !has {
		meta = map[string]any{}
		patch["metadata"] = meta
	}
	meta["resourceVersion"] = version
}

// Reasons of events, by the upstream's names.
const (
	component       = "workflow-controller"
	reasonRunning   = "WorkflowRunning"
	reasonSucceeded = "WorkflowSucceeded"
	reasonFailed    = "WorkflowFailed"
)

// tell emits an event about a Workflow that has begun or ended.
func (p *part) tell(before, after *v1alpha1.Workflow) {
	if before.Status.Phase == after.Status.Phase {
		return
	}
	event := declared.Event{Component: component, Type: corev1.EventTypeNormal}
	switch after.Status.Phase {
	case v1alpha1.WorkflowRunning:
		event.Reason, event.Message = reasonRunning, "Workflow Running"
	case v1alpha1.WorkflowSucceeded:
		event.Reason, event.Message = reasonSucceeded, "Workflow completed"
	case v1alpha1.WorkflowFailed, v1alpha1.WorkflowError:
		event.Type, event.Reason, event.Message = corev1.EventTypeWarning, reasonFailed, after.Status.Message
	default:
		return
	}
	p.events.Emit(after, &corev1.ObjectReference{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.WorkflowKind, Namespace: after.Namespace, Name: after.Name,
		UID: after.UID, ResourceVersion: after.ResourceVersion,
	}, event)
}
