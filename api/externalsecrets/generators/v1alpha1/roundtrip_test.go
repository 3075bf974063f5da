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
		"UUIDs":              {Reason: "so does a UUID, whose spec is empty", File: "testdata/uuids.yaml", Kind: UUID{}},
		"Webhooks":           {Reason: "and a Webhook", File: "testdata/webhooks.yaml", Kind: Webhook{}},
		"GithubAccessTokens": {Reason: "and a GithubAccessToken", File: "testdata/githubaccesstokens.yaml", Kind: GithubAccessToken{}},
		"ClusterGenerators":  {Reason: "and a ClusterGenerator", File: "testdata/clustergenerators.yaml", Kind: ClusterGenerator{}},
	})
}
