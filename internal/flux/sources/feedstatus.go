package sources

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/rounds"
)

func (f *Feed) client(o Origin) dynamic.NamespaceableResourceInterface {
	return f.sources.Client.Resource(o.SourceKind().Resource)
}

// finalize deletes what is stored of a source that is deleted, and lets its object go.
func (f *Feed) finalize(ctx context.Context, o Origin) {
	err := f.sources.Store.Delete(f.Key)
	if err == nil && f.Key.Kind != sourcev1.ExternalArtifactKind && !f.sources.Elsewhere {
		err = toolkit.SetFinalizer(ctx, f.client(o), o, toolkit.Finalizer, false)
	}
	if err != nil && ctx.Err() == nil {
		logr.FromContextOrDiscard(ctx).Info("the finalizer of a deleted source could not be removed",
			"kind", f.Key.Kind, "source", o.GetNamespace()+"/"+o.GetName(), "error", err.Error())
	}
}

// succeeded writes down what was fetched.
func (f *Feed) succeeded(ctx context.Context, o Origin, got *Fetched) error {
	a, ok := f.sources.Store.Get(f.Key)
	if !ok {
		return errors.New("the artifact is missing")
	}
	after := o.copy()
	status := after.State()
	c := conditionsFor(after)
	recovered := c.Is(toolkit.ConditionReady, metav1.ConditionFalse)
	c.Drop(toolkit.ConditionReconciling, toolkit.ConditionStalled, sourcev1.ArtifactOutdatedCondition)
	c.Drop(access.FailureConditions...)
	reason, message := got.Ready(a)
	c.Set(toolkit.ConditionReady, metav1.ConditionTrue, reason, message)
	c.Set(sourcev1.ArtifactInStorageCondition, metav1.ConditionTrue, reason, message)
	got.Observe(after, c)
	*status.Conditions = c.Sorted()
	*status.generation = o.GetGeneration()
	was := *status.Artifact
	fresh := !was.HasRevision(a.Revision) || !was.HasDigest(a.Digest)
	if fresh || was.URL != a.URL {
		*status.Artifact = ArtifactOf(a)
	}
	if requested := o.GetAnnotations()[toolkit.RequestedAt]; requested != "" {
		*status.handled = requested
	}
	annotations := map[string]string{
		"source.toolkit.fluxcd.io/revision": a.Revision, "source.toolkit.fluxcd.io/digest": a.Digest,
	}
	switch {
	case fresh:
		f.sources.Events.Record(o.Object(), corev1.EventTypeNormal, cmp.Or(got.Told, "NewArtifact"), got.Event(a), annotations)
	case recovered:
		f.sources.Events.Record(o.Object(), corev1.EventTypeNormal, meta.SucceededReason, message, annotations)
	}
	return f.patch(ctx, o, after)
}

func conditionsFor(o Origin) *toolkit.Conditions {
	return &toolkit.Conditions{
		List: *o.State().Conditions, Generation: o.GetGeneration(), Now: metav1.NewTime(time.Now().Truncate(time.Second)),
	}
}

// failed writes down why a fetch failed; the last artifact is kept.
func (f *Feed) failed(ctx context.Context, o Origin, err error) rounds.Next {
	failure := access.FailureOf(err, o.SourceKind().failed)
	f.mu.Lock()
	f.failures++
	wait := f.retryAfter(failure)
	f.failedFor, f.retry = f.sources.requestOf(o, time.Now()), time.Now().Add(wait)
	news := f.failure != err.Error()
	f.failure, f.settled = err.Error(), true
	f.mu.Unlock()
	after := o.copy()
	writeFailure(after, failure)
	if requested := o.GetAnnotations()[toolkit.RequestedAt]; requested != "" {
		*after.State().handled = requested
	}
	if news {
		f.sources.Tell(f.Key, err.Error())
	}
	if f.sources.Foreign(o) {
		f.sources.changed(f.Key)
		return rounds.After(wait)
	}
	if news {
		f.sources.Events.Record(o.Object(), corev1.EventTypeWarning, failure.Reason, err.Error(), nil)
	}
	if err := f.patch(ctx, o, after); err != nil {
		logr.FromContextOrDiscard(ctx).Info("the status of a source could not be written",
			"kind", f.Key.Kind, "source", o.GetNamespace()+"/"+o.GetName(), "error", err.Error())
	}
	f.sources.changed(f.Key)
	return rounds.After(wait)
}

// retryAfter is how long a fetch waits that failed, unless something changes. The caller holds the lock.
func (f *Feed) retryAfter(failure access.Failure) time.Duration {
	switch {
	case f.sources.Foreign(f.now):
		return FetchBackoff.After(f.failures)
	case failure.Terminal:
		return Forever
	case failure.Woken:
		return FetchRetryMax
	}
	return FetchBackoff.After(f.failures)
}

// writeFailure enters a failure into the status of a source.
func writeFailure(after Origin, failure access.Failure) {
	c, reason, text := conditionsFor(after), failure.Reason, failure.Err.Error()
	if access.SignatureReasons[reason] {
		c.Set(sourcev1.SourceVerifiedCondition, metav1.ConditionFalse, reason, text)
	}
	c.Drop(slices.DeleteFunc(slices.Clone(access.FailureConditions), func(kind string) bool { return kind == failure.Condition })...)
	c.Set(failure.Condition, metav1.ConditionTrue, reason, text)
	c.Set(toolkit.ConditionReady, metav1.ConditionFalse, reason, text)
	if failure.Terminal {
		c.Drop(toolkit.ConditionReconciling)
		c.Set(toolkit.ConditionStalled, metav1.ConditionTrue, reason, text)
		*after.State().generation = after.GetGeneration()
	} else {
		c.Set(toolkit.ConditionReconciling, metav1.ConditionTrue, meta.ProgressingWithRetryReason, text)
	}
	*after.State().Conditions = c.Sorted()
}

// patch writes the status of a source, if it changed.
func (f *Feed) patch(ctx context.Context, before, after Origin) error {
	was, err := declared.Fields(before.Object())
	if err != nil {
		return fmt.Errorf("encoding the status: %w", err)
	}
	is, err := declared.Fields(after.Object())
	if err != nil {
		return fmt.Errorf("encoding the status: %w", err)
	}
	u, err := declared.Writer{Client: f.client(before), Manager: toolkit.SourceField}.Status(ctx, before, was["status"], is["status"])
	if err != nil || u == nil {
		return err
	}
	written, err := before.from(u)
	if err != nil {
		return err
	}
	f.mu.Lock()
	f.take(written)
	f.mu.Unlock()
	return nil
}
