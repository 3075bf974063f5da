package v1alpha1

import (
	"testing"

	"github.com/headgate-dev/headgate/api/samples"
)

func TestRoundTrip(t *testing.T) {
	samples.RoundTrip(t, map[string]samples.Case{
		"PushSecrets": {
			Reason: "what a PushSecret says comes back as it was, and the sample has every field",
			File:   "testdata/pushsecrets.yaml", Kind: PushSecret{},
		},
	})
}
