package v1

// AzureAuthType is how a store logs in to Azure.
//
// +kubebuilder:validation:Enum=ServicePrincipal;ManagedIdentity;WorkloadIdentity
type AzureAuthType string

// The ways to log in to Azure.
const (
	AzureServicePrincipal AzureAuthType = "ServicePrincipal"
	AzureManagedIdentity  AzureAuthType = "ManagedIdentity"
	AzureWorkloadIdentity AzureAuthType = "WorkloadIdentity"
)

// AzureKVProvider is Azure Key Vault.
type AzureKVProvider struct {
	// AuthType is ServicePrincipal by default.
	// +kubebuilder:default=ServicePrincipal
	AuthType AzureAuthType `json:"authType,omitempty"`
	// VaultURL of the vault.
	VaultURL string `json:"vaultUrl"`
	// TenantID of the tenant, for a service principal.
	TenantID string `json:"tenantId,omitempty"`
	// EnvironmentType is PublicCloud by default.
	// +kubebuilder:validation:Enum=PublicCloud;USGovernmentCloud;ChinaCloud;GermanCloud;AzureStackCloud
	// +kubebuilder:default=PublicCloud
	EnvironmentType string `json:"environmentType,omitempty"`
	// AuthSecretRef are credentials in Secrets.
	AuthSecretRef *AzureSecretRef `json:"authSecretRef,omitempty"`
	// ServiceAccountRef is the account for WorkloadIdentity.
	ServiceAccountRef *ServiceAccountSelector `json:"serviceAccountRef,omitempty"`
	// IdentityID of a managed identity.
	IdentityID string `json:"identityId,omitempty"`
	// UseAzureSDK takes the newer of two clients.
	UseAzureSDK bool `json:"useAzureSDK,omitempty"`
	// CustomCloudConfig are the addresses of a cloud of one's own.
	CustomCloudConfig *AzureCustomCloud `json:"customCloudConfig,omitempty"`
}

// AzureSecretRef are credentials for Azure in Secrets.
type AzureSecretRef struct {
	// TenantID of the tenant.
	TenantID *SecretKeySelector `json:"tenantId,omitempty"`
	// ClientID of the principal or identity.
	ClientID *SecretKeySelector `json:"clientId,omitempty"`
	// ClientSecret of the principal.
	ClientSecret *SecretKeySelector `json:"clientSecret,omitempty"`
	// ClientCertificate of the principal.
	ClientCertificate *SecretKeySelector `json:"clientCertificate,omitempty"`
}

// AzureCustomCloud are the addresses of a cloud.
type AzureCustomCloud struct {
	// ActiveDirectoryEndpoint for logins.
	ActiveDirectoryEndpoint string `json:"activeDirectoryEndpoint"`
	// KeyVaultEndpoint for tokens.
	KeyVaultEndpoint string `json:"keyVaultEndpoint,omitempty"`
	// KeyVaultDNSSuffix of vaults.
	KeyVaultDNSSuffix string `json:"keyVaultDNSSuffix,omitempty"`
	// ResourceManagerEndpoint of the resource manager.
	ResourceManagerEndpoint string `json:"resourceManagerEndpoint,omitempty"`
}
