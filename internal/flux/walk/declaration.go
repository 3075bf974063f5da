package walk

import (
	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	fluxcdv1 "github.com/headgate-dev/headgate/api/fluxcd/v1"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/kustomize"
	"github.com/headgate-dev/headgate/internal/flux/policies"
	"github.com/headgate-dev/headgate/internal/flux/release"
	"github.com/headgate-dev/headgate/internal/flux/sets"
	"github.com/headgate-dev/headgate/internal/flux/sources"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
)

// Declaration is what an object declares: a unit, and where the chart of a release comes from.
type Declaration struct {
	Unit  engine.Unit
	Chart sources.ChartOrigin
}

// IsUnit reports whether an object declares a unit.
func IsUnit(u *unstructured.Unstructured) bool {
	kind := u.GroupVersionKind().GroupKind()
	return kind == toolkit.KustomizationKind || kind == toolkit.HelmReleaseKind || kind == toolkit.ResourceSetKind
}

// Declared reads what an object declares that is a unit.
func Declared(u *unstructured.Unstructured) (Declaration, error) {
	d, err := declareAny(policies.Policy{}, u)
	return d.Declaration, err
}

// declareAny reads an object of any of the kinds that declare units.
func declareAny(t policies.Policy, u *unstructured.Unstructured) (declaration, error) {
	var d declaration
	var err error
	d.Unit.ID = engine.UnitOf(engine.IDOf(u))
	if u.GroupVersionKind().GroupKind() == toolkit.HelmReleaseKind {
		if d.hr, err = declared.Read[helmv2.HelmRelease](u); err == nil {
			d.Unit, d.Chart = release.Declare(t, d.hr), chartOrigin(d.hr)
		}
		return d, err
	}
	if u.GroupVersionKind().GroupKind() == toolkit.ResourceSetKind {
		if d.rs, err = declared.Read[fluxcdv1.ResourceSet](u); err == nil {
			d.Unit = sets.Declare(t, d.rs)
		}
		return d, err
	}
	if d.ks, err = declared.Read[kustomizev1.Kustomization](u); err == nil {
		d.Unit = kustomize.Declare(t, d.ks)
	}
	return d, err
}

func chartOrigin(hr *helmv2.HelmRelease) sources.ChartOrigin {
	if c := release.ChartOf(hr); c != nil {
		return sources.HelmChart{HelmChart: c}.Origin()
	}
	return sources.ChartOrigin{Source: release.SourceOf(hr)}
}

// SourceOf is the source that an object reads: that of a unit, or the one that a HelmChart is taken from.
// Other sources read none.
func SourceOf(u *unstructured.Unstructured) (engine.SourceID, error) {
	if IsUnit(u) {
		d, err := Declared(u)
		return d.Unit.Source, err
	}
	if u.GetKind() != sourcev1.HelmChartKind {
		return engine.SourceID{}, nil
	}
	chart, err := declared.Read[sourcev1.HelmChart](u)
	if err != nil {
		return engine.SourceID{}, err
	}
	return engine.SourceID(sources.HelmChart{HelmChart: chart}.ChartSource()), nil
}

// Static reports whether an object is never fetched or reconciled individually: it has no status.
func Static(u *unstructured.Unstructured) bool {
	if u.GetKind() != sourcev1.HelmRepositoryKind {
		return false
	}
	repo, err := declared.Read[sourcev1.HelmRepository](u)
	return err == nil && sources.HelmRepository{HelmRepository: repo}.InRegistry()
}

// Manager is the field manager under which the objects of a unit are applied.
func Manager(id engine.UnitID) string {
	if id.GroupKind() == toolkit.HelmReleaseKind {
		return toolkit.ReleaseManager
	}
	if id.GroupKind() == toolkit.ResourceSetKind {
		return toolkit.OperatorManager
	}
	return toolkit.ApplyManager
}
