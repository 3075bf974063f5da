package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Freight is a set of artifacts that move through Stages together. Its name follows from what is in it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name=Alias,type=string,JSONPath=`.metadata.labels.kargo\.akuity\.io/alias`
// +kubebuilder:printcolumn:name=Origin (Kind),type=string,JSONPath=`.origin.kind`
// +kubebuilder:printcolumn:name=Origin (Name),type=string,JSONPath=`.origin.name`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type Freight struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// Alias is a name for people; one is chosen if it is missing.
	Alias string `json:"alias,omitempty"`
	// Origin is where the Freight comes from.
	Origin FreightOrigin `json:"origin"`
	// Commits of Git repositories.
	Commits []GitCommit `json:"commits,omitempty"`
	// Images of repositories of container images.
	Images []Image `json:"images,omitempty"`
	// Charts are versions of Helm charts.
	Charts []Chart `json:"charts,omitempty"`
	// Artifacts of other types.
	Artifacts []ArtifactReference `json:"artifacts,omitempty"`
	// DiscoveredAt is when the Freight was made, for one that is copied.
	DiscoveredAt *metav1.Time `json:"discoveredAt,omitempty"`
	// Status is where the Freight has been.
	// +optional
	Status FreightStatus `json:"status,omitzero"`
}

// FreightList is a list of Freight.
//
// +kubebuilder:object:root=true
type FreightList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Freight `json:"items"`
}

// FreightOriginKind is the kind of what Freight comes from.
//
// +kubebuilder:validation:Enum=Warehouse
type FreightOriginKind string

// FreightFromWarehouse is the one kind that Freight comes from.
const FreightFromWarehouse FreightOriginKind = WarehouseKind

// FreightOrigin is what Freight comes from.
type FreightOrigin struct {
	// Kind is Warehouse.
	Kind FreightOriginKind `json:"kind"`
	// Name of the Warehouse.
	Name string `json:"name"`
}

// GitCommit is a commit of a Git repository.
type GitCommit struct {
	// RepoURL of the repository.
	RepoURL string `json:"repoURL,omitempty"`
	// ID of the commit.
	ID string `json:"id,omitempty"`
	// Branch on which it was found.
	Branch string `json:"branch,omitempty"`
	// Tag that names it.
	Tag string `json:"tag,omitempty"`
	// Message is the first line of its message.
	Message string `json:"message,omitempty"`
	// Author of it.
	Author string `json:"author,omitempty"`
	// Committer of it.
	Committer string `json:"committer,omitempty"`
	// SubscriptionName is that of the subscription.
	SubscriptionName string `json:"subscriptionName,omitempty"`
}

// Image is a container image.
type Image struct {
	// RepoURL of the repository.
	RepoURL string `json:"repoURL,omitempty"`
	// GitRepoURL is where the source is; Kargo 1.7 and later take it from annotations.
	GitRepoURL string `json:"gitRepoURL,omitempty"`
	// Tag of the image.
	Tag string `json:"tag,omitempty"`
	// Digest of the image.
	Digest string `json:"digest,omitempty"`
	// Annotations of the image.
	Annotations map[string]string `json:"annotations,omitempty"`
	// SubscriptionName is that of the subscription.
	SubscriptionName string `json:"subscriptionName,omitempty"`
}

// Chart is a version of a Helm chart.
type Chart struct {
	// RepoURL of the repository.
	RepoURL string `json:"repoURL,omitempty"`
	// Name of the chart in the repository.
	Name string `json:"name,omitempty"`
	// Version of the chart.
	Version string `json:"version,omitempty"`
	// SubscriptionName is that of the subscription.
	SubscriptionName string `json:"subscriptionName,omitempty"`
}

// ArtifactReference is a version of an artifact that is no commit, image or chart.
type ArtifactReference struct {
	// ArtifactType is often a media type.
	// +kubebuilder:validation:MinLength=1
	ArtifactType string `json:"artifactType,omitempty"`
	// SubscriptionName is that of the subscription.
	// +kubebuilder:validation:MinLength=1
	SubscriptionName string `json:"subscriptionName"`
	// Version of the artifact.
	// +kubebuilder:validation:MinLength=1
	Version string `json:"version"`
	// Metadata is an object with what is known of the artifact.
	Metadata *apiextensionsv1.JSON `json:"metadata,omitempty"`
}

// FreightReference is a Freight as a Stage or a Promotion remembers it.
type FreightReference struct {
	// Name of the Freight.
	Name string `json:"name,omitempty"`
	// Origin is where the Freight comes from.
	// +optional
	Origin FreightOrigin `json:"origin,omitzero"`
	// Commits of Git repositories.
	Commits []GitCommit `json:"commits,omitempty"`
	// Images of repositories of container images.
	Images []Image `json:"images,omitempty"`
	// Charts are versions of Helm charts.
	Charts []Chart `json:"charts,omitempty"`
	// Artifacts of other types.
	Artifacts []ArtifactReference `json:"artifacts,omitempty"`
}

// FreightStatus is where a Freight has been.
type FreightStatus struct {
	// CurrentlyIn are the Stages that use it, by their names.
	CurrentlyIn map[string]CurrentStage `json:"currentlyIn,omitempty"`
	// VerifiedIn are the Stages in which it was verified, by their names.
	VerifiedIn map[string]VerifiedStage `json:"verifiedIn,omitempty"`
	// ApprovedFor are the Stages for which a person approved it, by their names.
	ApprovedFor map[string]ApprovedStage `json:"approvedFor,omitempty"`
	// Metadata is what steps stored for others.
	Metadata map[string]apiextensionsv1.JSON `json:"metadata,omitempty"`
}

// CurrentStage is a Stage that uses a Freight.
type CurrentStage struct {
	// Since when it does.
	Since *metav1.Time `json:"since,omitempty"`
}

// VerifiedStage is a Stage in which a Freight was verified.
type VerifiedStage struct {
	// VerifiedAt is when it was.
	VerifiedAt *metav1.Time `json:"verifiedAt,omitempty"`
	// LongestSoak is the longest time for which the Stage used it without a break, up to when it ceased.
	LongestSoak *metav1.Duration `json:"longestSoak,omitempty"`
}

// ApprovedStage is a Stage for which a Freight was approved.
type ApprovedStage struct {
	// ApprovedAt is when it was.
	ApprovedAt *metav1.Time `json:"approvedAt,omitempty"`
}

// FreightCollection is the Freight of a Stage, one of each origin.
type FreightCollection struct {
	// ID follows from the names of the Freight.
	ID string `json:"id"`
	// Items are the Freight, by "KIND/NAME" of their origins.
	Items map[string]FreightReference `json:"items,omitempty"`
	// VerificationHistory are the last verifications, the newest first.
	VerificationHistory []VerificationInfo `json:"verificationHistory,omitempty"`
}
