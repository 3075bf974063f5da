package v1

// VaultProvider is HashiCorp Vault or OpenBao.
type VaultProvider struct {
	// Server is the address.
	Server string `json:"server"`
	// Auth is how the store logs in.
	Auth *VaultAuth `json:"auth,omitempty"`
	// Path of the engine of secrets.
	Path string `json:"path,omitempty"`
	// Version of the engine is v2, the default, or v1.
	// +kubebuilder:validation:Enum=v1;v2
	// +kubebuilder:default=v2
	Version string `json:"version,omitempty"`
	// Namespace of Vault.
	Namespace string `json:"namespace,omitempty"`
	// CABundle are certificates of an authority, in Base64.
	CABundle []byte `json:"caBundle,omitempty"`
	// CAProvider names them.
	CAProvider *CAProvider `json:"caProvider,omitempty"`
	// TLS is the certificate of the store.
	// +optional
	TLS VaultTLS `json:"tls,omitzero"`
	// ReadYourWrites has reads wait for writes.
	ReadYourWrites bool `json:"readYourWrites,omitempty"`
	// ForwardInconsistent has reads forwarded.
	ForwardInconsistent bool `json:"forwardInconsistent,omitempty"`
	// Headers of requests.
	Headers map[string]string `json:"headers,omitempty"`
	// CheckAndSet writes a value only over the one that was read.
	CheckAndSet *VaultCheckAndSet `json:"checkAndSet,omitempty"`
}

// VaultTLS is a certificate in Secrets.
type VaultTLS struct {
	// Cert is the certificate.
	Cert *SecretKeySelector `json:"certSecretRef,omitempty"`
	// Key is its key.
	Key *SecretKeySelector `json:"keySecretRef,omitempty"`
}

// VaultCheckAndSet says how values are written.
type VaultCheckAndSet struct {
	// Required by the engine.
	Required bool `json:"required,omitempty"`
}

// VaultAuth is how a store logs in to Vault; exactly one is set, beside the namespace.
type VaultAuth struct {
	// Namespace of the login.
	Namespace string `json:"namespace,omitempty"`
	// Token is a token in a Secret.
	Token *SecretKeySelector `json:"tokenSecretRef,omitempty"`
	// AppRole is a role with a secret.
	AppRole *VaultAppRole `json:"appRole,omitempty"`
	// Kubernetes is a ServiceAccount.
	Kubernetes *VaultKubernetes `json:"kubernetes,omitempty"`
	// LDAP is a name and a password.
	LDAP *VaultLogin `json:"ldap,omitempty"`
	// UserPass is a name and a password.
	UserPass *VaultLogin `json:"userPass,omitempty"`
	// JWT is a token, or a ServiceAccount.
	JWT *VaultJWT `json:"jwt,omitempty"`
	// Cert is a certificate.
	Cert *VaultCert `json:"cert,omitempty"`
	// IAM is an identity of AWS.
	IAM *VaultIAM `json:"iam,omitempty"`
	// GCP is an identity of Google Cloud.
	GCP *VaultGCP `json:"gcp,omitempty"`
}

// VaultAppRole is a role with a secret.
type VaultAppRole struct {
	// Path of the method, approle by default.
	// +kubebuilder:default=approle
	Path string `json:"path"`
	// RoleID of the role.
	RoleID string `json:"roleId,omitempty"`
	// RoleRef has it in a Secret.
	RoleRef *SecretKeySelector `json:"roleRef,omitempty"`
	// SecretRef is the secret.
	SecretRef SecretKeySelector `json:"secretRef"`
}

// VaultKubernetes is a ServiceAccount.
type VaultKubernetes struct {
	// MountPath of the method, kubernetes by default.
	// +kubebuilder:default=kubernetes
	MountPath string `json:"mountPath"`
	// Role of the login.
	Role string `json:"role"`
	// ServiceAccountRef is the account; none is that of the controller.
	ServiceAccountRef *ServiceAccountSelector `json:"serviceAccountRef,omitempty"`
	// SecretRef is a token in a Secret.
	SecretRef *SecretKeySelector `json:"secretRef,omitempty"`
}

// VaultLogin is a name and a password.
type VaultLogin struct {
	// Path of the method.
	Path string `json:"path"`
	// Username is the name.
	Username string `json:"username"`
	// SecretRef is the password.
	// +optional
	SecretRef SecretKeySelector `json:"secretRef,omitzero"`
}

// VaultJWT is a token, or a ServiceAccount.
type VaultJWT struct {
	// Path of the method, jwt by default.
	// +kubebuilder:default=jwt
	Path string `json:"path"`
	// Role of the login.
	Role string `json:"role,omitempty"`
	// SecretRef is a token in a Secret.
	SecretRef *SecretKeySelector `json:"secretRef,omitempty"`
	// ServiceAccountToken is that of a ServiceAccount.
	ServiceAccountToken *VaultServiceAccountToken `json:"kubernetesServiceAccountToken,omitempty"`
}

// VaultServiceAccountToken is the token of a ServiceAccount.
type VaultServiceAccountToken struct {
	// ServiceAccountRef is the account.
	ServiceAccountRef ServiceAccountSelector `json:"serviceAccountRef"`
	// Audiences of the token; those of ServiceAccountRef are preferred.
	Audiences []string `json:"audiences,omitempty"`
	// ExpirationSeconds of the token.
	ExpirationSeconds int64 `json:"expirationSeconds,omitempty"`
}

// VaultCert is a certificate in Secrets.
type VaultCert struct {
	// Path of the method, cert by default.
	// +kubebuilder:default=cert
	Path string `json:"path,omitempty"`
	// ClientCert is the certificate.
	// +optional
	ClientCert SecretKeySelector `json:"clientCert,omitzero"`
	// SecretRef is its key.
	// +optional
	SecretRef SecretKeySelector `json:"secretRef,omitzero"`
}

// VaultIAM is an identity of AWS.
type VaultIAM struct {
	// Path of the method.
	Path string `json:"path,omitempty"`
	// VaultRole of the login.
	VaultRole string `json:"vaultRole"`
	// Region of AWS.
	Region string `json:"region,omitempty"`
	// Role of AWS that is assumed.
	Role string `json:"role,omitempty"`
	// ExternalID for the role.
	ExternalID string `json:"externalID,omitempty"`
	// ServerID that Vault demands.
	ServerID string `json:"vaultAwsIamServerID,omitempty"`
	// JWT is the token of a ServiceAccount.
	JWT *AWSJWTAuth `json:"jwt,omitempty"`
	// SecretRef are keys in Secrets.
	SecretRef *AWSSecretRef `json:"secretRef,omitempty"`
}

// VaultGCP is an identity of Google Cloud.
type VaultGCP struct {
	// Path of the method, gcp by default.
	// +kubebuilder:default=gcp
	Path string `json:"path,omitempty"`
	// Role of the login.
	Role string `json:"role"`
	// ProjectID of the project.
	ProjectID string `json:"projectID,omitempty"`
	// Location of the cluster.
	Location string `json:"location,omitempty"`
	// SecretRef is a key in a Secret.
	SecretRef *GCPSecretRef `json:"secretRef,omitempty"`
	// WorkloadIdentity is that of GKE.
	WorkloadIdentity *GCPWorkloadIdentity `json:"workloadIdentity,omitempty"`
	// ServiceAccountRef is the account of a cluster.
	ServiceAccountRef *ServiceAccountSelector `json:"serviceAccountRef,omitempty"`
}
