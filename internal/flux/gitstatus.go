package flux

import (
	"context"
	"errors"
	"fmt"
	"reflect"
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
func (g *gitSource) succeeded(ctx context.Context, repo *sourcev1.GitRepository, got *source.GitResult, verify bool) error {
	a, ok := g.sources.store.Get(g.key)
	if !ok {
		return errors.New("the artifact is gone")
	}
	after := repo.Status.DeepCopy()
	c := g.conditions(repo, after)
	c.drop(conditionReconciling, conditionStalled, sourcev1.FetchFailedCondition, sourcev1.StorageOperationFailedCondition,
		sourcev1.ArtifactOutdatedCondition)
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
	if after.Artifact == nil || after.Artifact.Revision != a.Revision || after.Artifact.Digest != a.Digest || after.Artifact.URL != a.URL {
		size := a.Size
		after.Artifact = &meta.Artifact{
			Path: a.Path, URL: a.URL, Revision: a.Revision, Digest: a.Digest, Size: &size,
			LastUpdateTime: metav1.NewTime(a.LastUpdate.Truncate(time.Second)),
		}
	}
	if requested := repo.Annotations[requestedAt]; requested != "" {
		after.LastHandledReconcileAt = requested
	}
	if !got.Unchanged {
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
	reason, terminal := failureReason(err)
	after := repo.Status.DeepCopy()
	c := g.conditions(repo, after)
	if signatureReasons[reason] {
		c.set(sourcev1.SourceVerifiedCondition, metav1.ConditionFalse, reason, err.Error())
	}
	c.set(sourcev1.FetchFailedCondition, metav1.ConditionTrue, reason, err.Error())
	c.set(conditionReady, metav1.ConditionFalse, reason, err.Error())
	if terminal {
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
	if terminal {
		return forever
	}
	return min(fetchRetryMin<<min(failures-1, 12), fetchRetryMax)
}

// Reasons of Flux for signatures that were not found.
const (
	reasonVerificationMode = "InvalidVerificationMode"
	reasonGitObject        = "InvalidGitObject"
	reasonTagSignature     = "InvalidTagSignature"
	reasonCommitSignature  = "InvalidCommitSignature"
)

var signatureReasons = map[string]bool{
	reasonVerificationMode: true, reasonGitObject: true, reasonTagSignature: true, reasonCommitSignature: true,
}

// failureReason is the reason of Flux for an error, and whether only a change can help.
func failureReason(err error) (reason string, terminal bool) {
	var unsupported *unsupportedError
	switch {
	case errors.As(err, &unsupported):
		return "UnsupportedField", true
	case errors.Is(err, source.ErrNoTag):
		return reasonVerificationMode, true
	case errors.Is(err, source.ErrUnsigned):
		return reasonGitObject, false
	case errors.Is(err, source.ErrTagSignature):
		return reasonTagSignature, false
	case errors.Is(err, source.ErrCommitSignature):
		return reasonCommitSignature, false
	case errors.Is(err, source.ErrURL):
		return sourcev1.URLInvalidReason, true
	case errors.Is(err, source.ErrAuth):
		return sourcev1.AuthenticationFailedReason, false
	default:
		return sourcev1.GitOperationFailedReason, false
	}
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
