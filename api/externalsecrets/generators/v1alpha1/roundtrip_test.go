package v1alpha1

import (
	"testing"

	"github.com/headgate-dev/headgate/api/samples"
)

func TestRoundTrip(t *testing.T) {
	samples.RoundTrip(t, map[string]samples.Case{
		"Passwords": {
			Reason: "what a Password says comes back as it was, and the sample has every field",
			File:   "testdata/passwords.yaml", Kind: Password{},
		},
		"UUIDs":             {Reason: "so does a UUID, whose spec is empty", File: "testdata/uuids.yaml", Kind: UUID{}},
		"ClusterGenerators": {Reason: "and a ClusterGenerator", File: "testdata/clustergenerators.yaml", Kind: ClusterGenerator{}},
	})
}
