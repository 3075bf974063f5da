package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterGenerator is a generator for every namespace.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,categories={external-secrets,external-secrets-generators}
type ClusterGenerator struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// Spec is the generator.
	// +optional
	Spec ClusterGeneratorSpec `json:"spec,omitzero"`
}

// ClusterGeneratorList is a list of ClusterGenerators.
//
// +kubebuilder:object:root=true
type ClusterGeneratorList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterGenerator `json:"items"`
}

// ClusterGeneratorSpec names a kind of generators, and what it generates of.
type ClusterGeneratorSpec struct {
	// Kind of the generator.
	// +kubebuilder:validation:Enum=ACRAccessToken;BeyondtrustWorkloadCredentialsDynamicSecret;CloudsmithAccessToken;ECRAuthorizationToken;Fake;GCRAccessToken;GithubAccessToken;QuayAccessToken;Password;SSHKey;STSSessionToken;UUID;VaultDynamicSecret;Webhook;Grafana;MFA
	Kind string `json:"kind"`
	// Generator is that of the kind.
	Generator GeneratorSpec `json:"generator"`
}

// GeneratorSpec has the spec of one kind of generators. Those of kinds that have no types are kept as they are written.
//
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:validation:MaxProperties=1
type GeneratorSpec struct {
	// PasswordSpec is that of a Password.
	PasswordSpec *PasswordSpec `json:"passwordSpec,omitempty"`
	// UUIDSpec is that of a UUID.
	UUIDSpec *UUIDSpec `json:"uuidSpec,omitempty"`
	// WebhookSpec is that of a Webhook.
	WebhookSpec *WebhookSpec `json:"webhookSpec,omitempty"`
	// GithubAccessTokenSpec is that of a GithubAccessToken.
	GithubAccessTokenSpec *GithubAccessTokenSpec `json:"githubAccessTokenSpec,omitempty"`

	ACRAccessTokenSpec        *apiextensionsv1.JSON `json:"acrAccessTokenSpec,omitempty"`
	CloudsmithAccessTokenSpec *apiextensionsv1.JSON `json:"cloudsmithAccessTokenSpec,omitempty"`
	ECRAuthorizationTokenSpec *apiextensionsv1.JSON `json:"ecrAuthorizationTokenSpec,omitempty"`
	FakeSpec                  *apiextensionsv1.JSON `json:"fakeSpec,omitempty"`
	GCRAccessTokenSpec        *apiextensionsv1.JSON `json:"gcrAccessTokenSpec,omitempty"`
	GrafanaSpec               *apiextensionsv1.JSON `json:"grafanaSpec,omitempty"`
	MFASpec                   *apiextensionsv1.JSON `json:"mfaSpec,omitempty"`
	QuayAccessTokenSpec       *apiextensionsv1.JSON `json:"quayAccessTokenSpec,omitempty"`
	SSHKeySpec                *apiextensionsv1.JSON `json:"sshKeySpec,omitempty"`
	STSSessionTokenSpec       *apiextensionsv1.JSON `json:"stsSessionTokenSpec,omitempty"`
	VaultDynamicSecretSpec    *apiextensionsv1.JSON `json:"vaultDynamicSecretSpec,omitempty"`
}
