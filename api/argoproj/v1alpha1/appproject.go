package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// AppProject says what the Applications of a project are permitted.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=appprojects,shortName=appproj;appprojs
// +kubebuilder:metadata:labels="app.kubernetes.io/name=appprojects.argoproj.io"
// +kubebuilder:metadata:labels="app.kubernetes.io/part-of=argocd"
type AppProject struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is what is permitted.
	Spec AppProjectSpec `json:"spec"`
	// Status are the tokens that were made.
	// +optional
	Status AppProjectStatus `json:"status,omitzero"`
}

// AppProjectList is a list of AppProjects.
//
// +kubebuilder:object:root=true
type AppProjectList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []AppProject `json:"items"`
}

// AppProjectSpec is what is permitted.
type AppProjectSpec struct {
	// SourceRepos are patterns of repositories; "!" before one forbids.
	SourceRepos []string `json:"sourceRepos,omitempty"`
	// Destinations are patterns of clusters and namespaces; "!" before one forbids.
	Destinations []ApplicationDestination `json:"destinations,omitempty"`
	// Description is for people.
	// +kubebuilder:validation:MaxLength=255
	Description string `json:"description,omitempty"`
	// Roles are permissions of people and programs.
	Roles []ProjectRole `json:"roles,omitempty"`
	// ClusterResourceWhitelist are kinds outside namespaces that are permitted; without any, none is.
	ClusterResourceWhitelist []ClusterResourceRestrictionItem `json:"clusterResourceWhitelist,omitempty"`
	// NamespaceResourceBlacklist are kinds in namespaces that are forbidden.
	NamespaceResourceBlacklist []metav1.GroupKind `json:"namespaceResourceBlacklist,omitempty"`
	// OrphanedResources has objects watched that no Application has.
	OrphanedResources *OrphanedResourcesMonitorSettings `json:"orphanedResources,omitempty"`
	// SyncWindows are times at which syncs are permitted or forbidden.
	SyncWindows []SyncWindow `json:"syncWindows,omitempty"`
	// NamespaceResourceWhitelist are kinds in namespaces that are permitted; without the list, all are.
	NamespaceResourceWhitelist []metav1.GroupKind `json:"namespaceResourceWhitelist,omitempty"`
	// SignatureKeys are keys with which commits have to be signed.
	SignatureKeys []SignatureKey `json:"signatureKeys,omitempty"`
	// ClusterResourceBlacklist are kinds outside namespaces that are forbidden.
	ClusterResourceBlacklist []ClusterResourceRestrictionItem `json:"clusterResourceBlacklist,omitempty"`
	// SourceNamespaces are patterns of namespaces in which Applications may be.
	SourceNamespaces []string `json:"sourceNamespaces,omitempty"`
	// PermitOnlyProjectScopedClusters forbids clusters that are not the project's own.
	PermitOnlyProjectScopedClusters bool `json:"permitOnlyProjectScopedClusters,omitempty"`
	// DestinationServiceAccounts are the accounts as which objects are applied.
	DestinationServiceAccounts []ApplicationDestinationServiceAccount `json:"destinationServiceAccounts,omitempty"`
	// SourceIntegrity says how sources are verified.
	SourceIntegrity *SourceIntegrity `json:"sourceIntegrity,omitempty"`
}

// ClusterResourceRestrictionItem names a kind outside namespaces, and objects of it.
type ClusterResourceRestrictionItem struct {
	// Group of the kind.
	Group string `json:"group"`
	// Kind itself.
	Kind string `json:"kind"`
	// Name is a pattern of names.
	Name string `json:"name,omitempty"`
}

// OrphanedResourcesMonitorSettings has objects watched that no Application has.
type OrphanedResourcesMonitorSettings struct {
	// Warn is for a condition on the Applications.
	Warn *bool `json:"warn,omitempty"`
	// Ignore are objects that are left out.
	Ignore []OrphanedResourceKey `json:"ignore,omitempty"`
}

// OrphanedResourceKey names objects.
type OrphanedResourceKey struct {
	// Group of the objects.
	Group string `json:"group,omitempty"`
	// Kind of the objects.
	Kind string `json:"kind,omitempty"`
	// Name is a pattern of names.
	Name string `json:"name,omitempty"`
}

// SyncWindow is a time at which syncs are permitted or forbidden.
type SyncWindow struct {
	// Kind is allow or deny.
	Kind string `json:"kind,omitempty"`
	// Schedule is when the window opens, as cron writes it.
	Schedule string `json:"schedule,omitempty"`
	// Duration is how long it is open.
	Duration string `json:"duration,omitempty"`
	// Applications are patterns of names.
	Applications []string `json:"applications,omitempty"`
	// Namespaces are patterns of those of the destinations.
	Namespaces []string `json:"namespaces,omitempty"`
	// Clusters are patterns of those of the destinations.
	Clusters []string `json:"clusters,omitempty"`
	// ManualSync permits syncs that a person asks for.
	ManualSync bool `json:"manualSync,omitempty"`
	// TimeZone of the schedule.
	TimeZone string `json:"timeZone,omitempty"`
	// UseAndOperator has all of the patterns match, not any.
	UseAndOperator bool `json:"andOperator,omitempty"`
	// Description is for people.
	Description string `json:"description,omitempty"`
	// SyncOverrun lets syncs that began in time go on.
	SyncOverrun bool `json:"syncOverrun,omitempty"`
}

// ProjectRole are permissions of people and programs.
type ProjectRole struct {
	// Name of the role.
	Name string `json:"name"`
	// Description is for people.
	Description string `json:"description,omitempty"`
	// Policies are lines of permissions.
	Policies []string `json:"policies,omitempty"`
	// JWTTokens are the tokens of the role.
	JWTTokens []JWTToken `json:"jwtTokens,omitempty"`
	// Groups are those of a login.
	Groups []string `json:"groups,omitempty"`
}

// JWTToken is a token that was made; the token itself is not in it.
type JWTToken struct {
	// IssuedAt is when it was made.
	IssuedAt int64 `json:"iat"`
	// ExpiresAt is when it ends.
	ExpiresAt int64 `json:"exp,omitempty"`
	// ID of the token.
	ID string `json:"id,omitempty"`
}

// SignatureKey is a key with which commits have to be signed.
type SignatureKey struct {
	// KeyID in hexadecimal digits.
	KeyID string `json:"keyID"`
}

// ApplicationDestinationServiceAccount is the account as which objects are applied.
type ApplicationDestinationServiceAccount struct {
	// Server is a pattern of clusters.
	Server string `json:"server"`
	// Namespace is a pattern of namespaces.
	Namespace string `json:"namespace,omitempty"`
	// DefaultServiceAccount is [NAMESPACE:]NAME.
	DefaultServiceAccount string `json:"defaultServiceAccount"`
}

// SourceIntegrity says how sources are verified.
type SourceIntegrity struct {
	// Git says how commits are verified.
	Git *SourceIntegrityGit `json:"git"`
}

// SourceIntegrityGit says how commits are verified.
type SourceIntegrityGit struct {
	// Policies are one for each group of repositories.
	Policies []SourceIntegrityGitPolicy `json:"policies"`
}

// SourceIntegrityGitPolicy says how the commits of some repositories are verified.
type SourceIntegrityGitPolicy struct {
	// Repos are the repositories.
	Repos []SourceIntegrityGitPolicyRepo `json:"repos"`
	// GPG are the keys.
	GPG *SourceIntegrityGitPolicyGPG `json:"gpg"`
}

// SourceIntegrityGitPolicyRepo names repositories.
type SourceIntegrityGitPolicyRepo struct {
	// URL is a pattern; "!" before one leaves out.
	URL string `json:"url"`
}

// SourceIntegrityGitPolicyGPG are keys, and what has to be signed.
type SourceIntegrityGitPolicyGPG struct {
	// Mode is none, head or strict.
	Mode string `json:"mode"`
	// Keys are identities of keys.
	Keys []string `json:"keys"`
}

// AppProjectStatus are the tokens that were made.
type AppProjectStatus struct {
	// JWTTokensByRole are the tokens by their roles.
	JWTTokensByRole map[string]JWTTokens `json:"jwtTokensByRole,omitempty"`
}

// JWTTokens are the tokens of a role.
type JWTTokens struct {
	// Items are the tokens.
	Items []JWTToken `json:"items,omitempty"`
}
