package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
)

// GithubAccessToken gets a token of an installation of a GitHub App.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:categories={external-secrets,external-secrets-generators}
type GithubAccessToken struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// Spec is the App and what the token is for.
	// +optional
	Spec GithubAccessTokenSpec `json:"spec,omitzero"`
}

// GithubAccessTokenList is a list of GithubAccessTokens.
//
// +kubebuilder:object:root=true
type GithubAccessTokenList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []GithubAccessToken `json:"items"`
}

// GithubAccessTokenSpec is a GitHub App, and what a token of it is for.
//
// +kubebuilder:validation:XValidation:rule="has(self.appID) != has(self.appIDRef)",message="exactly one of appID or appIDRef must be set"
// +kubebuilder:validation:XValidation:rule="has(self.installID) != has(self.installIDRef)",message="exactly one of installID or installIDRef must be set"
type GithubAccessTokenSpec struct {
	// URL of the API; none is that of github.com.
	URL string `json:"url,omitempty"`
	// AppID of the App.
	AppID string `json:"appID,omitempty"`
	// AppIDRef is a key with it.
	AppIDRef *esv1.SecretKeySelector `json:"appIDRef,omitempty"`
	// InstallID is the number of the installation.
	InstallID string `json:"installID,omitempty"`
	// InstallIDRef is a key with it.
	InstallIDRef *esv1.SecretKeySelector `json:"installIDRef,omitempty"`
	// Repositories that the token is for; none are all of the installation.
	Repositories []string `json:"repositories,omitempty"`
	// Permissions of the token; none are all of the App.
	Permissions map[string]string `json:"permissions,omitempty"`
	// Auth is how the App logs in.
	Auth GithubAuth `json:"auth"`
}

// GithubAuth is how a GitHub App logs in.
type GithubAuth struct {
	// PrivateKey is a key of the App.
	PrivateKey GithubSecretRef `json:"privateKey"`
}

// GithubSecretRef names a key in a Secret.
type GithubSecretRef struct {
	// SecretRef is the key.
	SecretRef esv1.SecretKeySelector `json:"secretRef"`
}
