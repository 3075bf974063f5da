package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Warehouse follows repositories, and makes Freight of what is new in them.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name=Shard,type=string,JSONPath=`.spec.shard`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type Warehouse struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// Spec is what is wanted.
	Spec WarehouseSpec `json:"spec"`
	// Status is what was observed last.
	// +optional
	Status WarehouseStatus `json:"status,omitzero"`
}

// WarehouseList is a list of Warehouses.
//
// +kubebuilder:object:root=true
type WarehouseList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Warehouse `json:"items"`
}

// WarehouseSpec is what a Warehouse declares.
type WarehouseSpec struct {
	// Shard is the controller that serves the Warehouse; none is the default one.
	Shard string `json:"shard,omitempty"`
	// Interval between two searches, 5m0s by default.
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(s|m|h))+$`
	// +kubebuilder:default="5m0s"
	Interval string `json:"interval,omitempty"`
	// FreightCreationPolicy is Automatic, the default, or Manual.
	// +kubebuilder:default=Automatic
	FreightCreationPolicy FreightCreationPolicy `json:"freightCreationPolicy,omitempty"`
	// Subscriptions are the repositories.
	// +kubebuilder:validation:MinItems=1
	Subscriptions []RepoSubscription `json:"subscriptions"`
	// FreightCreationCriteria have to hold for Freight to be made automatically.
	FreightCreationCriteria *FreightCreationCriteria `json:"freightCreationCriteria,omitempty"`
}

// FreightCreationPolicy says whether Freight is made as soon as something is new.
//
// +kubebuilder:validation:Enum=Automatic;Manual
type FreightCreationPolicy string

// The policies for the creation of Freight.
const (
	FreightCreationAutomatic FreightCreationPolicy = "Automatic"
	FreightCreationManual    FreightCreationPolicy = "Manual"
)

// FreightCreationCriteria are what has to hold for Freight to be made.
type FreightCreationCriteria struct {
	// Expression has to be true of the artifacts together.
	Expression string `json:"expression,omitempty"`
}

// WarehouseStatus is what became of a Warehouse.
type WarehouseStatus struct {
	// Conditions say where the Warehouse stands.
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// LastHandledRefresh is the value of the refresh annotation that was handled last.
	LastHandledRefresh string `json:"lastHandledRefresh,omitempty"`
	// ObservedGeneration is the generation that was reconciled last.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// LastFreightID is the name of the newest Freight of the Warehouse.
	LastFreightID string `json:"lastFreightID,omitempty"`
	// DiscoveredArtifacts are what the last search found.
	DiscoveredArtifacts *DiscoveredArtifacts `json:"discoveredArtifacts,omitempty"`
}

// DiscoveredArtifacts are what a search found.
type DiscoveredArtifacts struct {
	// DiscoveredAt is when it was found.
	// +optional
	DiscoveredAt metav1.Time `json:"discoveredAt,omitzero"`
	// Git are the commits.
	// +optional
	Git []GitDiscoveryResult `json:"git,omitempty"`
	// Images are the images.
	// +optional
	Images []ImageDiscoveryResult `json:"images,omitempty"`
	// Charts are the charts.
	// +optional
	Charts []ChartDiscoveryResult `json:"charts,omitempty"`
	// Results are artifacts of other types.
	// +optional
	Results []DiscoveryResult `json:"results,omitempty"`
}

// GitDiscoveryResult are the commits of one repository, the best first.
type GitDiscoveryResult struct {
	// RepoURL of the repository.
	// +kubebuilder:validation:MinLength=1
	RepoURL string `json:"repoURL"`
	// SubscriptionName is that of the subscription.
	SubscriptionName string `json:"subscriptionName,omitempty"`
	// Commits that were found.
	// +optional
	Commits []DiscoveredCommit `json:"commits"`
	// ObservedRefs are the references as they were, by which the next search knows whether anything moved.
	ObservedRefs *GitDiscoveryRefs `json:"observedRefs,omitempty"`
}

// GitDiscoveryRefs are references of a Git repository.
type GitDiscoveryRefs struct {
	// BranchHead is the commit at the tip of the branch.
	BranchHead string `json:"branchHead,omitempty"`
	// Tags that the subscription permits, by name.
	Tags []DiscoveredRef `json:"tags,omitempty"`
}

// DiscoveredRef is one reference.
type DiscoveredRef struct {
	// Name of the reference, without "refs/tags/".
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
	// ID of the object that it names.
	// +kubebuilder:validation:MinLength=1
	ID string `json:"id"`
}

// DiscoveredCommit is a commit that was found.
type DiscoveredCommit struct {
	// ID of the commit.
	// +kubebuilder:validation:MinLength=1
	ID string `json:"id,omitempty"`
	// Branch on which it was found.
	Branch string `json:"branch,omitempty"`
	// Tag that names it.
	Tag string `json:"tag,omitempty"`
	// Subject is the first line of its message.
	Subject string `json:"subject,omitempty"`
	// Author of it.
	Author string `json:"author,omitempty"`
	// Committer of it.
	Committer string `json:"committer,omitempty"`
	// CreatorDate is the date of the commit or of its annotated tag.
	CreatorDate *metav1.Time `json:"creatorDate,omitempty"`
}

// ImageDiscoveryResult are the images of one repository, the best first.
type ImageDiscoveryResult struct {
	// RepoURL of the repository.
	// +kubebuilder:validation:MinLength=1
	RepoURL string `json:"repoURL"`
	// SubscriptionName is that of the subscription.
	SubscriptionName string `json:"subscriptionName,omitempty"`
	// Platform of the images.
	Platform string `json:"platform,omitempty"`
	// References that were found.
	// +optional
	References []DiscoveredImageReference `json:"references"`
}

// DiscoveredImageReference is an image that was found.
type DiscoveredImageReference struct {
	// Tag of the image.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[\w.\-\_]+$`
	Tag string `json:"tag"`
	// Digest of the image.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:Pattern=`^[a-z0-9]+:[a-f0-9]+$`
	Digest string `json:"digest"`
	// Annotations of the image.
	Annotations map[string]string `json:"annotations,omitempty"`
	// CreatedAt is when the image was created.
	CreatedAt *metav1.Time `json:"createdAt,omitempty"`
}

// ChartDiscoveryResult are the versions of one chart, the best first.
type ChartDiscoveryResult struct {
	// RepoURL of the repository.
	// +kubebuilder:validation:MinLength=1
	RepoURL string `json:"repoURL"`
	// SubscriptionName is that of the subscription.
	SubscriptionName string `json:"subscriptionName,omitempty"`
	// Name of the chart.
	Name string `json:"name,omitempty"`
	// SemverConstraint that the versions meet.
	SemverConstraint string `json:"semverConstraint,omitempty"`
	// Versions that were found.
	// +optional
	Versions []string `json:"versions"`
}

// DiscoveryResult are artifacts of another type.
type DiscoveryResult struct {
	// Name of the subscription.
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
	// ArtifactReferences that were found.
	ArtifactReferences []ArtifactReference `json:"artifactReferences,omitempty"`
}
