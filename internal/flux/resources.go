package flux

import (
	"context"
	"net/url"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/internal/meter"
	"github.com/headgate-dev/headgate/internal/runner"
)

// States returns where all units stand, and what the engine did since its start.
func (e *Engine) States(ctx context.Context) ([]runner.State, runner.Stats) {
	return e.runner.States(ctx)
}

// Resources returns where every object stands that is served, in no order.
func (e *Engine) Resources() []meter.Resource {
	var list []meter.Resource
	for _, ks := range e.registry.all() {
		list = append(list, meter.Resource{
			Group: kustomizationKind.Group, Version: kustomizev1.GroupVersion.Version, Kind: kustomizationKind.Kind,
			Namespace: ks.Namespace, Name: ks.Name, Ready: readyOf(ks.Status.Conditions), Suspended: ks.Spec.Suspend,
			Revision: ks.Status.LastAppliedRevision, Source: ks.Spec.SourceRef.Name,
		})
	}
	for _, repo := range e.sources.all() {
		r := meter.Resource{
			Group: gitRepositoryKind.Group, Version: sourcev1.GroupVersion.Version, Kind: gitRepositoryKind.Kind,
			Namespace: repo.Namespace, Name: repo.Name, Ready: readyOf(repo.Status.Conditions), Suspended: repo.Spec.Suspend,
			URL: withoutCredentials(repo.Spec.URL),
		}
		if repo.Status.Artifact != nil {
			r.Revision = repo.Status.Artifact.Revision
		}
		list = append(list, r)
	}
	return list
}

// all returns the GitRepositories, in no order.
func (s *sources) all() []*sourcev1.GitRepository {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var all []*sourcev1.GitRepository
	for _, g := range s.gits {
		if repo := g.current(); repo != nil {
			all = append(all, repo)
		}
	}
	return all
}

func readyOf(conditions []metav1.Condition) string {
	if c := apimeta.FindStatusCondition(conditions, conditionReady); c != nil {
		return string(c.Status)
	}
	return string(metav1.ConditionUnknown)
}

func withoutCredentials(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	u.User = nil
	return u.String()
}
