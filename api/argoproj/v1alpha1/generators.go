package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The templates of generators, and the generators within nested ones, have types here but no schema: with all of it
// the definition has megabytes. The API server keeps what they say, and who reads them finds what is wrong.

// ApplicationSetGenerator gives parameters in one of several ways.
type ApplicationSetGenerator struct {
	// List gives what is written here.
	List *ListGenerator `json:"list,omitempty"`
	// Clusters gives the clusters that are known.
	Clusters *ClusterGenerator `json:"clusters,omitempty"`
	// Git gives directories or files of a repository.
	Git *GitGenerator `json:"git,omitempty"`
	// SCMProvider gives the repositories of a forge.
	SCMProvider *SCMProviderGenerator `json:"scmProvider,omitempty"`
	// ClusterDecisionResource gives the clusters that another object names.
	ClusterDecisionResource *DuckTypeGenerator `json:"clusterDecisionResource,omitempty"`
	// PullRequest gives the open requests of a repository.
	PullRequest *PullRequestGenerator `json:"pullRequest,omitempty"`
	// Matrix puts each set of one generator beside each of another.
	Matrix *MatrixGenerator `json:"matrix,omitempty"`
	// Merge lays the sets of generators over those of the first one.
	Merge *MergeGenerator `json:"merge,omitempty"`
	// Selector chooses among the sets by their parameters.
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// Plugin gives what a service answers.
	Plugin *PluginGenerator `json:"plugin,omitempty"`
}

// ApplicationSetNestedGenerator is a generator within another one. It has the fields of ApplicationSetGenerator, so
// that one converts to the other.
type ApplicationSetNestedGenerator struct {
	// List gives what is written here.
	List *ListGenerator `json:"list,omitempty"`
	// Clusters gives the clusters that are known.
	Clusters *ClusterGenerator `json:"clusters,omitempty"`
	// Git gives directories or files of a repository.
	Git *GitGenerator `json:"git,omitempty"`
	// SCMProvider gives the repositories of a forge.
	SCMProvider *SCMProviderGenerator `json:"scmProvider,omitempty"`
	// ClusterDecisionResource gives the clusters that another object names.
	ClusterDecisionResource *DuckTypeGenerator `json:"clusterDecisionResource,omitempty"`
	// PullRequest gives the open requests of a repository.
	PullRequest *PullRequestGenerator `json:"pullRequest,omitempty"`
	// Matrix puts each set of one generator beside each of another.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Matrix *MatrixGenerator `json:"matrix,omitempty"`
	// Merge lays the sets of generators over those of the first one.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Merge *MergeGenerator `json:"merge,omitempty"`
	// Selector chooses among the sets by their parameters.
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// Plugin gives what a service answers.
	Plugin *PluginGenerator `json:"plugin,omitempty"`
}

// ListGenerator gives what is written here.
type ListGenerator struct {
	// Elements are the sets.
	// +optional
	Elements []apiextensionsv1.JSON `json:"elements,omitempty"`
	// Template is laid over that of the ApplicationSet.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Template *ApplicationSetTemplate `json:"template,omitempty"`
	// ElementsYaml are the sets as text, which may be a template.
	ElementsYaml string `json:"elementsYaml,omitempty"`
}

// MatrixGenerator puts each set of one generator beside each of another.
type MatrixGenerator struct {
	// Generators are the two.
	Generators []ApplicationSetNestedGenerator `json:"generators"`
	// Template is laid over that of the ApplicationSet.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Template *ApplicationSetTemplate `json:"template,omitempty"`
}

// MergeGenerator lays the sets of generators over those of the first one.
type MergeGenerator struct {
	// Generators are two or more.
	Generators []ApplicationSetNestedGenerator `json:"generators"`
	// MergeKeys are parameters by which sets belong together.
	MergeKeys []string `json:"mergeKeys"`
	// Template is laid over that of the ApplicationSet.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Template *ApplicationSetTemplate `json:"template,omitempty"`
}

// ClusterGenerator gives the clusters that are known.
type ClusterGenerator struct {
	// Selector chooses by the labels of their Secrets.
	// +optional
	Selector metav1.LabelSelector `json:"selector,omitzero"`
	// Template is laid over that of the ApplicationSet.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Template *ApplicationSetTemplate `json:"template,omitempty"`
	// Values are further parameters.
	Values map[string]string `json:"values,omitempty"`
	// FlatList gives one set with all clusters.
	FlatList bool `json:"flatList,omitempty"`
}

// DuckTypeGenerator gives the clusters that another object names.
type DuckTypeGenerator struct {
	// ConfigMapRef says what the other objects look like.
	ConfigMapRef string `json:"configMapRef"`
	// Name of the other object.
	Name string `json:"name,omitempty"`
	// RequeueAfterSeconds is when to look again.
	RequeueAfterSeconds *int64 `json:"requeueAfterSeconds,omitempty"`
	// LabelSelector chooses other objects.
	// +optional
	LabelSelector metav1.LabelSelector `json:"labelSelector,omitzero"`
	// Template is laid over that of the ApplicationSet.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Template *ApplicationSetTemplate `json:"template,omitempty"`
	// Values are further parameters.
	Values map[string]string `json:"values,omitempty"`
}

// GitGenerator gives directories or files of a repository.
type GitGenerator struct {
	// RepoURL is the address of the repository.
	RepoURL string `json:"repoURL"`
	// Directories are patterns of directories.
	Directories []GitDirectoryGeneratorItem `json:"directories,omitempty"`
	// Files are patterns of files with parameters.
	Files []GitFileGeneratorItem `json:"files,omitempty"`
	// Revision is a branch, a tag or a commit.
	Revision string `json:"revision"`
	// RequeueAfterSeconds is when to look again.
	RequeueAfterSeconds *int64 `json:"requeueAfterSeconds,omitempty"`
	// Template is laid over that of the ApplicationSet.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Template *ApplicationSetTemplate `json:"template,omitempty"`
	// PathParamPrefix is put before the names of the parameters of the path.
	PathParamPrefix string `json:"pathParamPrefix,omitempty"`
	// Values are further parameters.
	Values map[string]string `json:"values,omitempty"`
}

// GitDirectoryGeneratorItem is a pattern of directories.
type GitDirectoryGeneratorItem struct {
	// Path is the pattern.
	Path string `json:"path"`
	// Exclude leaves out what matches.
	Exclude bool `json:"exclude,omitempty"`
}

// GitFileGeneratorItem is a pattern of files.
type GitFileGeneratorItem struct {
	// Path is the pattern.
	Path string `json:"path"`
	// Exclude leaves out what matches.
	Exclude bool `json:"exclude,omitempty"`
}

// PluginGenerator gives what a service answers.
type PluginGenerator struct {
	// ConfigMapRef names the address and the login.
	ConfigMapRef PluginConfigMapRef `json:"configMapRef"`
	// Input is what is sent to the service.
	// +optional
	Input PluginInput `json:"input,omitzero"`
	// RequeueAfterSeconds is when to ask again.
	RequeueAfterSeconds *int64 `json:"requeueAfterSeconds,omitempty"`
	// Template is laid over that of the ApplicationSet.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Template *ApplicationSetTemplate `json:"template,omitempty"`
	// Values are further parameters.
	Values map[string]string `json:"values,omitempty"`
}

// PluginConfigMapRef names a ConfigMap.
type PluginConfigMapRef struct {
	// Name of the ConfigMap.
	Name string `json:"name"`
}

// PluginInput is what is sent to a service.
type PluginInput struct {
	// Parameters by their names.
	Parameters map[string]apiextensionsv1.JSON `json:"parameters,omitempty"`
}
