package images

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	autov1 "github.com/fluxcd/image-automation-controller/api/v1"
	imagev1 "github.com/fluxcd/image-reflector-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
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

// automatedSource is the source that an automation changes.
func automatedSource(a *autov1.ImageUpdateAutomation) engine.SourceID {
	ref := a.Spec.SourceRef
	return toolkit.SourceID(cmp.Or(ref.Kind, sourcev1.GitRepositoryKind), cmp.Or(ref.Namespace, a.Namespace), ref.Name)
}

// update has the images put into the files of a repository, when that is due.
func (k *Keeper) update(ctx context.Context, id engine.UnitID, last *lastPass) rounds.Next {
	a, there := k.automations.Get(id)
	switch {
	case !there:
		return rounds.Rest()
	case a.DeletionTimestamp != nil:
		return k.let(ctx, toolkit.ImageAutomations, a)
	case a.Spec.Suspend:
		return rounds.Rest()
	}
	if k.sources.WaitListed(ctx) != nil {
		return rounds.Rest()
	}
	repo, revision := k.repositoryFor(a)
	policies, badSelector := k.selected(a)
	inputs := fmt.Sprintf("%t %s", k.rules.Now().NoCrossNamespaceRefs, describe(policies))
	if repo != nil {
		inputs += fmt.Sprintf(" %s %d", repo.UID, repo.Generation)
	}
	now := lookAt(a, inputs)
	moved := revision != last.artifact && revision != a.Status.ObservedSourceRevision
	if wait := last.Rest(now); wait > 0 && !moved {
		return rounds.After(wait)
	}
	address := ""
	if repo != nil {
		address = repo.Spec.URL
	}
	turn, ok := k.Feed.Take(ctx, id.Namespace, address)
	if !ok {
		return rounds.Rest()
	}
	defer turn.End()
	last.artifact = revision
	began := time.Now()
	after := a.DeepCopy()
	run := &imageRun{keeper: k, automation: after, repo: repo, policies: policies, last: last, same: last.Made(now)}
	var v verdict
	if badSelector != nil {
		v = verdict{reason: autov1.InvalidPolicySelectorReason, message: badSelector.Error(), stalled: true}
	} else {
		v = k.guarded(id, func() verdict { return run.do(ctx) })
	}
	if ctx.Err() != nil {
		return rounds.Rest()
	}
	return k.updated(ctx, run, a, v, now, began)
}

// updated writes down how a run ended.
func (k *Keeper) updated(
	ctx context.Context, run *imageRun, before *autov1.ImageUpdateAutomation, v verdict, now looked, began time.Time,
) rounds.Next {
	after, id := run.automation, imageID(autov1.ImageUpdateAutomationKind, before)
	status := &after.Status
	status.LastAutomationRunTime = &metav1.Time{Time: began.Truncate(time.Second)}
	v.enter(after, &status.Conditions, &status.ObservedGeneration, &status.LastHandledReconcileAt)
	u, err := declared.Writer{Client: k.Home.Dynamic.Resource(toolkit.ImageAutomations), Manager: toolkit.AutomationField}.Status(ctx, before, before.Status, after.Status)
	if err == nil && u != nil {
		_, err = k.automations.Put(u)
	}
	switch {
	case run.pushed != "":
		k.tell(after, v, run.pushed)
		k.sources.NudgeURL(func(url string) bool { return url == run.repo.Spec.URL })
	case news(before.Status.Conditions, status.Conditions):
		k.tell(after, v, v.message)
	}
	if !k.ended(ctx, id, began, v, err) || !v.ok {
		return run.last.failed(now, (v.stalled || v.woken) && err == nil)
	}
	return run.last.passed(now, before.Spec.Interval.Duration)
}

// repositoryFor is the source of an automation, and the revision of its artifact.
func (k *Keeper) repositoryFor(a *autov1.ImageUpdateAutomation) (*sourcev1.GitRepository, string) {
	key := source.Key(automatedSource(a))
	f, known := k.sources.Feed(key)
	if !known {
		return nil, ""
	}
	repo, ok := f.Current().(sources.GitRepository)
	if !ok {
		return nil, ""
	}
	if artifact, has := k.sources.Store.Get(key); has {
		return repo.GitRepository, artifact.Revision
	}
	return repo.GitRepository, ""
}

// selected are the policies of an automation that have an image.
func (k *Keeper) selected(a *autov1.ImageUpdateAutomation) ([]*imagev1.ImagePolicy, error) {
	selector := labels.Everything()
	if a.Spec.PolicySelector != nil {
		var err error
		if selector, err = metav1.LabelSelectorAsSelector(a.Spec.PolicySelector); err != nil {
			return nil, fmt.Errorf("spec.policySelector: failed to parse policy selector: %w", err)
		}
	}
	var found []*imagev1.ImagePolicy
	for _, p := range k.policies.All() {
		if p.Namespace == a.Namespace && p.Status.LatestRef != nil && selector.Matches(labels.Set(p.Labels)) {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(x, y *imagev1.ImagePolicy) int { return strings.Compare(x.Name, y.Name) })
	return found, nil
}

// describe tells one selection of policies from another.
func describe(policies []*imagev1.ImagePolicy) string {
	texts := make([]string, len(policies))
	for i, p := range policies {
		texts[i] = p.Name + "=" + p.Status.LatestRef.String()
	}
	return strings.Join(texts, " ")
}

// observed are the policies as a status shows them.
func observed(policies []*imagev1.ImagePolicy) autov1.ObservedPolicies {
	out := autov1.ObservedPolicies{}
	for _, p := range policies {
		ref := p.Status.LatestRef
		out[p.Name] = autov1.ImageRef{Name: ref.Name, Tag: ref.Tag, Digest: ref.Digest}
	}
	return out
}

// settable are the images of policies by the names that markers have for them.
func settable(policies []*imagev1.ImagePolicy) map[string]images.Image {
	out := map[string]images.Image{}
	for _, p := range policies {
		ref := p.Status.LatestRef
		out[p.Namespace+":"+p.Name] = images.Image{Name: ref.Name, Tag: ref.Tag, Digest: ref.Digest}
	}
	return out
}

// others reports whether the policies that the files name are those of the last run.
func (l *lastPass) others(before, now autov1.ObservedPolicies, namespace string) bool {
	if l.named == nil {
		return true
	}
	for name := range l.named {
		own, ok := strings.CutPrefix(name, namespace+":")
		if ok && before[own] != now[own] {
			return true
		}
	}
	return false
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// shownFiles is how many files a message names.
const shownFiles = 5
