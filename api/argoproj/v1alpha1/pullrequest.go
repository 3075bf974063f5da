package v1alpha1

// PullRequestGenerator gives the open requests of a repository.
type PullRequestGenerator struct {
	// Github asks GitHub.
	Github *PullRequestGeneratorGithub `json:"github,omitempty"`
	// GitLab asks GitLab.
	GitLab *PullRequestGeneratorGitLab `json:"gitlab,omitempty"`
	// Gitea asks a Gitea.
	Gitea *PullRequestGeneratorGitea `json:"gitea,omitempty"`
	// BitbucketServer asks a Bitbucket Server.
	BitbucketServer *PullRequestGeneratorBitbucketServer `json:"bitbucketServer,omitempty"`
	// Filters choose requests: all that is in one of them has to match.
	Filters []PullRequestGeneratorFilter `json:"filters,omitempty"`
	// RequeueAfterSeconds is when to ask again.
	RequeueAfterSeconds *int64 `json:"requeueAfterSeconds,omitempty"`
	// Bitbucket asks Bitbucket Cloud.
	Bitbucket *PullRequestGeneratorBitbucket `json:"bitbucket,omitempty"`
	// AzureDevOps asks Azure DevOps.
	AzureDevOps *PullRequestGeneratorAzureDevOps `json:"azuredevops,omitempty"`
	// Template is laid over that of the ApplicationSet.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Template *ApplicationSetTemplate `json:"template,omitempty"`
	// Values are further parameters.
	Values map[string]string `json:"values,omitempty"`
	// ContinueOnRepoNotFoundError takes a repository that is not there for one without requests.
	ContinueOnRepoNotFoundError bool `json:"continueOnRepoNotFoundError,omitempty"`
}

// PullRequestGeneratorFilter chooses requests.
type PullRequestGeneratorFilter struct {
	// BranchMatch is an expression for their branches.
	BranchMatch *string `json:"branchMatch,omitempty"`
	// TargetBranchMatch is an expression for the branches that they go to.
	TargetBranchMatch *string `json:"targetBranchMatch,omitempty"`
	// TitleMatch is an expression for their titles.
	TitleMatch *string `json:"titleMatch,omitempty"`
}

// PullRequestGeneratorGithub asks GitHub.
type PullRequestGeneratorGithub struct {
	// Owner is a user or an organisation.
	Owner string `json:"owner"`
	// Repo is the name of the repository.
	Repo string `json:"repo"`
	// API is the address, that of the public service by default.
	API string `json:"api,omitempty"`
	// TokenRef names the token.
	TokenRef *SecretRef `json:"tokenRef,omitempty"`
	// AppSecretName names the Secret of a GitHub App.
	AppSecretName string `json:"appSecretName,omitempty"`
	// Labels are those that a request has to carry.
	Labels []string `json:"labels,omitempty"`
}

// PullRequestGeneratorGitLab asks GitLab.
type PullRequestGeneratorGitLab struct {
	// Project is its path or its number.
	Project string `json:"project"`
	// API is the address, that of the public service by default.
	API string `json:"api,omitempty"`
	// TokenRef names the token.
	TokenRef *SecretRef `json:"tokenRef,omitempty"`
	// Labels are those that a request has to carry.
	Labels []string `json:"labels,omitempty"`
	// PullRequestState is that of the requests, open ones by default.
	PullRequestState string `json:"pullRequestState,omitempty"`
	// Insecure does not verify certificates.
	Insecure bool `json:"insecure,omitempty"`
	// CARef names certificates of authorities.
	CARef *ConfigMapKeyRef `json:"caRef,omitempty"`
}

// PullRequestGeneratorGitea asks a Gitea.
type PullRequestGeneratorGitea struct {
	// Owner is a user or an organisation.
	Owner string `json:"owner"`
	// Repo is the name of the repository.
	Repo string `json:"repo"`
	// API is the address.
	API string `json:"api"`
	// TokenRef names the token.
	TokenRef *SecretRef `json:"tokenRef,omitempty"`
	// Insecure does not verify certificates.
	Insecure bool `json:"insecure,omitempty"`
	// Labels are those that a request has to carry.
	Labels []string `json:"labels,omitempty"`
}

// PullRequestGeneratorBitbucketServer asks a Bitbucket Server.
type PullRequestGeneratorBitbucketServer struct {
	// Project is its name.
	Project string `json:"project"`
	// Repo is the name of the repository.
	Repo string `json:"repo"`
	// API is the address.
	API string `json:"api"`
	// BasicAuth is a login by a password.
	BasicAuth *BasicAuthBitbucketServer `json:"basicAuth,omitempty"`
	// BearerToken is a login by a token.
	BearerToken *BearerTokenBitbucket `json:"bearerToken,omitempty"`
	// Insecure does not verify certificates.
	Insecure bool `json:"insecure,omitempty"`
	// CARef names certificates of authorities.
	CARef *ConfigMapKeyRef `json:"caRef,omitempty"`
}

// PullRequestGeneratorBitbucket asks Bitbucket Cloud.
type PullRequestGeneratorBitbucket struct {
	// Owner is the workspace.
	Owner string `json:"owner"`
	// Repo is the name of the repository.
	Repo string `json:"repo"`
	// API is the address, that of the public service by default.
	API string `json:"api,omitempty"`
	// BasicAuth is a login by a password.
	BasicAuth *BasicAuthBitbucketServer `json:"basicAuth,omitempty"`
	// BearerToken is a login by a token.
	BearerToken *BearerTokenBitbucket `json:"bearerToken,omitempty"`
}

// PullRequestGeneratorAzureDevOps asks Azure DevOps.
type PullRequestGeneratorAzureDevOps struct {
	// Organization is its name.
	Organization string `json:"organization"`
	// Project is its name.
	Project string `json:"project"`
	// Repo is the name of the repository.
	Repo string `json:"repo"`
	// API is the address, that of the public service by default.
	API string `json:"api,omitempty"`
	// TokenRef names the token.
	TokenRef *SecretRef `json:"tokenRef,omitempty"`
	// Labels are those that a request has to carry.
	Labels []string `json:"labels,omitempty"`
}

// BasicAuthBitbucketServer is a login by a password.
type BasicAuthBitbucketServer struct {
	// Username is who asks.
	Username string `json:"username"`
	// PasswordRef names the password.
	PasswordRef *SecretRef `json:"passwordRef"`
}

// BearerTokenBitbucket is a login by a token.
type BearerTokenBitbucket struct {
	// TokenRef names the token.
	TokenRef *SecretRef `json:"tokenRef"`
}

// SecretRef names a key of a Secret.
type SecretRef struct {
	// SecretName is the Secret.
	SecretName string `json:"secretName"`
	// Key in it.
	Key string `json:"key"`
}

// ConfigMapKeyRef names a key of a ConfigMap.
type ConfigMapKeyRef struct {
	// ConfigMapName is the ConfigMap.
	ConfigMapName string `json:"configMapName"`
	// Key in it.
	Key string `json:"key"`
}
