package v1alpha1

// SCMProviderGenerator gives the repositories of a forge.
type SCMProviderGenerator struct {
	// Github asks GitHub.
	Github *SCMProviderGeneratorGithub `json:"github,omitempty"`
	// Gitlab asks GitLab.
	Gitlab *SCMProviderGeneratorGitlab `json:"gitlab,omitempty"`
	// Bitbucket asks Bitbucket Cloud.
	Bitbucket *SCMProviderGeneratorBitbucket `json:"bitbucket,omitempty"`
	// BitbucketServer asks a Bitbucket Server.
	BitbucketServer *SCMProviderGeneratorBitbucketServer `json:"bitbucketServer,omitempty"`
	// Gitea asks a Gitea.
	Gitea *SCMProviderGeneratorGitea `json:"gitea,omitempty"`
	// AzureDevOps asks Azure DevOps.
	AzureDevOps *SCMProviderGeneratorAzureDevOps `json:"azureDevOps,omitempty"`
	// Filters choose repositories: all that is in one of them has to match.
	Filters []SCMProviderGeneratorFilter `json:"filters,omitempty"`
	// CloneProtocol is that of the addresses, ssh or https.
	CloneProtocol string `json:"cloneProtocol,omitempty"`
	// RequeueAfterSeconds is when to ask again.
	RequeueAfterSeconds *int64 `json:"requeueAfterSeconds,omitempty"`
	// Template is laid over that of the ApplicationSet.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Template *ApplicationSetTemplate `json:"template,omitempty"`
	// Values are further parameters.
	Values map[string]string `json:"values,omitempty"`
	// AWSCodeCommit asks AWS CodeCommit.
	AWSCodeCommit *SCMProviderGeneratorAWSCodeCommit `json:"awsCodeCommit,omitempty"`
}

// SCMProviderGeneratorFilter chooses repositories.
type SCMProviderGeneratorFilter struct {
	// RepositoryMatch is an expression for names.
	RepositoryMatch *string `json:"repositoryMatch,omitempty"`
	// PathsExist are paths that have to be there.
	PathsExist []string `json:"pathsExist,omitempty"`
	// PathsDoNotExist are paths that must not be there.
	PathsDoNotExist []string `json:"pathsDoNotExist,omitempty"`
	// LabelMatch is an expression for labels.
	LabelMatch *string `json:"labelMatch,omitempty"`
	// BranchMatch is an expression for branches.
	BranchMatch *string `json:"branchMatch,omitempty"`
}

// SCMProviderGeneratorGithub asks GitHub.
type SCMProviderGeneratorGithub struct {
	// Organization is its name.
	Organization string `json:"organization"`
	// API is the address, that of the public service by default.
	API string `json:"api,omitempty"`
	// TokenRef names the token.
	TokenRef *SecretRef `json:"tokenRef,omitempty"`
	// AppSecretName names the Secret of a GitHub App.
	AppSecretName string `json:"appSecretName,omitempty"`
	// AllBranches gives every branch, not the default one alone.
	AllBranches bool `json:"allBranches,omitempty"`
	// ExcludeArchivedRepos leaves out what is archived.
	ExcludeArchivedRepos bool `json:"excludeArchivedRepos,omitempty"`
}

// SCMProviderGeneratorGitlab asks GitLab.
type SCMProviderGeneratorGitlab struct {
	// Group is its path.
	Group string `json:"group"`
	// IncludeSubgroups takes the groups in it too.
	IncludeSubgroups bool `json:"includeSubgroups,omitempty"`
	// API is the address, that of the public service by default.
	API string `json:"api,omitempty"`
	// TokenRef names the token.
	TokenRef *SecretRef `json:"tokenRef,omitempty"`
	// AllBranches gives every branch, not the default one alone.
	AllBranches bool `json:"allBranches,omitempty"`
	// Insecure does not verify certificates.
	Insecure bool `json:"insecure,omitempty"`
	// IncludeSharedProjects takes what others share with the group.
	IncludeSharedProjects *bool `json:"includeSharedProjects,omitempty"`
	// Topic is one that a project has to have.
	Topic string `json:"topic,omitempty"`
	// CARef names certificates of authorities.
	CARef *ConfigMapKeyRef `json:"caRef,omitempty"`
	// IncludeArchivedRepos takes what is archived too.
	IncludeArchivedRepos bool `json:"includeArchivedRepos,omitempty"`
}

// SCMProviderGeneratorGitea asks a Gitea.
type SCMProviderGeneratorGitea struct {
	// Owner is a user or an organisation.
	Owner string `json:"owner"`
	// API is the address.
	API string `json:"api"`
	// TokenRef names the token.
	TokenRef *SecretRef `json:"tokenRef,omitempty"`
	// AllBranches gives every branch, not the default one alone.
	AllBranches bool `json:"allBranches,omitempty"`
	// Insecure does not verify certificates.
	Insecure bool `json:"insecure,omitempty"`
	// ExcludeArchivedRepos leaves out what is archived.
	ExcludeArchivedRepos bool `json:"excludeArchivedRepos,omitempty"`
}

// SCMProviderGeneratorBitbucket asks Bitbucket Cloud.
type SCMProviderGeneratorBitbucket struct {
	// Owner is the workspace.
	Owner string `json:"owner"`
	// User is who asks.
	User string `json:"user"`
	// AppPasswordRef names the password.
	AppPasswordRef *SecretRef `json:"appPasswordRef"`
	// AllBranches gives every branch, not the default one alone.
	AllBranches bool `json:"allBranches,omitempty"`
}

// SCMProviderGeneratorBitbucketServer asks a Bitbucket Server.
type SCMProviderGeneratorBitbucketServer struct {
	// Project is its name.
	Project string `json:"project"`
	// API is the address.
	API string `json:"api"`
	// BasicAuth is a login by a password.
	BasicAuth *BasicAuthBitbucketServer `json:"basicAuth,omitempty"`
	// AllBranches gives every branch, not the default one alone.
	AllBranches bool `json:"allBranches,omitempty"`
	// BearerToken is a login by a token.
	BearerToken *BearerTokenBitbucket `json:"bearerToken,omitempty"`
	// Insecure does not verify certificates.
	Insecure bool `json:"insecure,omitempty"`
	// CARef names certificates of authorities.
	CARef *ConfigMapKeyRef `json:"caRef,omitempty"`
}

// SCMProviderGeneratorAzureDevOps asks Azure DevOps.
type SCMProviderGeneratorAzureDevOps struct {
	// Organization is its name.
	Organization string `json:"organization"`
	// API is the address, that of the public service by default.
	API string `json:"api,omitempty"`
	// TeamProject is its name.
	TeamProject string `json:"teamProject"`
	// AccessTokenRef names the token.
	AccessTokenRef *SecretRef `json:"accessTokenRef"`
	// AllBranches gives every branch, not the default one alone.
	AllBranches bool `json:"allBranches,omitempty"`
}

// SCMProviderGeneratorAWSCodeCommit asks AWS CodeCommit.
type SCMProviderGeneratorAWSCodeCommit struct {
	// TagFilters choose repositories by their tags.
	TagFilters []TagFilter `json:"tagFilters,omitempty"`
	// Role is the one that asks.
	Role string `json:"role,omitempty"`
	// Region to ask.
	Region string `json:"region,omitempty"`
	// AllBranches gives every branch, not the default one alone.
	AllBranches bool `json:"allBranches,omitempty"`
}

// TagFilter chooses by a tag.
type TagFilter struct {
	// Key of the tag.
	Key string `json:"key"`
	// Value of the tag, any by default.
	Value string `json:"value,omitempty"`
}
