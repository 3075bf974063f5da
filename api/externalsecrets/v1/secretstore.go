package v1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SecretStore is where ExternalSecrets of its namespace get their values.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:categories={external-secrets},shortName=ss
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Capabilities",type=string,JSONPath=`.status.capabilities`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
type SecretStore struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// Spec is what is wanted.
	// +optional
	Spec SecretStoreSpec `json:"spec,omitzero"`
	// Status is what was observed last.
	// +optional
	Status SecretStoreStatus `json:"status,omitzero"`
}

// SecretStoreList is a list of SecretStores.
//
// +kubebuilder:object:root=true
type SecretStoreList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []SecretStore `json:"items"`
}

// ClusterSecretStore is where ExternalSecrets of all namespaces get their values.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,categories={external-secrets},shortName=css
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Capabilities",type=string,JSONPath=`.status.capabilities`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
type ClusterSecretStore struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// Spec is what is wanted.
	// +optional
	Spec SecretStoreSpec `json:"spec,omitzero"`
	// Status is what was observed last.
	// +optional
	Status SecretStoreStatus `json:"status,omitzero"`
}

// ClusterSecretStoreList is a list of ClusterSecretStores.
//
// +kubebuilder:object:root=true
type ClusterSecretStoreList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterSecretStore `json:"items"`
}

// SecretStoreSpec is what a store declares.
type SecretStoreSpec struct {
	// Controller that serves the store; none is any.
	Controller string `json:"controller,omitempty"`
	// Provider of the values; exactly one is set.
	Provider *Provider `json:"provider"`
	// RetrySettings say how often a failed request is repeated.
	RetrySettings *RetrySettings `json:"retrySettings,omitempty"`
	// RefreshInterval in seconds is how often the store is checked; 0 is that of the controller.
	RefreshInterval int `json:"refreshInterval,omitempty"`
	// Conditions are namespaces that may use a ClusterSecretStore, one of which has to match.
	Conditions []NamespaceCondition `json:"conditions,omitempty"`
}

// RetrySettings say how often a failed request is repeated.
type RetrySettings struct {
	// MaxRetries is how often.
	MaxRetries *int32 `json:"maxRetries,omitempty"`
	// RetryInterval is the time between two requests.
	RetryInterval string `json:"retryInterval,omitempty"`
}

// NamespaceCondition are namespaces.
type NamespaceCondition struct {
	// NamespaceSelector selects them by labels.
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`
	// Namespaces by their names.
	Namespaces []string `json:"namespaces,omitempty"`
	// NamespaceRegexes are regular expressions for their names.
	NamespaceRegexes []string `json:"namespaceRegexes,omitempty"`
}

// Provider configures where the values are: exactly one is set. Those without a type are kept as they are written.
//
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:validation:MaxProperties=1
type Provider struct {
	// AWS Secrets Manager and Parameter Store.
	AWS *AWSProvider `json:"aws,omitempty"`
	// AzureKV is Azure Key Vault.
	AzureKV *AzureKVProvider `json:"azurekv,omitempty"`
	// Fake has the values in the store itself.
	Fake *FakeProvider `json:"fake,omitempty"`
	// GCPSM is the Secret Manager of Google Cloud.
	GCPSM *GCPSMProvider `json:"gcpsm,omitempty"`
	// GitLab has variables of projects and groups.
	GitLab *GitLabProvider `json:"gitlab,omitempty"`
	// Kubernetes has Secrets of a cluster.
	Kubernetes *KubernetesProvider `json:"kubernetes,omitempty"`
	// OnePassword is 1Password Connect.
	OnePassword *OnePasswordProvider `json:"onepassword,omitempty"`
	// OnePasswordSDK is 1Password without a server of one's own.
	OnePasswordSDK *OnePasswordSDKProvider `json:"onepasswordSDK,omitempty"`
	// Vault is HashiCorp Vault or OpenBao.
	Vault *VaultProvider `json:"vault,omitempty"`
	// Webhook asks any HTTP server.
	Webhook *WebhookProvider `json:"webhook,omitempty"`

	// Providers that are kept as they are written.
	Akeyless                       *apiextensionsv1.JSON `json:"akeyless,omitempty"`
	Alibaba                        *apiextensionsv1.JSON `json:"alibaba,omitempty"`
	Barbican                       *apiextensionsv1.JSON `json:"barbican,omitempty"`
	Beyondtrust                    *apiextensionsv1.JSON `json:"beyondtrust,omitempty"`
	BeyondtrustWorkloadCredentials *apiextensionsv1.JSON `json:"beyondtrustworkloadcredentials,omitempty"`
	BitwardenSecretsManager        *apiextensionsv1.JSON `json:"bitwardensecretsmanager,omitempty"`
	Chef                           *apiextensionsv1.JSON `json:"chef,omitempty"`
	CloudruSM                      *apiextensionsv1.JSON `json:"cloudrusm,omitempty"`
	Conjur                         *apiextensionsv1.JSON `json:"conjur,omitempty"`
	Delinea                        *apiextensionsv1.JSON `json:"delinea,omitempty"`
	Device42                       *apiextensionsv1.JSON `json:"device42,omitempty"`
	Doppler                        *apiextensionsv1.JSON `json:"doppler,omitempty"`
	DVLS                           *apiextensionsv1.JSON `json:"dvls,omitempty"`
	Fortanix                       *apiextensionsv1.JSON `json:"fortanix,omitempty"`
	GitHub                         *apiextensionsv1.JSON `json:"github,omitempty"`
	IBM                            *apiextensionsv1.JSON `json:"ibm,omitempty"`
	Infisical                      *apiextensionsv1.JSON `json:"infisical,omitempty"`
	KeeperSecurity                 *apiextensionsv1.JSON `json:"keepersecurity,omitempty"`
	NebiusMysterybox               *apiextensionsv1.JSON `json:"nebiusmysterybox,omitempty"`
	Ngrok                          *apiextensionsv1.JSON `json:"ngrok,omitempty"`
	Onboardbase                    *apiextensionsv1.JSON `json:"onboardbase,omitempty"`
	Oracle                         *apiextensionsv1.JSON `json:"oracle,omitempty"`
	OVHcloud                       *apiextensionsv1.JSON `json:"ovh,omitempty"`
	Passbolt                       *apiextensionsv1.JSON `json:"passbolt,omitempty"`
	PasswordDepot                  *apiextensionsv1.JSON `json:"passworddepot,omitempty"`
	Previder                       *apiextensionsv1.JSON `json:"previder,omitempty"`
	Pulumi                         *apiextensionsv1.JSON `json:"pulumi,omitempty"`
	Scaleway                       *apiextensionsv1.JSON `json:"scaleway,omitempty"`
	SecretServer                   *apiextensionsv1.JSON `json:"secretserver,omitempty"`
	Senhasegura                    *apiextensionsv1.JSON `json:"senhasegura,omitempty"`
	Volcengine                     *apiextensionsv1.JSON `json:"volcengine,omitempty"`
	YandexCertificateManager       *apiextensionsv1.JSON `json:"yandexcertificatemanager,omitempty"`
	YandexLockbox                  *apiextensionsv1.JSON `json:"yandexlockbox,omitempty"`
}

// SecretStoreStatus is what became of a store.
type SecretStoreStatus struct {
	// Conditions say where it stands.
	Conditions []Condition `json:"conditions,omitempty"`
	// Capabilities are ReadOnly, WriteOnly or ReadWrite.
	Capabilities string `json:"capabilities,omitempty"`
}
