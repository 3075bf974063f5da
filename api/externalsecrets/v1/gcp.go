package v1

// GCPSMProvider is the Secret Manager of Google Cloud.
type GCPSMProvider struct {
	// Auth is how the store logs in; none is the environment of the controller.
	// +optional
	Auth GCPAuth `json:"auth,omitzero"`
	// ProjectID of the project.
	ProjectID string `json:"projectID,omitempty"`
	// Location of regional secrets.
	Location string `json:"location,omitempty"`
	// SecretVersionSelectionPolicy is LatestOrFail, the default, or LatestOrFetch.
	// +kubebuilder:default=LatestOrFail
	SecretVersionSelectionPolicy string `json:"secretVersionSelectionPolicy,omitempty"`
}

// GCPAuth is how a store logs in to Google Cloud.
type GCPAuth struct {
	// SecretRef is a key in a Secret.
	SecretRef *GCPSecretRef `json:"secretRef,omitempty"`
	// WorkloadIdentity is that of GKE.
	WorkloadIdentity *GCPWorkloadIdentity `json:"workloadIdentity,omitempty"`
	// WorkloadIdentityFederation is that of any cluster.
	WorkloadIdentityFederation *GCPFederation `json:"workloadIdentityFederation,omitempty"`
}

// GCPSecretRef is a key for Google Cloud in a Secret.
type GCPSecretRef struct {
	// SecretAccessKey is the key.
	// +optional
	SecretAccessKey SecretKeySelector `json:"secretAccessKeySecretRef,omitzero"`
}

// GCPWorkloadIdentity is a ServiceAccount of GKE.
type GCPWorkloadIdentity struct {
	// ServiceAccountRef is the account.
	ServiceAccountRef ServiceAccountSelector `json:"serviceAccountRef"`
	// ClusterLocation of the cluster.
	ClusterLocation string `json:"clusterLocation,omitempty"`
	// ClusterName of the cluster.
	ClusterName string `json:"clusterName,omitempty"`
	// ClusterProjectID of the cluster.
	ClusterProjectID string `json:"clusterProjectID,omitempty"`
}

// GCPFederation is an identity of another cloud or cluster.
type GCPFederation struct {
	// CredConfig names a ConfigMap with the configuration.
	CredConfig *GCPConfigMapKey `json:"credConfig,omitempty"`
	// ServiceAccountRef is the account of a cluster.
	ServiceAccountRef *ServiceAccountSelector `json:"serviceAccountRef,omitempty"`
	// AWS are credentials of AWS.
	AWS *GCPFromAWS `json:"awsSecurityCredentials,omitempty"`
	// Audience of the token.
	Audience string `json:"audience,omitempty"`
	// ExternalTokenEndpoint that gives tokens.
	ExternalTokenEndpoint string `json:"externalTokenEndpoint,omitempty"`
}

// GCPConfigMapKey names a key of a ConfigMap.
type GCPConfigMapKey struct {
	// Name of the ConfigMap.
	Name string `json:"name"`
	// Key in it.
	Key string `json:"key"`
	// Namespace of it, for ClusterSecretStores.
	Namespace string `json:"namespace,omitempty"`
}

// GCPFromAWS are credentials of AWS for Google Cloud.
type GCPFromAWS struct {
	// CredentialsRef names the Secret.
	CredentialsRef SecretName `json:"awsCredentialsSecretRef"`
	// Region of AWS.
	Region string `json:"region"`
}

// SecretName names a Secret.
type SecretName struct {
	// Name of it.
	Name string `json:"name"`
	// Namespace of it, for ClusterSecretStores.
	Namespace string `json:"namespace,omitempty"`
}
