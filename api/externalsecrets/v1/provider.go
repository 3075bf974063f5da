package v1

// FakeProvider has the values in the store itself.
type FakeProvider struct {
	// Data are the values.
	Data []FakeData `json:"data"`
	// ValidationResult is what the validation of the store gives.
	ValidationResult *int `json:"validationResult,omitempty"`
}

// FakeData is a value.
type FakeData struct {
	// Key of it.
	Key string `json:"key"`
	// Value of it.
	Value string `json:"value"`
	// Version of it.
	Version string `json:"version,omitempty"`
}

// GitLabProvider has variables of projects and groups.
type GitLabProvider struct {
	// Auth is how the store logs in.
	Auth GitLabAuth `json:"auth"`
	// URL of the server; none is gitlab.com.
	URL string `json:"url,omitempty"`
	// ProjectID of the project.
	ProjectID string `json:"projectID,omitempty"`
	// GroupIDs of groups.
	GroupIDs []string `json:"groupIDs,omitempty"`
	// InheritFromGroups takes the groups of the project.
	InheritFromGroups bool `json:"inheritFromGroups,omitempty"`
	// Environment of the variables.
	Environment string `json:"environment,omitempty"`
	// CABundle are certificates of an authority, in Base64.
	CABundle []byte `json:"caBundle,omitempty"`
	// CAProvider names them.
	CAProvider *CAProvider `json:"caProvider,omitempty"`
}

// GitLabAuth is how a store logs in to GitLab.
type GitLabAuth struct {
	// SecretRef is a token in a Secret.
	SecretRef GitLabSecretRef `json:"SecretRef"`
}

// GitLabSecretRef is a token for GitLab in a Secret.
type GitLabSecretRef struct {
	// AccessToken is the token.
	// +optional
	AccessToken SecretKeySelector `json:"accessToken,omitzero"`
}

// KubernetesProvider has Secrets of a cluster.
type KubernetesProvider struct {
	// Server is the cluster; none is this one.
	// +optional
	Server KubernetesServer `json:"server,omitzero"`
	// Auth is how the store logs in.
	Auth *KubernetesAuth `json:"auth,omitempty"`
	// AuthRef is a kubeconfig in a Secret.
	AuthRef *SecretKeySelector `json:"authRef,omitempty"`
	// RemoteNamespace of the Secrets, "default" by default.
	// +kubebuilder:default=default
	RemoteNamespace string `json:"remoteNamespace,omitempty"`
}

// KubernetesServer is a cluster.
type KubernetesServer struct {
	// URL of its API, kubernetes.default by default.
	// +kubebuilder:default=kubernetes.default
	URL string `json:"url,omitempty"`
	// CABundle are certificates of an authority, in Base64.
	CABundle []byte `json:"caBundle,omitempty"`
	// CAProvider names them.
	CAProvider *CAProvider `json:"caProvider,omitempty"`
}

// KubernetesAuth is how a store logs in to a cluster; exactly one is set.
type KubernetesAuth struct {
	// Cert is a certificate.
	Cert *KubernetesCert `json:"cert,omitempty"`
	// Token is a token.
	Token *KubernetesToken `json:"token,omitempty"`
	// ServiceAccount is an account of this cluster.
	ServiceAccount *ServiceAccountSelector `json:"serviceAccount,omitempty"`
}

// KubernetesCert is a certificate in Secrets.
type KubernetesCert struct {
	// ClientCert is the certificate.
	// +optional
	ClientCert SecretKeySelector `json:"clientCert,omitzero"`
	// ClientKey is its key.
	// +optional
	ClientKey SecretKeySelector `json:"clientKey,omitzero"`
}

// KubernetesToken is a token in a Secret.
type KubernetesToken struct {
	// BearerToken is the token.
	// +optional
	BearerToken SecretKeySelector `json:"bearerToken,omitzero"`
}

// OnePasswordProvider is 1Password Connect.
type OnePasswordProvider struct {
	// Auth is how the store logs in.
	Auth OnePasswordAuth `json:"auth"`
	// ConnectHost is the address of the server.
	ConnectHost string `json:"connectHost"`
	// Vaults by their names, each with its place in the order of search.
	Vaults map[string]int `json:"vaults"`
}

// OnePasswordAuth is how a store logs in to 1Password Connect.
type OnePasswordAuth struct {
	// SecretRef is a token in a Secret.
	SecretRef OnePasswordSecretRef `json:"secretRef"`
}

// OnePasswordSecretRef is a token for 1Password Connect in a Secret.
type OnePasswordSecretRef struct {
	// ConnectToken is the token.
	ConnectToken SecretKeySelector `json:"connectTokenSecretRef"`
}

// OnePasswordSDKProvider is 1Password without a server of one's own.
type OnePasswordSDKProvider struct {
	// Auth is how the store logs in.
	Auth OnePasswordSDKAuth `json:"auth"`
	// Vault of the items, by its name or ID.
	Vault string `json:"vault"`
	// IntegrationInfo is how the store names itself.
	IntegrationInfo *OnePasswordIntegration `json:"integrationInfo,omitempty"`
	// Cache remembers items.
	Cache *OnePasswordCache `json:"cache,omitempty"`
}

// OnePasswordSDKAuth is how a store logs in to 1Password.
type OnePasswordSDKAuth struct {
	// ServiceAccount is the token of an account.
	ServiceAccount SecretKeySelector `json:"serviceAccountSecretRef"`
}

// OnePasswordIntegration is how a store names itself.
type OnePasswordIntegration struct {
	// Name of it.
	Name string `json:"name,omitempty"`
	// Version of it.
	Version string `json:"version,omitempty"`
}

// OnePasswordCache remembers items.
type OnePasswordCache struct {
	// TTL is for how long, 5m by default.
	TTL string `json:"ttl,omitempty"`
	// MaxSize is how many, 100 by default.
	MaxSize int `json:"maxSize,omitempty"`
}

// WebhookProvider asks any HTTP server.
type WebhookProvider struct {
	// URL is a template with .remoteRef and the Secrets by their names.
	URL string `json:"url"`
	// Method is GET by default.
	Method string `json:"method,omitempty"`
	// Headers are templates.
	Headers map[string]string `json:"headers,omitempty"`
	// Body is a template.
	Body string `json:"body,omitempty"`
	// Timeout of a request.
	Timeout string `json:"timeout,omitempty"`
	// Auth is how the store logs in.
	Auth *WebhookAuth `json:"auth,omitempty"`
	// Result says where the value is in the response.
	// +optional
	Result WebhookResult `json:"result,omitzero"`
	// Secrets for the templates.
	Secrets []WebhookSecret `json:"secrets,omitempty"`
	// CABundle are certificates of an authority, in Base64.
	CABundle []byte `json:"caBundle,omitempty"`
	// CAProvider names them.
	CAProvider *CAProvider `json:"caProvider,omitempty"`
}

// WebhookAuth is how a store logs in.
type WebhookAuth struct {
	// NTLM is a name and a password.
	NTLM *WebhookNTLM `json:"ntlm,omitempty"`
}

// WebhookNTLM is a name and a password in Secrets.
type WebhookNTLM struct {
	// Username is the name.
	Username SecretKeySelector `json:"usernameSecret"`
	// Password is the password.
	Password SecretKeySelector `json:"passwordSecret"`
}

// WebhookResult says where the value is in a response.
type WebhookResult struct {
	// JSONPath of the value.
	JSONPath string `json:"jsonPath,omitempty"`
}

// WebhookSecret is a Secret for templates.
type WebhookSecret struct {
	// Name of it in the templates.
	Name string `json:"name"`
	// SecretRef is the Secret.
	SecretRef SecretKeySelector `json:"secretRef"`
}
