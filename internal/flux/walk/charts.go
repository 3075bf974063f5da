package walk

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/release"
	"github.com/headgate-dev/headgate/internal/flux/sources"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/helm"
	"github.com/headgate-dev/headgate/internal/source"
	"github.com/headgate-dev/headgate/internal/source/chart"
)

// ChartError says which chart cannot be fetched, and from where.
type ChartError struct {
	Chart sources.ChartOrigin
	// URL is where it was searched for; it is empty if that is no server.
	URL string
	Err error
}

// Error names the chart and the URL.
func (e *ChartError) Error() string {
	if e.URL == "" {
		return fmt.Sprintf("getting %s: %v", e.Chart, e.Err)
	}
	return fmt.Sprintf("getting %s from %q: %v", e.Chart, e.URL, e.Err)
}

// Unwrap returns the cause.
func (e *ChartError) Unwrap() error { return e.Err }

// shownURL is a URL without what may be secret in it.
func shownURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// rewriting are the rules that were given, and those that the repository declares, unless one of these
// cannot be read.
func (w *walk) rewriting(ctx context.Context) source.Rewrites {
	data, err := w.ConfigMap(ctx, toolkit.Namespace, sources.RewritesName)
	if err != nil {
		return w.repository.Rewrites
	}
	rules, err := w.repository.Rewrites.With(sources.RuleLines(data))
	if err != nil {
		return w.repository.Rewrites
	}
	return rules
}

// noAccount stands in for the service accounts of a cluster.
func noAccount(_ context.Context, _, name string) (*corev1.ServiceAccount, error) {
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "serviceaccounts"}, name)
}

// find reads an object of the API of sources that was rendered.
func find[T any](w *walk, kind, namespace, name string) (*T, error) {
	id := engine.ObjectID{Group: sourcev1.GroupVersion.Group, Kind: kind, Namespace: namespace, Name: name}
	u, ok := w.held[id]
	if !ok {
		return nil, fmt.Errorf("the repository declares no %s", id)
	}
	return declared.Read[T](u)
}

// chart gets the chart of a release.
func (w *walk) chart(ctx context.Context, hr *helmv2.HelmRelease) (release.GivenChart, error) {
	ref, id := hr.Spec.ChartRef, release.SourceOf(hr)
	switch {
	case ref == nil && hr.Spec.Chart == nil:
		return release.GivenChart{}, errors.New(release.Unsupported(hr))
	case ref == nil:
		return w.helmChart(ctx, sources.HelmChart{HelmChart: release.ChartOf(hr)})
	case ref.Kind == sourcev1.HelmChartKind:
		c, err := find[sourcev1.HelmChart](w, ref.Kind, id.Namespace, id.Name)
		if err != nil {
			return release.GivenChart{}, fmt.Errorf("spec.chartRef: %w", err)
		}
		return w.helmChart(ctx, sources.HelmChart{HelmChart: c})
	case ref.Kind == sourcev1.OCIRepositoryKind:
		repo, err := find[sourcev1.OCIRepository](w, ref.Kind, id.Namespace, id.Name)
		if err != nil {
			return release.GivenChart{}, fmt.Errorf("spec.chartRef: %w", err)
		}
		return w.ociChart(ctx, repo)
	default:
		return release.GivenChart{}, fmt.Errorf("spec.chartRef.kind: charts of %q cannot be rendered without a cluster", ref.Kind)
	}
}

// ociChart fetches the artifact of an OCIRepository.
func (w *walk) ociChart(ctx context.Context, repo *sourcev1.OCIRepository) (release.GivenChart, error) {
	origin := sources.ChartOrigin{Source: toolkit.SourceID(sourcev1.OCIRepositoryKind, repo.Namespace, repo.Name)}
	options, err := sources.OCIOptions(ctx, &w.Reach, repo)
	if err != nil {
		return release.GivenChart{}, &ChartError{Chart: origin, URL: shownURL(options.URL), Err: err}
	}
	got, err := source.FetchOCI(ctx, options, "", nil)
	if err == nil && got.Data == nil {
		err = release.ErrNoChart
	}
	if err != nil {
		return release.GivenChart{}, &ChartError{Chart: origin, URL: shownURL(options.URL), Err: err}
	}
	loaded, err := helm.LoadChart(got.Data)
	if err != nil {
		return release.GivenChart{}, &ChartError{Chart: origin, URL: shownURL(options.URL), Err: err}
	}
	return release.GivenChart{Chart: loaded, Kind: sourcev1.OCIRepositoryKind, Revision: got.Revision}, nil
}

// helmChart gets the chart that a HelmChart describes, which has just been made unless the cluster has it.
func (w *walk) helmChart(ctx context.Context, c sources.HelmChart) (release.GivenChart, error) {
	c = sources.HelmChart{HelmChart: c.DeepCopy()}
	c.Generation = 1
	if live := w.live(ctx, toolkit.SourceID(sourcev1.HelmChartKind, c.Namespace, c.Name).Object()); live != nil {
		c.Generation = max(1, live.GetGeneration())
	}
	var packed *chart.Packed
	var address string
	var err error
	switch c.Spec.SourceRef.Kind {
	case sourcev1.HelmRepositoryKind:
		packed, address, err = w.repositoryChart(ctx, c)
	case sourcev1.GitRepositoryKind:
		packed, address, err = w.treeChart(ctx, c)
	default:
		err = errors.New("charts of this kind of source cannot be rendered without a cluster")
	}
	var loaded *helm.Chart
	if err == nil {
		loaded, err = helm.LoadChart(packed.Data)
	}
	if err != nil {
		return release.GivenChart{}, &ChartError{Chart: c.Origin(), URL: shownURL(address), Err: err}
	}
	return release.GivenChart{Chart: loaded, Kind: sourcev1.HelmChartKind, Revision: packed.Version}, nil
}

// treeChart packs a chart that is in the repository itself.
func (w *walk) treeChart(ctx context.Context, c sources.HelmChart) (*chart.Packed, string, error) {
	id := toolkit.SourceID(sourcev1.GitRepositoryKind, c.Namespace, c.Spec.SourceRef.Name)
	tree, err := w.sourceTree(ctx, id)
	if err != nil {
		return nil, "", err
	}
	o := c.Packing("")
	o.Dependency = func(ctx context.Context, d chart.Dependency) ([]byte, error) {
		return w.dependency(ctx, c.Namespace, d)
	}
	packed, err := chart.Package(ctx, tree, c.Spec.Chart, o)
	return packed, "", err
}

// repositoryChart fetches a chart of a HelmRepository.
func (w *walk) repositoryChart(ctx context.Context, c sources.HelmChart) (*chart.Packed, string, error) {
	repo, err := find[sourcev1.HelmRepository](w, sourcev1.HelmRepositoryKind, c.Namespace, c.Spec.SourceRef.Name)
	if err != nil {
		return nil, "", err
	}
	options, err := sources.ChartOptions(ctx, &w.Reach, repo, c)
	if err != nil {
		return nil, options.URL, err
	}
	data, err := w.fetchChart(ctx, repo, options)
	if err != nil {
		return nil, options.URL, err
	}
	packed, err := chart.Repackage(data, c.Packing(""))
	return packed, options.URL, err
}

// fetchChart fetches a chart. The index of a repository that is declared is fetched once.
func (w *walk) fetchChart(ctx context.Context, repo *sourcev1.HelmRepository, o source.ChartOptions) ([]byte, error) {
	if repo != nil && !(sources.HelmRepository{HelmRepository: repo}).InRegistry() {
		id := toolkit.SourceID(sourcev1.HelmRepositoryKind, repo.Namespace, repo.Name)
		if w.indexes[id] == nil {
			got, err := source.FetchIndex(ctx, source.IndexOptions{Access: o.Access, URL: o.URL, PassCredentials: o.PassCredentials}, nil)
			if err != nil {
				return nil, err
			}
			w.indexes[id] = got.Index
		}
		o.Index = w.indexes[id]
	}
	got, err := source.FetchChart(ctx, o, "")
	if err != nil {
		return nil, err
	}
	return got.Data, nil
}

// dependency fetches a chart that a chart in the repository needs.
func (w *walk) dependency(ctx context.Context, namespace string, d chart.Dependency) ([]byte, error) {
	options, repo, err := sources.DependencyOptions(ctx, &w.Reach, namespace, d, func(fits func(*sourcev1.HelmRepository) bool) *sourcev1.HelmRepository {
		for _, id := range slices.SortedFunc(maps.Keys(w.held), engine.ObjectID.Compare) {
			if id.Kind != sourcev1.HelmRepositoryKind || id.Namespace != namespace {
				continue
			}
			if repo, err := declared.Read[sourcev1.HelmRepository](w.held[id]); err == nil && fits(repo) {
				return repo
			}
		}
		return nil
	})
	var data []byte
	if err == nil {
		data, err = w.fetchChart(ctx, repo, options)
	}
	if err != nil {
		return nil, fmt.Errorf("getting it from %q: %w", shownURL(options.URL), err)
	}
	return data, nil
}
