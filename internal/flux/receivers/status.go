package receivers

import (
	"context"
	"fmt"
	"time"

	notifyv1 "github.com/fluxcd/notification-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/tokens"
	"github.com/headgate-dev/headgate/internal/webhook"
)

// receiverFinding is how a Receiver was found: invalid, without a token, suspended, or with a path.
type receiverFinding struct {
	invalid       engine.Invalid
	missing, path string
	suspended     bool
}

// Pass serves a Receiver, as it is now.
func (r *Keeper) Pass(ctx context.Context, id engine.UnitID) rounds.Next {
	return rounds.Done(r.report(ctx, id))
}

// tokenKey is where the Secret of a Receiver has its token.
const tokenKey = "token"

// report opens or closes the hook of a Receiver, and writes down how it stands.
func (r *Keeper) report(ctx context.Context, id engine.UnitID) error {
	o, there := r.Get(id)
	if !there || o.DeletionTimestamp != nil {
		r.open(id, "", webhook.Hook{})
		r.tokens.Forget(id)
		delete(r.plans, id)
		if !there {
			return nil
		}
		return toolkit.SetFinalizer(ctx, r.Home.Dynamic.Resource(toolkit.ReceiverResource), o, notifyv1.NotificationFinalizer, false)
	}
	began := time.Now()
	plan := r.plan(id, o)
	found := receiverFinding{invalid: toolkit.FirstInvalid(plan.invalid, deniedReceiver(r.policies.Now(), plan)), suspended: o.Spec.Suspend}
	hook := webhook.Hook{Name: id.String(), Closed: true}
	switch {
	case found.suspended || found.invalid.Message != "":
		// A sender that knows the path is asked to retry later.
		r.open(id, o.Status.WebhookPath, hook)
	default:
		token, missing := r.tokens.Value(id, tokens.Ref{Namespace: o.Namespace, Name: o.Spec.SecretRef.Name, Key: tokenKey, Field: "spec.secretRef"})
		if token == "" && missing == "" {
			r.open(id, o.Status.WebhookPath, hook)
			return nil
		}
		if found.missing = missing; missing == "" {
			found.path = o.GetWebhookPath(token)
			hook.Closed, hook.Type, hook.Token, hook.Events = false, o.Spec.Type, token, o.Spec.Events
			hook.Deliver = func(_ context.Context, d webhook.Delivery) error { return r.deliver(id, plan, d) }
		}
		r.open(id, found.path, hook)
	}
	after := receiverStatus(o, found, time.Now())
	if err := r.patch(ctx, o, after); err != nil {
		return err
	}
	r.Metrics.Pass(id.Kind, id.Namespace, id.Name, time.Since(began), found.path != "")
	return nil
}

// plan is what a Receiver declares; its expressions are compiled once for each generation.
func (r *Keeper) plan(id engine.UnitID, o *notifyv1.Receiver) receiverPlan {
	p, known := r.plans[id]
	if !known || p.uid != o.UID || p.generation != o.Generation {
		p = planReceiver(o)
		r.plans[id] = p
	}
	return p
}

// receiverStatus is the status of a Receiver that was found like that.
func receiverStatus(o *notifyv1.Receiver, found receiverFinding, now time.Time) notifyv1.ReceiverStatus {
	after := *o.Status.DeepCopy()
	if requested := o.Annotations[toolkit.RequestedAt]; requested != "" {
		after.LastHandledReconcileAt = requested
	}
	if found.suspended {
		return after
	}
	c := &toolkit.Conditions{List: after.Conditions, Generation: o.Generation, Now: metav1.NewTime(now.Truncate(time.Second))}
	switch {
	case found.invalid.Message != "":
		c.Drop(toolkit.ConditionReconciling)
		c.Set(toolkit.ConditionReady, metav1.ConditionFalse, string(found.invalid.Reason), found.invalid.Message)
		c.Set(toolkit.ConditionStalled, metav1.ConditionTrue, string(found.invalid.Reason), found.invalid.Message)
		after.ObservedGeneration = o.Generation
	case found.missing != "":
		c.Drop(toolkit.ConditionStalled)
		c.Set(toolkit.ConditionReady, metav1.ConditionFalse, notifyv1.TokenNotFoundReason, found.missing)
		c.Set(toolkit.ConditionReconciling, metav1.ConditionTrue, meta.ProgressingWithRetryReason, found.missing)
		after.WebhookPath = ""
	default:
		c.Drop(toolkit.ConditionReconciling, toolkit.ConditionStalled)
		c.Set(toolkit.ConditionReady, metav1.ConditionTrue, meta.SucceededReason, "Receiver initialized for path: "+found.path)
		after.WebhookPath, after.ObservedGeneration = found.path, o.Generation
	}
	after.Conditions = c.Sorted()
	return after
}

// patch writes the status of a Receiver, if it changed, and records an event.
func (r *Keeper) patch(ctx context.Context, o *notifyv1.Receiver, after notifyv1.ReceiverStatus) error {
	u, err := declared.Writer{Client: r.Home.Dynamic.Resource(toolkit.ReceiverResource), Manager: toolkit.NotifierField}.Status(ctx, o, o.Status, after)
	if err != nil || u == nil {
		return err
	}
	if _, err := r.Put(u); err != nil {
		return err
	}
	r.tell(o, after)
	return nil
}

// tell emits an event when a Receiver says something else of itself. The path is not for everybody's eyes.
func (r *Keeper) tell(o *notifyv1.Receiver, after notifyv1.ReceiverStatus) {
	was, is := (&toolkit.Conditions{List: o.Status.Conditions}).Get(toolkit.ConditionReady), (&toolkit.Conditions{List: after.Conditions}).Get(toolkit.ConditionReady)
	if is == nil || was != nil && was.Status == is.Status && was.Message == is.Message && was.ObservedGeneration == is.ObservedGeneration {
		return
	}
	if is.Status != metav1.ConditionTrue {
		r.Events.Record(o, corev1.EventTypeWarning, is.Reason, is.Message, nil)
		return
	}
	message := "Reconciliation finished, requests are accepted"
	if len(o.Spec.Events) > 0 && !webhook.NamesEvents(o.Spec.Type) {
		message += fmt.Sprintf("; requests of type %s name no event, so spec.events filters none of them", o.Spec.Type)
	}
	r.Events.Record(o, corev1.EventTypeNormal, is.Reason, message, nil)
}
