package images

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	imagev1 "github.com/fluxcd/image-reflector-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/flux/sources"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/images"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/source"
)

// scan lists the tags of a repository when that is due.
func (k *Keeper) scan(ctx context.Context, id engine.UnitID, last *lastPass) rounds.Next {
	repo, there := k.repositories.Get(id)
	switch {
	case !there:
		return rounds.Rest()
	case repo.DeletionTimestamp != nil:
		return k.let(ctx, toolkit.ImageRepositories, repo)
	case repo.Spec.Suspend:
		return rounds.Rest()
	}
	now := lookAt(repo, "")
	if wait := last.Rest(now); wait > 0 {
		return rounds.After(wait)
	}
	turn, ok := k.Feed.Take(ctx, id.Namespace, "oci://"+repo.Spec.Image)
	if !ok {
		return rounds.Rest()
	}
	defer turn.End()
	began := time.Now()
	after := repo.DeepCopy()
	var tags images.Tags
	v := k.guarded(id, func() (v verdict) {
		tags, v = k.list(ctx, after)
		return v
	})
	if ctx.Err() != nil {
		return rounds.Rest()
	}
	v.enter(after, &after.Status.Conditions, &after.Status.ObservedGeneration, &after.Status.LastHandledReconcileAt)
	u, err := declared.Writer{Client: k.Home.Dynamic.Resource(toolkit.ImageRepositories), Manager: toolkit.ReflectorField}.Status(ctx, repo, repo.Status, after.Status)
	if err == nil && u != nil {
		_, err = k.repositories.Put(u)
	}
	if news(repo.Status.Conditions, after.Status.Conditions) {
		k.tell(after, v, v.message)
	}
	k.enterScan(id, tags, v)
	if !k.ended(ctx, id, began, v, err) || !v.ok {
		return last.failed(now, (v.stalled || v.woken) && err == nil)
	}
	return last.passed(now, repo.Spec.Interval.Duration)
}

// enterScan keeps what a scan gave, and has the policies look that choose from it.
func (k *Keeper) enterScan(id engine.UnitID, tags images.Tags, v verdict) {
	k.mu.Lock()
	before := k.scans[id]
	after := before
	after.failure = ""
	if v.ok {
		after.tags, after.known = tags, true
	} else {
		after.failure = v.message
	}
	k.scans[id] = after
	k.mu.Unlock()
	if !slices.Equal(before.tags, after.tags) || before.known != after.known || before.failure != after.failure {
		k.wakePolicies(id)
	}
}

// list lists the tags, and enters into the status what it found.
func (k *Keeper) list(ctx context.Context, repo *imagev1.ImageRepository) (images.Tags, verdict) {
	canonical, err := source.CanonicalImage(repo.Spec.Image, repo.Spec.Insecure)
	if err != nil {
		return nil, verdict{reason: imagev1.ImageURLInvalidReason, message: err.Error(), stalled: true}
	}
	url, access, err := k.registry(ctx, repo, canonical)
	if err != nil {
		return nil, scanFailure(fmt.Errorf("failed to configure authentication options: %w", err), imagev1.AuthenticationFailedReason)
	}
	excluded := repo.GetExclusionList()
	if _, err := images.Without(nil, excluded); err != nil {
		return nil, verdict{reason: imagev1.ReadOperationFailedReason, message: err.Error(), stalled: true}
	}
	all, err := source.ListTags(ctx, url, access)
	if err != nil {
		return nil, scanFailure(fmt.Errorf("scan failed: %w", err), imagev1.ReadOperationFailedReason)
	}
	tags, err := images.Without(all, excluded)
	if err != nil {
		return nil, scanFailure(err, imagev1.ReadOperationFailedReason)
	}
	status := &repo.Status
	status.CanonicalImageName, status.ObservedExclusionList = canonical, excluded
	status.LastScanResult = &imagev1.ScanResult{
		Revision: tags.Revision(), TagCount: len(tags), ScanTime: metav1.NewTime(time.Now().Truncate(time.Second)), LatestTags: tags.Sample(),
	}
	return tags, succeededWith(fmt.Sprintf("successful scan: found %d tags with checksum %s", len(tags), tags.Revision()))
}

// scanFailure words why a registry was not asked, or did not answer.
func scanFailure(err error, reason string) verdict {
	v := verdict{reason: reason, message: err.Error()}
	var unsupported *access.UnsupportedError
	switch {
	case errors.As(err, &unsupported):
		v.reason, v.stalled = string(engine.ReasonUnsupported), true
	case errors.Is(err, source.ErrAuth):
		v.reason = imagev1.AuthenticationFailedReason
	}
	return v
}

// registry reads how the registry of a repository is reached.
func (k *Keeper) registry(ctx context.Context, repo *imagev1.ImageRepository, canonical string) (string, source.RegistryAccess, error) {
	spec := &repo.Spec
	if err := sources.GenericOnly(spec.Provider); err != nil {
		return "", source.RegistryAccess{}, err
	}
	timeout := metav1.Duration{Duration: repo.GetTimeout()}
	access, err := k.sources.RegistryAccess(ctx, access.References{
		Namespace: repo.Namespace, Login: spec.SecretRef, Certs: spec.CertSecretRef, Proxy: spec.ProxySecretRef,
		Account: spec.ServiceAccountName, Insecure: spec.Insecure, Timeout: &timeout,
	})
	// Rules are about the name by which everybody knows Docker's registry.
	shown := "oci://" + strings.Replace(canonical, "index.docker.io/", "docker.io/", 1)
	return k.sources.Rewritten(shown), access, err
}
