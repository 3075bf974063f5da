package main

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	externalsecrets "github.com/headgate-dev/headgate/api/externalsecrets/v1"
	"github.com/headgate-dev/headgate/chart"
)

// vaultStore is the store that every namespace may read.
const vaultStore = "vault"

// VaultProps are what the chart "vault" takes.
type VaultProps struct {
	// Users of the database by the keys of the vault.
	Users map[string]string `json:"users" factory:"required"`
}

// Vault stands in for a real one: its values are in Git, and mean nothing. `headgate up --secrets FILE` has the values of a file in their place, and
// another provider in this chart those of HashiCorp Vault, 1Password or a cloud.
func Vault(scope chart.Scope, p VaultProps) {
	var data []externalsecrets.FakeData
	for _, key := range slices.Sorted(maps.Keys(p.Users)) {
		data = append(data,
			externalsecrets.FakeData{Key: key + "/username", Value: p.Users[key]},
			externalsecrets.FakeData{Key: key + "/password", Value: "not-a-password"},
		)
	}
	chart.Add(scope, "store", &externalsecrets.ClusterSecretStore{
		ObjectMeta: metav1.ObjectMeta{Name: vaultStore},
		Spec:       externalsecrets.SecretStoreSpec{Provider: &externalsecrets.Provider{Fake: &externalsecrets.FakeProvider{Data: data}}},
	})
}

// LoginsProps are what the chart "logins" takes.
type LoginsProps struct {
	// Key of the login in the vault.
	Key string `json:"key" factory:"required"`
}

// Logins is the login of a team for the database, from the vault. The virtual clusters have a copy of the Secret.
func Logins(scope chart.Scope, p LoginsProps) {
	value := func(key, property string) externalsecrets.Data {
		return externalsecrets.Data{SecretKey: key, RemoteRef: externalsecrets.RemoteRef{Key: p.Key + "/" + property}}
	}
	chart.Add(scope, "database", &externalsecrets.ExternalSecret{
		ObjectMeta: metav1.ObjectMeta{Name: databaseLogin},
		Spec: externalsecrets.ExternalSecretSpec{
			SecretStoreRef: externalsecrets.SecretStoreRef{Kind: "ClusterSecretStore", Name: vaultStore},
			Data:           []externalsecrets.Data{value("POSTGRES_USER", "username"), value("POSTGRES_PASSWORD", "password")},
		},
	})
}

// databaseLogin is the Secret with the login of a team.
const databaseLogin = "database-login"
