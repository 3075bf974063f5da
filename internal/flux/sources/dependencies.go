package sources

import (
	"context"
	"fmt"
	"slices"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/source"
	"github.com/headgate-dev/headgate/internal/source/chart"
)

// dependency gets a chart that another one needs.
func (s *Keeper) dependency(ctx context.Context, namespace string, d chart.Dependency) ([]byte, error) {
	var from *Feed
	options, repo, err := DependencyOptions(ctx, &s.Reach, namespace, d, func(fits func(*sourcev1.HelmRepository) bool) (repo *sourcev1.HelmRepository) {
		repo, from = s.repositoryFor(namespace, fits)
		return repo
	})
	if err != nil {
		return nil, err
	}
	if repo != nil {
		options.Index = from.chartIndex()
	}
	got, err := source.FetchChart(ctx, options, "")
	if err != nil {
		return nil, err
	}
	return got.Data, nil
}

// DependencyOptions read how a chart is fetched that another one needs: from the HelmRepository of the
// namespace that has its URL, or its name, with its credentials; from the URL alone when there is none.
// Find returns the first repository that fits.
func DependencyOptions(ctx context.Context, s *access.Reach, namespace string, d chart.Dependency,
	find func(fits func(*sourcev1.HelmRepository) bool) *sourcev1.HelmRepository,
) (source.ChartOptions, *sourcev1.HelmRepository, error) {
	o := source.ChartOptions{
		RegistryAccess: source.RegistryAccess{Access: source.Access{Egress: s.Egress}},
		URL:            s.Rewritten(d.Repository), Chart: d.Name, Version: d.Version, Rewrites: s.Rules(),
	}
	named := strings.TrimPrefix(strings.TrimPrefix(d.Repository, "@"), "alias:")
	isNamed := named != d.Repository
	repo := find(func(repo *sourcev1.HelmRepository) bool {
		if isNamed {
			return repo.Name == named
		}
		return strings.TrimSuffix(repo.Spec.URL, "/") == strings.TrimSuffix(d.Repository, "/")
	})
	switch {
	case repo == nil && isNamed:
		return o, nil, fmt.Errorf("HelmRepository %q does not exist", namespace+"/"+named)
	case repo == nil:
		return o, nil, nil
	}
	o.URL, o.PassCredentials = s.Rewritten(repo.Spec.URL), repo.Spec.PassCredentials
	var err error
	if o.RegistryAccess, err = repositoryAccess(ctx, s, repo); err != nil {
		err = fmt.Errorf("HelmRepository %q: %w", repo.Name, err)
	}
	return o, repo, err
}

// repositoryFor returns the first HelmRepository of a namespace, by name, that fits.
func (s *Keeper) repositoryFor(namespace string, fits func(*sourcev1.HelmRepository) bool) (*sourcev1.HelmRepository, *Feed) {
	s.mu.RLock()
	var keys []source.Key
	for key := range s.feeds {
		if key.Kind == sourcev1.HelmRepositoryKind && key.Namespace == namespace {
			keys = append(keys, key)
		}
	}
	s.mu.RUnlock()
	slices.SortFunc(keys, func(a, b source.Key) int { return strings.Compare(a.Name, b.Name) })
	for _, key := range keys {
		f, known := s.Feed(key)
		if !known {
			continue
		}
		if repo, ok := f.Current().(HelmRepository); ok && fits(repo.HelmRepository) {
			return repo.HelmRepository, f
		}
	}
	return nil, nil
}
