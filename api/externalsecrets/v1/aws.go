package v1

// AWSProvider is AWS Secrets Manager or Parameter Store.
type AWSProvider struct {
	// Service is SecretsManager or ParameterStore.
	// +kubebuilder:validation:Enum=SecretsManager;ParameterStore
	Service string `json:"service"`
	// Region of the service.
	Region string `json:"region"`
	// Role that is assumed.
	Role string `json:"role,omitempty"`
	// AdditionalRoles are assumed one after the other before Role.
	AdditionalRoles []string `json:"additionalRoles,omitempty"`
	// ExternalID for the role.
	ExternalID string `json:"externalID,omitempty"`
	// Auth is how the store logs in; none is the environment of the controller.
	// +optional
	Auth AWSAuth `json:"auth,omitzero"`
	// SecretsManager says how values are deleted there.
	SecretsManager *AWSSecretsManager `json:"secretsManager,omitempty"`
	// SessionTags of the session.
	SessionTags []*AWSTag `json:"sessionTags,omitempty"`
	// TransitiveTagKeys are tags that are forwarded to further roles.
	TransitiveTagKeys []string `json:"transitiveTagKeys,omitempty"`
	// Prefix of all keys.
	Prefix string `json:"prefix,omitempty"`
}

// AWSAuth is how a store logs in to AWS.
type AWSAuth struct {
	// JWT is the token of a ServiceAccount.
	JWT *AWSJWTAuth `json:"jwt,omitempty"`
	// SecretRef are keys in Secrets.
	SecretRef *AWSSecretRef `json:"secretRef,omitempty"`
}

// AWSJWTAuth is a ServiceAccount for AWS.
type AWSJWTAuth struct {
	// ServiceAccountRef is the account.
	ServiceAccountRef *ServiceAccountSelector `json:"serviceAccountRef,omitempty"`
}

// AWSSecretRef are keys for AWS in Secrets.
type AWSSecretRef struct {
	// AccessKeyID of the key.
	// +optional
	AccessKeyID SecretKeySelector `json:"accessKeyIDSecretRef,omitzero"`
	// SecretAccessKey of the key.
	// +optional
	SecretAccessKey SecretKeySelector `json:"secretAccessKeySecretRef,omitzero"`
	// SessionToken of a temporary key.
	SessionToken *SecretKeySelector `json:"sessionTokenSecretRef,omitempty"`
}

// AWSSecretsManager says how values are deleted.
type AWSSecretsManager struct {
	// ForceDeleteWithoutRecovery deletes at once.
	ForceDeleteWithoutRecovery bool `json:"forceDeleteWithoutRecovery,omitempty"`
	// RecoveryWindowInDays is how long they can be recovered.
	RecoveryWindowInDays int64 `json:"recoveryWindowInDays,omitempty"`
}

// AWSTag is a tag of a session.
type AWSTag struct {
	// Key of it.
	Key string `json:"key"`
	// Value of it.
	Value string `json:"value"`
}
