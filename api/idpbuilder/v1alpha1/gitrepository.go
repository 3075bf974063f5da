package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// The types of sources of a GitRepository.
const (
	// SourceLocal is a directory.
	SourceLocal = "local"
	// SourceEmbedded is a core package.
	SourceEmbedded = "embedded"
	// SourceRemote is a directory of a remote repository.
	SourceRemote = "remote"
)

// ProviderGitea is the provider of repositories of a server that answers as Gitea.
const ProviderGitea = "gitea"

// GitRepository shows a repository of the Git server that has a directory of a package.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=gitrepositories
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.status.externalGitRepositoryUrl`
// +kubebuilder:printcolumn:name="Commit",type=string,JSONPath=`.status.commit.hash`
// +kubebuilder:printcolumn:name="Synced",type=boolean,JSONPath=`.status.synced`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type GitRepository struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is what is in the repository.
	// +optional
	Spec GitRepositorySpec `json:"spec,omitzero"`
	// Status is where the repository is, and its commit.
	// +optional
	Status GitRepositoryStatus `json:"status,omitzero"`
}

// GitRepositoryList is a list of GitRepositories.
//
// +kubebuilder:object:root=true
type GitRepositoryList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []GitRepository `json:"items"`
}

// GitRepositorySpec is what is in a repository.
type GitRepositorySpec struct {
	// Source is the directory.
	// +optional
	Source GitRepositorySource `json:"source,omitzero"`
	// Provider is the Git server.
	// +optional
	Provider Provider `json:"provider,omitzero"`
	// SecretRef is the Secret with the credentials of its administrator.
	// +optional
	SecretRef SecretReference `json:"secretRef,omitzero"`
	// Customization is a file that changes a core package.
	// +optional
	Customization PackageCustomization `json:"customization,omitzero"`
}

// GitRepositorySource is a directory.
type GitRepositorySource struct {
	// Type is local, embedded or remote.
	// +optional
	// +kubebuilder:validation:Enum=local;embedded;remote
	Type string `json:"type,omitempty"`
	// Path is the absolute path of the directory; that of a remote one is relative to its repository.
	// +optional
	Path string `json:"path,omitempty"`
	// EmbeddedAppName is the name of a core package.
	// +optional
	EmbeddedAppName string `json:"embeddedAppName,omitempty"`
	// RemoteRepository is what the directory was fetched from.
	// +optional
	RemoteRepository RemoteRepository `json:"remoteRepository,omitzero"`
}

// Provider is a Git server.
type Provider struct {
	// Name is the kind of the server: gitea or github.
	// +optional
	// +kubebuilder:validation:Enum=gitea;github
	Name string `json:"name,omitempty"`
	// GitURL is its base URL for users.
	// +optional
	GitURL string `json:"gitURL,omitempty"`
	// InternalGitURL is its base URL in the cluster.
	// +optional
	InternalGitURL string `json:"internalGitURL,omitempty"`
	// OrganizationName is the account that owns the repository.
	// +optional
	OrganizationName string `json:"organizationName,omitempty"`
}

// GitRepositoryStatus is where a repository is, and its commit.
type GitRepositoryStatus struct {
	// ObservedGeneration is the generation of the object that the status is of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// LatestCommit is the newest one.
	// +optional
	LatestCommit Commit `json:"commit,omitzero"`
	// ExternalGitRepositoryURL is the URL of the repository for users.
	// +optional
	ExternalGitRepositoryURL string `json:"externalGitRepositoryUrl,omitempty"`
	// InternalGitRepositoryURL is the URL of the repository in the cluster.
	// +optional
	InternalGitRepositoryURL string `json:"internalGitRepositoryUrl,omitempty"`
	// Path is where the files are in the repository.
	// +optional
	Path string `json:"path,omitempty"`
	// Synced reports whether the repository has what is in the directory.
	// +optional
	Synced bool `json:"synced,omitempty"`
}

// Commit names a commit.
type Commit struct {
	// Hash of the commit.
	// +optional
	Hash string `json:"hash,omitempty"`
}
