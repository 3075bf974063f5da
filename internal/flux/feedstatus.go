package flux

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
	"github.com/headgate-dev/headgate/internal/rounds"
)

func (f *feed) client(o origin) dynamic.NamespaceableResourceInterface {
	return f.sources.client.Resource(o.kind().resource)
}

// finalize deletes what is stored of a source that is deleted, and lets its object go.
func (f *feed) finalize(ctx context.Context, o origin) {
	err := f.sources.store.Delete(f.key)
	if err == nil && f.key.Kind != sourcev1.ExternalArtifactKind && !f.sources.elsewhere {
		err = setFinalizer(ctx, f.client(o), o, finalizer, false)
	}
	if err != nil && ctx.Err() == nil {
		logr.FromContextOrDiscard(ctx).Info("the finalizer of a deleted source could not be removed",
			"kind", f.key.Kind, "source", o.GetNamespace()+"/"+o.GetName(), "error", err.Error())
	}
}

// succeeded writes down what was fetched.
func (f *feed) succeeded(ctx context.Context, o origin, got *fetched) error {
	a, ok := f.sources.store.Get(f.key)
	if !ok {
		return errors.New("the artifact is missing")
	}
	after := o.copy()
	status := after.status()
	c := conditionsFor(after)
	recovered := c.is(conditionReady, metav1.ConditionFalse)
	c.drop(conditionReconciling, conditionStalled, sourcev1.ArtifactOutdatedCondition)
	c.drop(failureConditions...)
	reason, message := got.ready(a)
	c.set(conditionReady, metav1.ConditionTrue, reason, message)
	c.set(sourcev1.ArtifactInStorageCondition, metav1.ConditionTrue, reason, message)
	got.observe(after, c)
	*status.conditions = c.sorted()
	*status.generation = o.GetGeneration()
	was := *status.artifact
	fresh := !was.HasRevision(a.Revision) || !was.HasDigest(a.Digest)
	if fresh || was.URL != a.URL {
		*status.artifact = artifactOf(a)
	}
	if requested := o.GetAnnotations()[requestedAt]; requested != "" {
		*status.handled = requested
	}
	annotations := map[string]string{
		"source.toolkit.fluxcd.io/revision": a.Revision, "source.toolkit.fluxcd.io/digest": a.Digest,
	}
	switch {
	case fresh:
		f.sources.events.emit(o.object(), corev1.EventTypeNormal, cmp.Or(got.told, "NewArtifact"), got.event(a), annotations)
	case recovered:
		f.sources.events.emit(o.object(), corev1.EventTypeNormal, meta.SucceededReason, message, annotations)
	}
	return f.patch(ctx, o, after)
}

func conditionsFor(o origin) *conditions {
	return &conditions{
		list: *o.status().conditions, generation: o.GetGeneration(), now: metav1.NewTime(time.Now().Truncate(time.Second)),
	}
}

// failed writes down why a fetch failed; the last artifact is kept.
func (f *feed) failed(ctx context.Context, o origin, err error) rounds.Next {
	failure := failureOf(err, o.kind().failed)
	f.mu.Lock()
	f.failures++
	wait := f.retryAfter(failure)
	f.failedFor, f.retry = f.sources.requestOf(o, time.Now()), time.Now().Add(wait)
	news := f.failure != err.Error()
	f.failure, f.settled = err.Error(), true
	f.mu.Unlock()
	after := o.copy()
	writeFailure(after, failure)
	if requested := o.GetAnnotations()[requestedAt]; requested != "" {
		*after.status().handled = requested
	}
	if news {
		f.sources.tell(f.key, err.Error())
	}
	if f.sources.foreign(o) {
		f.sources.changed(f.key)
		return rounds.After(wait)
	}
	if news {
		f.sources.events.emit(o.object(), corev1.EventTypeWarning, failure.reason, err.Error(), nil)
	}
	if err := f.patch(ctx, o, after); err != nil {
		logr.FromContextOrDiscard(ctx).Info("the status of a source could not be written",
			"kind", f.key.Kind, "source", o.GetNamespace()+"/"+o.GetName(), "error", err.Error())
	}
	f.sources.changed(f.key)
	return rounds.After(wait)
}

// retryAfter is how long a fetch waits that failed, unless something changes. The caller holds the lock.
func (f *feed) retryAfter(failure sourceFailure) time.Duration {
	switch {
	case f.sources.foreign(f.now):
		return fetchBackoff.After(f.failures)
	case failure.terminal:
		return forever
	case failure.woken:
		return fetchRetryMax
	}
	return fetchBackoff.After(f.failures)
}

// writeFailure enters a failure into the status of a source.
func writeFailure(after origin, failure sourceFailure) {
	c, reason, text := conditionsFor(after), failure.reason, failure.err.Error()
	if signatureReasons[reason] {
		c.set(sourcev1.SourceVerifiedCondition, metav1.ConditionFalse, reason, text)
	}
	c.drop(slices.DeleteFunc(slices.Clone(failureConditions), func(kind string) bool { return kind == failure.condition })...)
	c.set(failure.condition, metav1.ConditionTrue, reason, text)
	c.set(conditionReady, metav1.ConditionFalse, reason, text)
	if failure.terminal {
		c.drop(conditionReconciling)
		c.set(conditionStalled, metav1.ConditionTrue, reason, text)
		*after.status().generation = after.GetGeneration()
	} else {
		c.set(conditionReconciling, metav1.ConditionTrue, meta.ProgressingWithRetryReason, text)
	}
	*after.status().conditions = c.sorted()
}

// patch writes the status of a source, if it changed.
func (f *feed) patch(ctx context.Context, before, after origin) error {
	was, err := declared.Fields(before.object())
	if err != nil {
		return fmt.Errorf("encoding the status: %w", err)
	}
	is, err := declared.Fields(after.object())
	if err != nil {
		return fmt.Errorf("encoding the status: %w", err)
	}
	u, err := declared.Writer{Client: f.client(before), Manager: sourceField}.Status(ctx, before, was["status"], is["status"])
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
