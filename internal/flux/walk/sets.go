package walk

import (
	"context"
	"slices"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	fluxcdv1 "github.com/headgate-dev/headgate/api/fluxcd/v1"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/sets"
	"github.com/headgate-dev/headgate/internal/flux/sources"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
)

// origin is a source that was rendered and may be that of a chart whose place is taken.
func (w *walk) origin(id engine.SourceID) sources.Origin {
	o, there := w.held[id.Object()]
	if !there || id.Kind != sourcev1.OCIRepositoryKind {
		return nil
	}
	repo, err := sources.NewOCIRepository(o)
	if err != nil {
		return nil
	}
	return repo
}

// renderSet makes the objects of a ResourceSet with the providers that were rendered before it. Their ids are
// others than those in a cluster.
func (w *walk) renderSet(ctx context.Context, rs *fluxcdv1.ResourceSet) ([]*unstructured.Unstructured, error) {
	var providers []*fluxcdv1.ResourceSetInputProvider
	for id, o := range w.held {
		if id.Group != fluxcdv1.GroupVersion.Group || id.Kind != fluxcdv1.ResourceSetInputProviderKind || id.Namespace != rs.Namespace {
			continue
		}
		p, err := declared.Read[fluxcdv1.ResourceSetInputProvider](o)
		if err != nil {
			return nil, err
		}
		if p.UID == "" {
			// The cluster would tell the ids of two of them apart.
			p.UID = types.UID(p.Namespace + "/" + p.Name)
		}
		providers = append(providers, p)
	}
	slices.SortFunc(providers, func(a, b *fluxcdv1.ResourceSetInputProvider) int { return strings.Compare(a.Name, b.Name) })
	objects, _, err := sets.Build(ctx, w.repository.Sandbox.For(rs.Namespace, rs.Namespace+"/"+rs.Name), rs, providers, w)
	if err != nil {
		return nil, err
	}
	left := objects[:0]
	for _, o := range objects {
		if w.rooted(engine.IDOf(o)) {
			continue
		}
		labels := o.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		labels[toolkit.ResourceSetPrefix+"name"], labels[toolkit.ResourceSetPrefix+"namespace"] = rs.Name, rs.Namespace
		o.SetLabels(labels)
		left = append(left, o)
	}
	return engine.Sort(left), nil
}
