package flux

import (
	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	fluxcdv1 "github.com/headgate-dev/headgate/api/fluxcd/v1"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
)

// Declaration is what an object declares: a unit, and where the chart of a release comes from.
type Declaration struct {
	Unit  engine.Unit
	Chart ChartOrigin
}

// IsUnit tells whether an object declares a unit.
func IsUnit(u *unstructured.Unstructured) bool {
	kind := u.GroupVersionKind().GroupKind()
	return kind == kustomizationKind || kind == helmReleaseKind || kind == resourceSetKind
}

// Declared reads what an object declares that is a unit.
func Declared(u *unstructured.Unstructured) (Declaration, error) {
	d, err := declareAny(Policy{}, u)
	return d.Declaration, err
}

// declareAny reads an object of any of the kinds that declare units.
func declareAny(t Policy, u *unstructured.Unstructured) (declaration, error) {
	var d declaration
	var err error
	d.Unit.ID = engine.UnitOf(engine.IDOf(u))
	if u.GroupVersionKind().GroupKind() == helmReleaseKind {
		if d.hr, err = declared.Read[helmv2.HelmRelease](u); err == nil {
			d.Unit, d.Chart = declareRelease(t, d.hr), chartOrigin(d.hr)
		}
		return d, err
	}
	if u.GroupVersionKind().GroupKind() == resourceSetKind {
		if d.rs, err = declared.Read[fluxcdv1.ResourceSet](u); err == nil {
			d.Unit = declareResourceSet(t, d.rs)
		}
		return d, err
	}
	if d.ks, err = declared.Read[kustomizev1.Kustomization](u); err == nil {
		d.Unit = declare(t, d.ks)
	}
	return d, err
}

func chartOrigin(hr *helmv2.HelmRelease) ChartOrigin {
	if c := chartOf(hr); c != nil {
		return helmChart{c}.origin()
	}
	return ChartOrigin{Source: releaseSource(hr)}
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
	return engine.SourceID(helmChart{chart}.source()), nil
}

// Static reports whether an object is never fetched or reconciled individually: it has no status.
func Static(u *unstructured.Unstructured) bool {
	if u.GetKind() != sourcev1.HelmRepositoryKind {
		return false
	}
	repo, err := declared.Read[sourcev1.HelmRepository](u)
	return err == nil && helmRepository{repo}.inRegistry()
}

// Manager is the field manager under which the objects of a unit are applied.
func Manager(id engine.UnitID) string {
	if id.GroupKind() == helmReleaseKind {
		return releaseManager
	}
	if id.GroupKind() == resourceSetKind {
		return operatorManager
	}
	return applyManager
}
