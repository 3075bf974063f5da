package secrets

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
	"github.com/headgate-dev/headgate/api/externalsecrets/v1alpha1"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/redaction"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/secrets/plan"
	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/simulate"
)

// Pass brings an object closer to what it declares.
func (p *part) Pass(ctx context.Context, id engine.UnitID) rounds.Next {
	began := time.Now()
	var next rounds.Next
	ready := false
	switch id.Kind {
	case esv1.ExternalSecretKind:
		es, there := p.externals.Get(id)
		if !there || es.DeletionTimestamp != nil {
			return rounds.Rest()
		}
		next = p.refresh(ctx, id, es)
		if es, there = p.externals.Get(id); there {
			ready = isReady(es.Status.Conditions)
		}
	case esv1.SecretStoreKind, esv1.ClusterSecretStoreKind:
		next = p.check(ctx, id)
		if s, there := p.store(id); there {
			ready = isReady(s.status.Conditions)
		}
	case v1alpha1.PushSecretKind:
		ps, there := p.pushes.Get(id)
		if !there {
			return rounds.Rest()
		}
		next = p.push(ctx, id, ps)
		if ps, there = p.pushes.Get(id); there {
			ready = isReady(ps.Status.Conditions)
		}
	case esv1.ClusterExternalSecretKind:
		ces, there := p.spreads.Get(id)
		if !there || ces.DeletionTimestamp != nil {
			return rounds.Rest()
		}
		next = p.spread(ctx, id, ces)
		if ces, there = p.spreads.Get(id); there {
			ready = len(ces.Status.Conditions) > 0 && ces.Status.Conditions[0].Status == corev1.ConditionTrue
		}
	default:
		return rounds.Rest()
	}
	if ctx.Err() != nil {
		return rounds.Rest()
	}
	p.Metrics.Pass(id.Kind, id.Namespace, id.Name, time.Since(began), ready)
	return next
}

func isReady(all []esv1.Condition) bool {
	return slices.ContainsFunc(all, func(c esv1.Condition) bool { return c.Type == plan.Ready && c.Status == corev1.ConditionTrue })
}

// again is the next pass after a failure: when the store permits it, or after a wait that grows.
func again(err error) rounds.Next {
	if after, transient := store.RetryAfter(err); transient && after > 0 {
		return rounds.After(after)
	}
	return rounds.Retry(err)
}

// refresh refreshes an ExternalSecret if it is due.
func (p *part) refresh(ctx context.Context, id engine.UnitID, es *esv1.ExternalSecret) rounds.Next {
	inputs := p.versions(id, es)
	if p.left(es) {
		return rounds.Rest()
	}
	if es.Labels[simulate.Label] != "" {
		// The change wakes it again.
		return rounds.Done(p.unmark(ctx, es))
	}
	target := metav1.ObjectMeta{Namespace: es.Namespace, Name: plan.TargetName(es)}
	p.use(id, idOf(secretKind, &target))
	have, err := p.client.CoreV1().Secrets(target.Namespace).Get(ctx, target.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		have, err = nil, nil
	}
	if err != nil {
		return p.failed(ctx, es, plan.TextUpdate, err)
	}
	if es.Spec.SyncWindows != nil {
		return p.failed(ctx, es, plan.TextFetch, errors.New("spec.syncWindows is not supported; take it out, or set refreshPolicy: OnChange"))
	}
	if have != nil {
		delete(have.Labels, simulate.Label)
	}
	now := time.Now()
	due, after, err := plan.Refresh(es, have, now)
	if err != nil {
		return p.failed(ctx, es, plan.TextFetch, err)
	}
	// A refresh that failed is repeated, also where what it read is again as it was before.
	due = due || !isReady(es.Status.Conditions) || follows(es) && p.changed(id, inputs)
	if !due {
		return rest(after)
	}
	made, err := p.gather(ctx, id, es)
	if err != nil {
		return p.failed(ctx, es, plan.TextFetch, err)
	}
	step, err := plan.Target(es, have, made)
	if err != nil {
		return p.failed(ctx, es, plan.TextUpdate, err)
	}
	if err := p.carryOut(ctx, es, step); err != nil {
		return p.failed(ctx, es, plan.TextUpdate, err)
	}
	p.mu.Lock()
	p.inputs[id] = inputs
	p.mu.Unlock()
	return p.synced(ctx, es, step, now)
}

func rest(after time.Duration) rounds.Next {
	if after > 0 {
		return rounds.After(after)
	}
	return rounds.Rest()
}

// follows reports whether a change of what an ExternalSecret reads refreshes it.
func follows(es *esv1.ExternalSecret) bool {
	interval, err := plan.Interval(es.Spec.RefreshInterval)
	return err == nil && interval > 0 && (es.Spec.RefreshPolicy == "" || es.Spec.RefreshPolicy == esv1.RefreshPeriodic)
}

// changed reports whether something has changed since the last refresh that the refresh read.
func (p *part) changed(id engine.UnitID, inputs string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	before, known := p.inputs[id]
	if !known {
		// This process has not refreshed it: what it had before is in its status.
		p.inputs[id] = inputs
	}
	return known && before != inputs
}

// versions are those of the stores and generators that an ExternalSecret names.
func (p *part) versions(id engine.UnitID, es *esv1.ExternalSecret) string {
	var all []string
	for _, ref := range storesOf(es) {
		of := storeID(es.Namespace, ref)
		p.use(id, of)
		if s, there := p.store(of); there {
			all = append(all, fmt.Sprint(of, s.uid, s.generation, p.seen(of)))
		}
	}
	for _, from := range es.Spec.DataFrom {
		if from.SourceRef != nil && from.SourceRef.GeneratorRef != nil {
			of := generatorID(es.Namespace, *from.SourceRef.GeneratorRef)
			p.use(id, of)
			all = append(all, fmt.Sprint(of, p.generation(of)))
		}
	}
	return strings.Join(all, "\n")
}

// synced writes what a refresh came to.
func (p *part) synced(ctx context.Context, es *esv1.ExternalSecret, step plan.Step, now time.Time) rounds.Next {
	after := es.DeepCopy()
	after.Status.Conditions = plan.Condition(es.Status.Conditions, plan.Ready, step.Ready, step.Reason, step.Text, now)
	after.Status.RefreshTime = metav1.NewTime(now.Truncate(time.Second))
	after.Status.SyncedResourceVersion = plan.Version(es)
	after.Status.Binding.Name = ""
	if step.Action != plan.Delete && es.Spec.Target.CreationPolicy != esv1.CreateNone && step.Reason == plan.ReasonSynced {
		after.Status.Binding.Name = plan.TargetName(es)
	}
	if err := p.write(ctx, es, after); err != nil {
		return rounds.Retry(err)
	}
	switch step.Action {
	case plan.Create:
		p.tell(es, corev1.EventTypeNormal, "Created", "secret created")
	case plan.Update:
		p.tell(es, corev1.EventTypeNormal, "Updated", "secret updated")
		if step.Contest != "" {
			p.tell(es, corev1.EventTypeWarning, "Contested", step.Contest)
		}
	case plan.Delete:
		p.tell(es, corev1.EventTypeNormal, "Deleted", plan.TextDeleted)
	}
	interval, err := plan.Interval(es.Spec.RefreshInterval)
	if err != nil || !follows(es) {
		return rounds.Done(err)
	}
	return rest(interval)
}

// failed writes why a refresh failed. It leaves the time of the last one that did not.
func (p *part) failed(ctx context.Context, es *esv1.ExternalSecret, text string, cause error) rounds.Next {
	if ctx.Err() != nil {
		return rounds.Rest()
	}
	var refusal *plan.Refusal
	if !errors.As(cause, &refusal) {
		cause = fmt.Errorf("%s: %w", text, cause)
	}
	message := redaction.Text(cause.Error())
	after := es.DeepCopy()
	after.Status.Conditions = plan.Condition(es.Status.Conditions, plan.Ready, false, plan.ReasonError, message, time.Now())
	if !apierrors.IsConflict(cause) {
		p.tell(es, corev1.EventTypeWarning, "UpdateFailed", message)
		if err := p.write(ctx, es, after); err != nil {
			return rounds.Retry(err)
		}
	}
	return again(cause)
}

func (p *part) tell(es *esv1.ExternalSecret, kind, reason, message string) {
	p.emit(es, esv1.GroupVersion.WithKind(esv1.ExternalSecretKind), kind, reason, message)
}

// write writes a status that differs.
func (p *part) write(ctx context.Context, before, after *esv1.ExternalSecret) error {
	return p.externals.State(ctx, p.writer(externalKind()), after, before.Status, after.Status)
}

// read reads an ExternalSecret.
func read(u *unstructured.Unstructured) (*esv1.ExternalSecret, error) {
	return declared.Read[esv1.ExternalSecret](u)
}

// failedAt is since when an ExternalSecret is not ready.
func failedAt(es *esv1.ExternalSecret) (time.Time, bool) {
	for _, c := range es.Status.Conditions {
		if c.Type == plan.Ready && c.Status == corev1.ConditionFalse {
			return c.LastTransitionTime.Time, true
		}
	}
	return time.Time{}, false
}
