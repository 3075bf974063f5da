package flux

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/source"
)

// succeeded writes down what was fetched.
func (g *gitSource) succeeded(ctx context.Context, repo *sourcev1.GitRepository, got *source.GitResult, verify bool, includes included) error {
	a, ok := g.sources.store.Get(g.key)
	if !ok {
		return errors.New("the artifact is gone")
	}
	after := repo.Status.DeepCopy()
	c := g.conditions(repo, after)
	c.drop(conditionReconciling, conditionStalled, sourcev1.ArtifactOutdatedCondition)
	c.drop(failureConditions...)
	message := fmt.Sprintf("stored artifact for revision '%s'", a.Revision)
	c.set(conditionReady, metav1.ConditionTrue, meta.SucceededReason, message)
	c.set(sourcev1.ArtifactInStorageCondition, metav1.ConditionTrue, meta.SucceededReason, message)
	if verify {
		verified(c, after, repo, got)
	} else {
		after.SourceVerificationMode = nil
		c.drop(sourcev1.SourceVerifiedCondition)
	}
	after.Conditions = c.sorted()
	after.ObservedGeneration = repo.Generation
	after.ObservedIgnore, after.ObservedSparseCheckout = repo.Spec.Ignore, repo.Spec.SparseCheckout
	after.ObservedRecurseSubmodules = repo.Spec.RecurseSubmodules
	observeIncludes(after, repo, includes)
	fresh := !after.Artifact.HasRevision(a.Revision) || !after.Artifact.HasDigest(a.Digest)
	if fresh || after.Artifact.URL != a.URL {
		after.Artifact = artifactOf(a)
	}
	if requested := repo.Annotations[requestedAt]; requested != "" {
		after.LastHandledReconcileAt = requested
	}
	if fresh {
		g.sources.events.emit(repo, corev1.EventTypeNormal, "NewArtifact",
			fmt.Sprintf("stored artifact for commit '%s'", subject(got.CommitMessage)), map[string]string{
				"source.toolkit.fluxcd.io/revision": a.Revision, "source.toolkit.fluxcd.io/digest": a.Digest,
			})
	}
	return g.patch(ctx, repo, after)
}

// verified writes down whose signatures were found. What was verified before still is.
func verified(c *conditions, after *sourcev1.GitRepositoryStatus, repo *sourcev1.GitRepository, got *source.GitResult) {
	mode := repo.Spec.Verification.GetMode()
	after.SourceVerificationMode = &mode
	if len(got.Verified) > 0 {
		c.set(sourcev1.SourceVerifiedCondition, metav1.ConditionTrue, meta.SucceededReason,
			"verified signature of\n\t- "+strings.Join(got.Verified, "\n\t- "))
	}
}

func subject(message string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	return first
}

func (g *gitSource) conditions(repo *sourcev1.GitRepository, s *sourcev1.GitRepositoryStatus) *conditions {
	return &conditions{
		list: s.Conditions, generation: repo.Generation, now: metav1.NewTime(time.Now().Truncate(time.Second)),
	}
}

// failed writes down why a fetch failed; the last artifact is kept.
func (g *gitSource) failed(ctx context.Context, repo *sourcev1.GitRepository, err error) time.Duration {
	g.mu.Lock()
	g.failures++
	failures := g.failures
	news := g.failure != err.Error()
	g.failure, g.settled = err.Error(), true
	g.mu.Unlock()
	failure := failureOf(err)
	reason := failure.reason
	after := repo.Status.DeepCopy()
	c := g.conditions(repo, after)
	if signatureReasons[reason] {
		c.set(sourcev1.SourceVerifiedCondition, metav1.ConditionFalse, reason, err.Error())
	}
	c.drop(slices.DeleteFunc(slices.Clone(failureConditions), func(kind string) bool { return kind == failure.condition })...)
	c.set(failure.condition, metav1.ConditionTrue, reason, err.Error())
	c.set(conditionReady, metav1.ConditionFalse, reason, err.Error())
	if failure.terminal {
		c.drop(conditionReconciling)
		c.set(conditionStalled, metav1.ConditionTrue, reason, err.Error())
		after.ObservedGeneration = repo.Generation
	} else {
		c.set(conditionReconciling, metav1.ConditionTrue, meta.ProgressingWithRetryReason, err.Error())
	}
	after.Conditions = c.sorted()
	if requested := repo.Annotations[requestedAt]; requested != "" {
		after.LastHandledReconcileAt = requested
	}
	if news {
		g.sources.events.emit(repo, corev1.EventTypeWarning, reason, err.Error(), nil)
		g.sources.tell(g.key, err.Error())
	}
	if err := g.patch(ctx, repo, after); err != nil {
		logr.FromContextOrDiscard(ctx).Info("the state of a source could not be written down",
			"source", repo.Namespace+"/"+repo.Name, "error", err.Error())
	}
	g.sources.changed(g.key)
	switch {
	case failure.terminal:
		return forever
	case failure.woken:
		return fetchRetryMax
	}
	return min(fetchRetryMin<<min(failures-1, 12), fetchRetryMax)
}

// Reasons of Flux for signatures that were not found.
const (
	reasonVerificationMode = "InvalidVerificationMode"
	reasonGitObject        = "InvalidGitObject"
	reasonTagSignature     = "InvalidTagSignature"
	reasonCommitSignature  = "InvalidCommitSignature"
	reasonVerification     = "VerificationError"
)

var signatureReasons = map[string]bool{
	reasonVerificationMode: true, reasonGitObject: true, reasonTagSignature: true, reasonCommitSignature: true,
	reasonVerification: true,
}

// failureConditions are the conditions of which a failure sets one.
var failureConditions = []string{
	sourcev1.FetchFailedCondition, sourcev1.IncludeUnavailableCondition, sourcev1.StorageOperationFailedCondition,
}

// sourceFailure is a failure with the words of Flux for it.
type sourceFailure struct {
	// condition is FetchFailed when it is empty.
	condition, reason string
	// terminal is set when only a change of the object can help, woken when what is missing wakes the
	// source.
	terminal, woken bool
	err             error
}

func (f *sourceFailure) Error() string { return f.err.Error() }
func (f *sourceFailure) Unwrap() error { return f.err }

// unavailable is the failure of an include that has nothing to give.
func unavailable(reason string, err error) *sourceFailure {
	return &sourceFailure{condition: sourcev1.IncludeUnavailableCondition, reason: reason, woken: true, err: err}
}

// failureOf words a failure as Flux does.
func failureOf(err error) sourceFailure {
	f := sourceFailure{condition: sourcev1.FetchFailedCondition, reason: sourcev1.GitOperationFailedReason, err: err}
	var known *sourceFailure
	var unsupported *unsupportedError
	switch {
	case errors.As(err, &known):
		f = *known
		if f.condition == "" {
			f.condition = sourcev1.FetchFailedCondition
		}
	case errors.As(err, &unsupported):
		f.reason, f.terminal = "UnsupportedField", true
	case errors.Is(err, source.ErrInclude):
		f.condition, f.reason = sourcev1.StorageOperationFailedCondition, reasonCopyFailure
	case errors.Is(err, source.ErrNoTag):
		f.reason, f.terminal = reasonVerificationMode, true
	case errors.Is(err, source.ErrUnsigned):
		f.reason = reasonGitObject
	case errors.Is(err, source.ErrTagSignature):
		f.reason = reasonTagSignature
	case errors.Is(err, source.ErrCommitSignature):
		f.reason = reasonCommitSignature
	case errors.Is(err, source.ErrURL):
		f.reason, f.terminal = sourcev1.URLInvalidReason, true
	case errors.Is(err, source.ErrAuth):
		f.reason = sourcev1.AuthenticationFailedReason
	}
	return f
}

func (g *gitSource) patch(ctx context.Context, repo *sourcev1.GitRepository, after *sourcev1.GitRepositoryStatus) error {
	if reflect.DeepEqual(repo.Status, *after) {
		return nil
	}
	patch, err := statusPatch(repo.Status, after)
	if err != nil {
		return fmt.Errorf("encoding the status: %w", err)
	}
	u, err := g.client(repo).Patch(ctx, repo.Name, types.MergePatchType, patch,
		metav1.PatchOptions{FieldManager: sourceField}, "status")
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	written, err := asGitRepository(u)
	if err != nil {
		return err
	}
	g.mu.Lock()
	if !newer(g.repo.ResourceVersion, written.ResourceVersion) {
		g.repo = written
	}
	g.mu.Unlock()
	return nil
}
