// Package builtin reads an installation of the vcluster chart as a virtual cluster that this process can serve: whether a source is
// that chart, and what its values request.
//
// It refuses values that it does not know, each by its path: no request of a user is dropped silently.
package builtin

import (
	"net/url"
	"path"
	"strings"
)

// Chart is the name of the chart.
const Chart = "vcluster"

// published has the repositories of the chart, as host and path.
var published = map[string]bool{"charts.loft.sh": true, "ghcr.io/loft-sh": true, "ghcr.io/loft-sh/charts": true}

// Is reports whether a source is the vcluster chart as its authors publish it: chart and repository are those of an Application, and
// of an OCI repository the chart may be the last part of the URL. A chart of that name in another repository is another chart.
func Is(repository, chart string) bool {
	u, err := url.Parse(withScheme(repository))
	if err != nil || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	if u.Scheme != "https" && u.Scheme != "oci" {
		return false
	}
	place := strings.TrimSuffix(strings.ToLower(u.Host)+u.Path, "/")
	if chart == "" || chart == "." {
		if u.Scheme != "oci" {
			return false
		}
		place, chart = path.Dir(place), path.Base(place)
	}
	return chart == Chart && published[place]
}

// withScheme gives a repository without a scheme the one that Argo CD takes it to have.
func withScheme(repository string) string {
	if strings.Contains(repository, "://") {
		return repository
	}
	return "oci://" + repository
}
