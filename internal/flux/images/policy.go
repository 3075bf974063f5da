package images

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	imagev1 "github.com/fluxcd/image-reflector-controller/api/v1"
	"github.com/fluxcd/pkg/apis/acl"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/sources"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/images"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/source"
)

// reasonInvalidPolicy is Flux's reason for a policy that cannot be followed.
const reasonInvalidPolicy = "InvalidPolicy"

// scannedBy is what a policy chooses from.
func scannedBy(p *imagev1.ImagePolicy) engine.UnitID {
	ref := p.Spec.ImageRepositoryRef
	return engine.UnitID{Group: toolkit.Image.Name, Kind: imagev1.ImageRepositoryKind, Namespace: cmp.Or(ref.Namespace, p.Namespace), Name: ref.Name}
}

// choose selects the image of a policy when that is due.
func (k *Keeper) choose(ctx context.Context, id engine.UnitID, last *lastPass) rounds.Next {
	p, there := k.policies.Get(id)
	switch {
	case !there:
		return rounds.Rest()
	case p.DeletionTimestamp != nil:
		return k.let(ctx, toolkit.ImagePolicies, p)
	case p.Spec.Suspend:
		return rounds.Rest()
	}
	tags := k.scanned(scannedBy(p))
	inputs, known := k.choice(p, tags)
	now := lookAt(p, inputs)
	if !known {
		return rounds.Rest()
	}
	if wait := last.Rest(now); wait > 0 {
		return rounds.After(wait)
	}
	began := time.Now()
	after := p.DeepCopy()
	v := k.guarded(id, func() verdict { return k.elect(ctx, after, tags) })
	if ctx.Err() != nil {
		return rounds.Rest()
	}
	v.enter(after, &after.Status.Conditions, &after.Status.ObservedGeneration, &after.Status.LastHandledReconcileAt)
	u, err := declared.Writer{Client: k.Home.Dynamic.Resource(toolkit.ImagePolicies), Manager: toolkit.ReflectorField}.Status(ctx, p, p.Status, after.Status)
	if err == nil && u != nil {
		_, err = k.enterPolicy(u)
	}
	if news(p.Status.Conditions, after.Status.Conditions) {
		k.tell(after, v, v.message)
	}
	if !k.ended(ctx, id, began, v, err) || !v.ok {
		return last.failed(now, (v.stalled || v.woken) && err == nil)
	}
	if interval := after.GetInterval(); interval > 0 {
		return last.passed(now, interval)
	}
	last.Passed(now, sources.Forever)
	return rounds.Rest()
}

// choice is what a policy chooses by, beside its own declaration; known is false until the first scan, which
// wakes it.
func (k *Keeper) choice(p *imagev1.ImagePolicy, tags scan) (inputs string, known bool) {
	repo, exists := k.repositories.Get(scannedBy(p))
	inputs = fmt.Sprintf("%t %t %t %s %s", k.rules.Now().NoCrossNamespaceRefs, exists, tags.known, tags.tags.Revision(), tags.failure)
	if !exists {
		return inputs, true
	}
	return inputs + fmt.Sprintf(" %s %d", repo.UID, repo.Generation), tags.known || tags.failure != "" || repo.Spec.Suspend
}

// elect selects the image, and enters it into the status.
func (k *Keeper) elect(ctx context.Context, p *imagev1.ImagePolicy, tags scan) verdict {
	if p.GetDigestReflectionPolicy() == imagev1.ReflectAlways && p.Spec.Interval == nil {
		const text = "spec.interval must be set when spec.digestReflectionPolicy is set to 'Always'"
		return verdict{reason: imagev1.IntervalNotConfiguredReason, message: text, stalled: true}
	}
	repo, refused := k.accessible(ctx, p)
	if refused != nil {
		return *refused
	}
	if _, err := source.CanonicalImage(repo.Spec.Image, repo.Spec.Insecure); err != nil {
		return verdict{reason: imagev1.ImageURLInvalidReason, message: err.Error(), stalled: true}
	}
	if !tags.known {
		return k.waiting(p, repo, tags)
	}
	latest, err := policyOf(p).Latest(tags.tags)
	switch {
	case errors.Is(err, images.ErrPolicy):
		return verdict{reason: reasonInvalidPolicy, message: err.Error(), stalled: true}
	case err != nil && len(tags.tags) == 0:
		return verdict{reason: imagev1.DependencyNotReadyReason, message: err.Error(), woken: true}
	case err != nil:
		return verdict{reason: metav1.StatusFailure, message: err.Error(), woken: true}
	}
	ref := imagev1.ImageRef{Name: repo.Spec.Image, Tag: latest}
	if ref.Digest, err = k.digest(ctx, p, repo, latest); err != nil {
		return scanFailure(fmt.Errorf("failed fetching digest of %s: %w", ref.String(), err), metav1.StatusFailure)
	}
	if status := &p.Status; status.LatestRef == nil || *status.LatestRef != ref {
		status.ObservedPreviousRef, status.LatestRef = status.LatestRef, &ref
	}
	return succeededWith(latestMessage(p))
}

// waiting is the state of a policy whose repository has no tags that are known here. What an earlier process
// chose by the same declaration still holds.
func (k *Keeper) waiting(p *imagev1.ImagePolicy, repo *imagev1.ImageRepository, tags scan) verdict {
	if p.Status.LatestRef != nil && p.Status.ObservedGeneration == p.Generation && toolkit.ReadyOf(p.Status.Conditions) == string(metav1.ConditionTrue) {
		return succeededWith(latestMessage(p))
	}
	why := "its repository has not been scanned"
	switch {
	case tags.failure != "":
		why += ": " + tags.failure
	case repo.Spec.Suspend:
		why += ", and is suspended"
	}
	return verdict{reason: imagev1.DependencyNotReadyReason, message: why, woken: true}
}

// latestMessage words what was chosen.
func latestMessage(p *imagev1.ImagePolicy) string {
	latest, previous := p.Status.LatestRef, p.Status.ObservedPreviousRef
	text := fmt.Sprintf("Latest image tag for %s resolved to %s", latest.Name, latest.Tag)
	if latest.Digest != "" {
		text += " with digest " + latest.Digest
	}
	if previous != nil && *previous != *latest {
		text += fmt.Sprintf(" (previously %s)", previous.String())
	}
	return text
}

// policyOf reads what a policy chooses by.
func policyOf(p *imagev1.ImagePolicy) images.Policy {
	var out images.Policy
	choice := p.Spec.Policy
	if choice.SemVer != nil {
		out.SemVer = &choice.SemVer.Range
	}
	if choice.Alphabetical != nil {
		order := images.Order(choice.Alphabetical.Order)
		out.Alphabetical = &order
	}
	if choice.Numerical != nil {
		order := images.Order(choice.Numerical.Order)
		out.Numerical = &order
	}
	if p.Spec.FilterTags != nil {
		out.Pattern, out.Extract = p.Spec.FilterTags.Pattern, p.Spec.FilterTags.Extract
	}
	return out
}

// digest is the digest that a policy reflects, empty when it reflects none.
func (k *Keeper) digest(ctx context.Context, p *imagev1.ImagePolicy, repo *imagev1.ImageRepository, tag string) (string, error) {
	known := p.Status.LatestRef
	switch p.GetDigestReflectionPolicy() {
	case imagev1.ReflectAlways:
	case imagev1.ReflectIfNotPresent:
		if known != nil && known.Name == repo.Spec.Image && known.Tag == tag && known.Digest != "" {
			return known.Digest, nil
		}
	default:
		return "", nil
	}
	canonical, err := source.CanonicalImage(repo.Spec.Image, repo.Spec.Insecure)
	if err != nil {
		return "", err
	}
	url, access, err := k.registry(ctx, repo, canonical)
	if err != nil {
		return "", err
	}
	turn, ok := k.Feed.Take(ctx, p.Namespace, url)
	if !ok {
		return "", context.Cause(ctx)
	}
	defer turn.End()
	return source.TagDigest(ctx, url, tag, access)
}

// accessible returns the repository of a policy, or why the policy may not choose from it.
func (k *Keeper) accessible(ctx context.Context, p *imagev1.ImagePolicy) (*imagev1.ImageRepository, *verdict) {
	id := scannedBy(p)
	const failed = "failed to get the referred ImageRepository: "
	if id.Namespace != p.Namespace && k.rules.Now().NoCrossNamespaceRefs {
		return nil, &verdict{reason: acl.AccessDeniedReason, stalled: true, message: failed +
			fmt.Sprintf("cannot access '%s', cross-namespace references have been blocked", id)}
	}
	repo, exists := k.repositories.Get(id)
	if !exists {
		return nil, &verdict{reason: imagev1.DependencyNotReadyReason, woken: true, message: failed + fmt.Sprintf("referenced %s does not exist", id)}
	}
	if id.Namespace == p.Namespace {
		return repo, nil
	}
	ns, err := k.Secrets.CoreV1().Namespaces().Get(ctx, p.Namespace, metav1.GetOptions{})
	if err != nil {
		return nil, &verdict{reason: metav1.StatusFailure, message: failed + fmt.Sprintf("reading Namespace %q: %v", p.Namespace, err)}
	}
	if !allows(repo.Spec.AccessFrom, ns) {
		return nil, &verdict{reason: acl.AccessDeniedReason, message: failed +
			fmt.Sprintf("access denied: spec.accessFrom of %s does not select namespace %q", id, p.Namespace)}
	}
	return repo, nil
}

// allows reports whether objects of a namespace may refer to one that has the given rules.
func allows(rules *acl.AccessFrom, ns *corev1.Namespace) bool {
	if rules == nil {
		return false
	}
	for _, selector := range rules.NamespaceSelectors {
		if labels.SelectorFromSet(selector.MatchLabels).Matches(labels.Set(ns.Labels)) {
			return true
		}
	}
	return false
}
