package generators

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	swapi "github.com/fluxcd/source-watcher/api/v2/v1beta1"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/flux/sources"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/rounds"
)

// reasonOwnership is the reason of Flux for an ExternalArtifact that has another owner.
const reasonOwnership = "OwnershipConflict"

func (g *generator) objects(namespace string) dynamic.ResourceInterface {
	return g.sources.Client.Resource(toolkit.ExternalArtifacts).Namespace(namespace)
}

func generatorConditions(o *swapi.ArtifactGenerator) *toolkit.Conditions {
	return &toolkit.Conditions{
		List: slices.Clone(o.Status.Conditions), Generation: o.Generation, Now: metav1.NewTime(time.Now().Truncate(time.Second)),
	}
}

// report writes down what a pass came to, and says when the next one is due.
func (g *generator) report(ctx context.Context, o *swapi.ArtifactGenerator, in inputs, made []swapi.ExternalArtifactReference, err error) rounds.Next {
	after := o.DeepCopy()
	if requested := o.Annotations[toolkit.RequestedAt]; requested != "" {
		after.Status.LastHandledReconcileAt = requested
	}
	if err != nil {
		failure := access.FailureOf(err, meta.ReconciliationFailedReason)
		after.Status.Inventory = together(o.Status.Inventory, made)
		failedGenerator(after, failure)
		g.told(o, &failure)
		return g.concluded(ctx, o, after, in, &failure)
	}
	after.Status.Inventory, after.Status.ObservedSourcesDigest = made, in.digest
	c := generatorConditions(after)
	c.Drop(toolkit.ConditionReconciling, toolkit.ConditionStalled)
	c.Set(toolkit.ConditionReady, metav1.ConditionTrue, meta.SucceededReason,
		fmt.Sprintf("reconciliation succeeded, generated %d artifact(s)", len(made)))
	after.Status.Conditions = c.Sorted()
	g.told(o, nil)
	return g.concluded(ctx, o, after, in, nil)
}

// concluded writes the status. A pass whose status could not be written is to be made again.
func (g *generator) concluded(ctx context.Context, o, after *swapi.ArtifactGenerator, in inputs, failure *access.Failure) rounds.Next {
	if g.write(ctx, o, after) {
		return g.noted(o, in, failure)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last.Forget()
	return rounds.Retry(nil)
}

// together adds what was made to an inventory: what a failed pass leaves is deleted some day as well.
func together(before, made []swapi.ExternalArtifactReference) []swapi.ExternalArtifactReference {
	all := slices.Clone(made)
	for _, e := range before {
		if !slices.ContainsFunc(made, func(m swapi.ExternalArtifactReference) bool { return m.Name == e.Name && m.Namespace == e.Namespace }) {
			all = append(all, e)
		}
	}
	return all
}

func failedGenerator(after *swapi.ArtifactGenerator, failure access.Failure) {
	c, text := generatorConditions(after), failure.Err.Error()
	c.Set(toolkit.ConditionReady, metav1.ConditionFalse, failure.Reason, text)
	if failure.Terminal {
		c.Drop(toolkit.ConditionReconciling)
		c.Set(toolkit.ConditionStalled, metav1.ConditionTrue, failure.Reason, text)
	} else {
		c.Drop(toolkit.ConditionStalled)
		c.Set(toolkit.ConditionReconciling, metav1.ConditionTrue, meta.ProgressingWithRetryReason, text)
	}
	after.Status.Conditions = c.Sorted()
}

// told reports a failure once.
func (g *generator) told(o *swapi.ArtifactGenerator, failure *access.Failure) {
	text := ""
	if failure != nil {
		text = failure.Err.Error()
	}
	g.mu.Lock()
	news := g.failure != text
	g.failure = text
	g.mu.Unlock()
	if failure == nil && (news || generatorConditions(o).Is(toolkit.ConditionReady, metav1.ConditionFalse)) {
		g.sources.Events.Record(o, corev1.EventTypeNormal, meta.SucceededReason, "the artifacts are built again", nil)
	}
	if failure == nil || !news {
		return
	}
	g.sources.Tell(toolkit.SourceKey(swapi.ArtifactGeneratorKind, o.Namespace, o.Name), text)
	g.sources.Events.Record(o, corev1.EventTypeWarning, failure.Reason, text, nil)
}

// What Flux says of a generator that does nothing yet, or shall do nothing.
const (
	textInProgress = "Reconciliation in progress"
	textDisabled   = "Reconciliation is disabled"
	textInitial    = "Initialized with reconciliation suspended"
)

// begin says that a generator waits for sources that are being fetched, when it says nothing yet of what
// is declared.
func (g *generator) begin(ctx context.Context, o *swapi.ArtifactGenerator) {
	after := o.DeepCopy()
	c := generatorConditions(after)
	if ready := c.Get(toolkit.ConditionReady); ready != nil && ready.ObservedGeneration == o.Generation {
		return
	}
	c.Drop(toolkit.ConditionStalled)
	c.Set(toolkit.ConditionReconciling, metav1.ConditionTrue, meta.ProgressingReason, textInProgress)
	c.Set(toolkit.ConditionReady, metav1.ConditionUnknown, meta.ProgressingReason, textInProgress)
	after.Status.Conditions = c.Sorted()
	g.write(ctx, o, after)
}

// rest leaves what a disabled generator made as it is.
func (g *generator) rest(ctx context.Context, o *swapi.ArtifactGenerator) {
	g.settle()
	g.mu.Lock()
	news := g.failure != textDisabled
	g.failure = textDisabled
	g.last.Forget()
	g.mu.Unlock()
	if news {
		g.sources.Events.Record(o, corev1.EventTypeWarning, swapi.ReconciliationDisabledReason, textDisabled, nil)
	}
	after := o.DeepCopy()
	c := generatorConditions(after)
	if c.Get(toolkit.ConditionReady) == nil {
		c.Set(toolkit.ConditionReady, metav1.ConditionTrue, swapi.ReconciliationDisabledReason, textInitial)
	}
	after.Status.Conditions = c.Sorted()
	if requested := o.Annotations[toolkit.RequestedAt]; requested != "" {
		after.Status.LastHandledReconcileAt = requested
	}
	g.write(ctx, o, after)
}

// write writes the status, if it changed, and reports whether it could.
func (g *generator) write(ctx context.Context, before, after *swapi.ArtifactGenerator) bool {
	err := g.patchStatus(ctx, before, after)
	if err != nil && ctx.Err() == nil {
		logr.FromContextOrDiscard(ctx).Info("the status of an ArtifactGenerator could not be written",
			"generator", g.id.String(), "error", err.Error())
	}
	return err == nil
}

func (g *generator) patchStatus(ctx context.Context, before, after *swapi.ArtifactGenerator) error {
	u, err := declared.Writer{Client: g.sources.Client.Resource(toolkit.ArtifactGenerators), Manager: toolkit.GeneratorManager}.Status(ctx, before, before.Status, after.Status)
	if err != nil || u == nil {
		return err
	}
	written, err := declared.Read[swapi.ArtifactGenerator](u)
	if err != nil {
		return err
	}
	g.put(written)
	return nil
}

// settledFor reports whether a feed may have what a generator has made, which is in the store: its object says
// what it was before for a moment.
func (g *generator) settledFor(f *sources.Feed) bool {
	if !g.isSettled() {
		return false
	}
	_, stored := g.sources.Store.Get(f.Key)
	if !stored {
		f.Settle()
	}
	return stored
}
