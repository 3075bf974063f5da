package v1

import (
	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FluxInstanceKind is the kind of FluxInstances.
const FluxInstanceKind = "FluxInstance"

// FluxInstanceSpec is what a FluxInstance declares.
type FluxInstanceSpec struct {
	// Distribution says which Flux.
	// +optional
	Distribution Distribution `json:"distribution,omitempty"`
	// Components are the controllers.
	// +optional
	Components []string `json:"components,omitempty"`
	// Cluster says what cluster this is.
	// +optional
	Cluster *Cluster `json:"cluster,omitempty"`
	// CommonMetadata is laid on every object.
	// +optional
	CommonMetadata *CommonMetadata `json:"commonMetadata,omitempty"`
	// Kustomize changes the objects of the controllers.
	// +optional
	Kustomize *Kustomize `json:"kustomize,omitempty"`
	// Storage is where artifacts are kept.
	// +optional
	Storage *Storage `json:"storage,omitempty"`
	// Sharding runs several sets of controllers.
	// +optional
	Sharding *Sharding `json:"sharding,omitempty"`
	// Sync is the root of the cluster.
	// +optional
	Sync *Sync `json:"sync,omitempty"`
	// Wait has the health of the controllers waited for.
	// +optional
	Wait *bool `json:"wait,omitempty"`
	// MigrateResources has objects written again when the API gets a new version.
	// +optional
	MigrateResources *bool `json:"migrateResources,omitempty"`
}

// Distribution says which Flux.
type Distribution struct {
	// Version is a range of versions.
	// +optional
	Version string `json:"version,omitempty"`
	// Registry is where the images are.
	// +optional
	Registry string `json:"registry,omitempty"`
	// Variant is that of the images.
	// +optional
	Variant string `json:"variant,omitempty"`
	// ImagePullSecret is the login for the images.
	// +optional
	ImagePullSecret string `json:"imagePullSecret,omitempty"`
	// Artifact is where the manifests are.
	// +optional
	Artifact string `json:"artifact,omitempty"`
	// ArtifactPullSecret is the login for the manifests.
	// +optional
	ArtifactPullSecret string `json:"artifactPullSecret,omitempty"`
}

// Cluster says what cluster this is.
type Cluster struct {
	// Type is the distribution of Kubernetes.
	// +optional
	Type string `json:"type,omitempty"`
	// Size is small, medium or large.
	// +optional
	Size string `json:"size,omitempty"`
	// Domain is that of the names of services.
	// +optional
	Domain string `json:"domain,omitempty"`
	// NetworkPolicy keeps other namespaces out.
	// +optional
	NetworkPolicy *bool `json:"networkPolicy,omitempty"`
	// Multitenant keeps tenants apart.
	// +optional
	Multitenant bool `json:"multitenant,omitempty"`
	// MultitenantWorkloadIdentity keeps the identities of tenants apart.
	// +optional
	MultitenantWorkloadIdentity bool `json:"multitenantWorkloadIdentity,omitempty"`
	// ObjectLevelWorkloadIdentity lets objects name their identity.
	// +optional
	ObjectLevelWorkloadIdentity bool `json:"objectLevelWorkloadIdentity,omitempty"`
	// TenantDefaultServiceAccount is the account of objects that name none.
	// +optional
	TenantDefaultServiceAccount string `json:"tenantDefaultServiceAccount,omitempty"`
	// TenantDefaultDecryptionServiceAccount is the account as which is decrypted.
	// +optional
	TenantDefaultDecryptionServiceAccount string `json:"tenantDefaultDecryptionServiceAccount,omitempty"`
	// TenantDefaultKubeConfigServiceAccount is the account as which other clusters are reached.
	// +optional
	TenantDefaultKubeConfigServiceAccount string `json:"tenantDefaultKubeConfigServiceAccount,omitempty"`
}

// Kustomize changes the objects of the controllers.
type Kustomize struct {
	// Patches are laid on them.
	// +optional
	Patches []kustomize.Patch `json:"patches,omitempty"`
}

// Storage is where artifacts are kept.
type Storage struct {
	// Class is that of the volume.
	// +optional
	Class string `json:"class,omitempty"`
	// Size is that of the volume.
	// +optional
	Size string `json:"size,omitempty"`
}

// Sharding runs several sets of controllers.
type Sharding struct {
	// Key is the label that names the shard of an object.
	// +optional
	Key string `json:"key,omitempty"`
	// Shards are the values of the label.
	// +optional
	Shards []string `json:"shards,omitempty"`
	// Storage is ephemeral or persistent.
	// +optional
	Storage string `json:"storage,omitempty"`
}

// Sync is the root of the cluster.
type Sync struct {
	// Name is that of the source and of the Kustomization.
	// +optional
	Name string `json:"name,omitempty"`
	// Kind is that of the source.
	// +kubebuilder:validation:Enum=GitRepository;OCIRepository;Bucket
	Kind string `json:"kind"`
	// URL is the address of the source.
	URL string `json:"url"`
	// Ref is a Git ref, a tag or the name of a bucket.
	Ref string `json:"ref"`
	// Path is the directory of the root.
	Path string `json:"path"`
	// PullSecret is the login.
	// +optional
	PullSecret string `json:"pullSecret,omitempty"`
	// Provider is the cloud that the login comes from.
	// +optional
	Provider string `json:"provider,omitempty"`
	// Interval is that of the source.
	// +optional
	Interval *metav1.Duration `json:"interval,omitempty"`
}

// ComponentImage is the image of a controller.
type ComponentImage struct {
	// Name of the controller.
	Name string `json:"name"`
	// Repository of the image.
	Repository string `json:"repository"`
	// Tag of the image.
	Tag string `json:"tag"`
	// Digest of the image.
	// +optional
	Digest string `json:"digest,omitempty"`
}

// FluxInstanceStatus is what became of a FluxInstance.
type FluxInstanceStatus struct {
	meta.ReconcileRequestStatus `json:",inline"`
	meta.ForceRequestStatus     `json:",inline"`

	// Conditions say where the object stands.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// LastAttemptedRevision is the version that was tried last.
	// +optional
	LastAttemptedRevision string `json:"lastAttemptedRevision,omitempty"`
	// LastAppliedRevision is the version that was applied last.
	// +optional
	LastAppliedRevision string `json:"lastAppliedRevision,omitempty"`
	// LastArtifactRevision is the digest of the manifests.
	// +optional
	LastArtifactRevision string `json:"lastArtifactRevision,omitempty"`
	// Components are the images of the controllers.
	// +optional
	Components []ComponentImage `json:"components,omitempty"`
	// Inventory are the objects that were applied.
	// +optional
	Inventory *ResourceInventory `json:"inventory,omitempty"`
	// History are the last passes.
	// +optional
	History meta.History `json:"history,omitempty"`
}

// FluxInstance asks for an installation of Flux.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].message"
// +kubebuilder:printcolumn:name="Revision",type="string",JSONPath=".status.lastAttemptedRevision"
type FluxInstance struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   FluxInstanceSpec   `json:"spec,omitempty"`
	Status FluxInstanceStatus `json:"status,omitempty"`
}

// FluxInstanceList is a list of FluxInstances.
// +kubebuilder:object:root=true
type FluxInstanceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []FluxInstance `json:"items"`
}
