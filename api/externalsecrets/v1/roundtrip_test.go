package v1

import (
	"testing"

	"github.com/headgate-dev/headgate/api/samples"
)

func TestRoundTrip(t *testing.T) {
	samples.RoundTrip(t, map[string]samples.Case{
		"ExternalSecrets": {
			Reason: "what an ExternalSecret says comes back as it was, and the samples have every field",
			File:   "testdata/externalsecrets.yaml", Kind: ExternalSecret{},
		},
		"ClusterExternalSecrets": {
			Reason: "so do those of the cluster, where an empty selector is all namespaces",
			File:   "testdata/clusterexternalsecrets.yaml", Kind: ClusterExternalSecret{},
		},
		"SecretStores": {
			Reason: "so do stores, with providers that have types and those that have none", File: "testdata/secretstores.yaml", Kind: SecretStore{},
		},
		"ClusterSecretStores": {Reason: "so do stores of the cluster", File: "testdata/clustersecretstores.yaml", Kind: ClusterSecretStore{}},
	})
}
