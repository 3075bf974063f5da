package sources

import (
	"strings"

	"github.com/headgate-dev/headgate/internal/engine"
)

// ChartOrigin is where a chart is searched for.
type ChartOrigin struct {
	// Source is the object that says where. It is not always the source of the unit: a release that names
	// a repository has a HelmChart between the two.
	Source engine.SourceID
	// Name is that of the chart, or its path; it is empty when the source is one chart.
	Name string
	// Version is a range of versions; it may be empty.
	Version string
}

// String is what a person reads, such as `chart web 1.x of HelmRepository/apps/charts`.
func (o ChartOrigin) String() string {
	text := "chart"
	for _, word := range []string{o.Name, o.Version} {
		if word != "" {
			text += " " + word
		}
	}
	return text + " of " + o.Source.String()
}

// Origin is where the chart is searched for.
func (r HelmChart) Origin() ChartOrigin {
	return ChartOrigin{
		Source: engine.SourceID(r.ChartSource()), Name: r.Spec.Chart, Version: strings.TrimPrefix(r.Spec.Version, "*"),
	}
}
