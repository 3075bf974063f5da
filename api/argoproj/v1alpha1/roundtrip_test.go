package v1alpha1

import (
	"testing"

	"github.com/headgate-dev/headgate/api/samples"
)

// The samples are applied to a real API server too, by a scenario.
func TestRoundTrip(t *testing.T) {
	samples.RoundTrip(t, map[string]samples.Case{
		"Applications": {
			Reason: "what an Application says and what was said of it comes back as it was, and the samples have every field",
			File:   "testdata/applications.yaml", Kind: Application{},
		},
		"ApplicationSets": {
			Reason: "so do all generators, with what is nested in them", File: "testdata/applicationsets.yaml", Kind: ApplicationSet{},
		},
		"AppProjects": {Reason: "so do projects", File: "testdata/appprojects.yaml", Kind: AppProject{}},
	})
}
