package flux

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

// Declared is the unit that an object declares.
func (*Dialect) Declared(u *unstructured.Unstructured) (engine.Unit, error) {
	if !IsUnit(u) {
		return engine.Unit{ID: engine.UnitOf(engine.IDOf(u))}, nil
	}
	d, err := Declared(u)
	return d.Unit, err
}

// ChartOf is where the chart of a HelmRelease comes from.
func (*Dialect) ChartOf(u *unstructured.Unstructured) dialect.Origin {
	if !IsUnit(u) {
		return dialect.Origin{}
	}
	d, err := Declared(u)
	if err != nil || d.Chart.Source.Kind == "" {
		return dialect.Origin{}
	}
	return dialect.Origin{Source: d.Chart.Source, Text: d.Chart.String()}
}

var (
	_ dialect.Explain = (*Dialect)(nil)
	_ dialect.Charted = (*Dialect)(nil)
)
