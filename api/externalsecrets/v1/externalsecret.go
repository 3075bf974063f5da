package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ExternalSecret makes a Secret of what a store has.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:categories={external-secrets},shortName=es
// +kubebuilder:printcolumn:name="StoreType",type=string,JSONPath=`.spec.secretStoreRef.kind`
// +kubebuilder:printcolumn:name="Store",type=string,JSONPath=`.spec.secretStoreRef.name`
// +kubebuilder:printcolumn:name="Refresh Interval",type=string,JSONPath=`.spec.refreshInterval`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Last Sync",type=date,JSONPath=`.status.refreshTime`
type ExternalSecret struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// Spec is what is wanted.
	// +optional
	Spec ExternalSecretSpec `json:"spec,omitzero"`
	// Status is what was observed last.
	// +optional
	Status ExternalSecretStatus `json:"status,omitzero"`
}

// ExternalSecretList is a list of ExternalSecrets.
//
// +kubebuilder:object:root=true
type ExternalSecretList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ExternalSecret `json:"items"`
}

// RefreshPolicy says when an ExternalSecret is refreshed.
//
// +kubebuilder:validation:Enum=CreatedOnce;Periodic;OnChange
type RefreshPolicy string

// The policies for refreshes.
const (
	RefreshCreatedOnce RefreshPolicy = "CreatedOnce"
	RefreshPeriodic    RefreshPolicy = "Periodic"
	RefreshOnChange    RefreshPolicy = "OnChange"
)

// ExternalSecretSpec is what an ExternalSecret declares.
type ExternalSecretSpec struct {
	// SecretStoreRef is the store.
	// +optional
	SecretStoreRef SecretStoreRef `json:"secretStoreRef,omitzero"`
	// Target is the Secret.
	// +kubebuilder:default={creationPolicy:Owner,deletionPolicy:Retain}
	// +optional
	Target Target `json:"target,omitzero"`
	// RefreshPolicy is Periodic by default.
	RefreshPolicy RefreshPolicy `json:"refreshPolicy,omitempty"`
	// RefreshInterval is 1h by default; "0" refreshes once.
	// +kubebuilder:default="1h0m0s"
	RefreshInterval string `json:"refreshInterval,omitempty"`
	// SyncWindows are times in which periodic refreshes happen or not.
	SyncWindows *SyncWindows `json:"syncWindows,omitempty"`
	// Data are keys of the Secret, each from one value of the store.
	Data []Data `json:"data,omitempty"`
	// DataFrom are whole sets of keys; Data overrides them.
	DataFrom []DataFrom `json:"dataFrom,omitempty"`
}

// SecretStoreRef names a store.
type SecretStoreRef struct {
	// Name of the store.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
	// Kind is SecretStore, the default, or ClusterSecretStore.
	// +kubebuilder:validation:Enum=SecretStore;ClusterSecretStore
	Kind string `json:"kind,omitempty"`
}

// CreationPolicy says how the Secret is made, and whose it is.
//
// +kubebuilder:validation:Enum=Owner;Orphan;CreateOrMerge;Merge;None
type CreationPolicy string

// The policies for creation.
const (
	// CreateOwner makes the Secret, which is deleted with the ExternalSecret.
	CreateOwner CreationPolicy = "Owner"
	// CreateOrphan makes the Secret, which stays.
	CreateOrphan CreationPolicy = "Orphan"
	// CreateOrMerge makes the Secret, or adds to the one that is there.
	CreateOrMerge CreationPolicy = "CreateOrMerge"
	// CreateMerge adds to the one that is there.
	CreateMerge CreationPolicy = "Merge"
	// CreateNone makes nothing.
	CreateNone CreationPolicy = "None"
)

// DeletionPolicy says what becomes of the Secret when the store has none of its values any more.
//
// +kubebuilder:validation:Enum=Delete;Merge;Retain
type DeletionPolicy string

// The policies for deletion.
const (
	// DeleteSecret deletes the Secret.
	DeleteSecret DeletionPolicy = "Delete"
	// DeleteKeys removes the keys.
	DeleteKeys DeletionPolicy = "Merge"
	// DeleteRetain keeps everything, and reports an error.
	DeleteRetain DeletionPolicy = "Retain"
)

// Target is the Secret that is made.
type Target struct {
	// Name of the Secret; none is that of the ExternalSecret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
	// CreationPolicy is Owner by default.
	// +kubebuilder:default="Owner"
	CreationPolicy CreationPolicy `json:"creationPolicy,omitempty"`
	// DeletionPolicy is Retain by default.
	// +kubebuilder:default="Retain"
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
	// Template of the Secret.
	Template *Template `json:"template,omitempty"`
	// Manifest names another kind of object instead of a Secret.
	Manifest *ManifestReference `json:"manifest,omitempty"`
	// Immutable makes the Secret one that cannot be changed.
	Immutable bool `json:"immutable,omitempty"`
}

// ManifestReference names a kind of object.
type ManifestReference struct {
	// APIVersion of the kind.
	// +kubebuilder:validation:MinLength=1
	APIVersion string `json:"apiVersion"`
	// Kind of the object.
	// +kubebuilder:validation:MinLength=1
	Kind string `json:"kind"`
}

// SyncWindows are times in which periodic refreshes happen or not.
type SyncWindows struct {
	// Kind is allow or deny.
	// +kubebuilder:validation:Enum=allow;deny
	Kind string `json:"kind"`
	// Windows are the times, in UTC.
	// +kubebuilder:validation:MinItems=1
	Windows []SyncWindow `json:"windows"`
}

// SyncWindow is a time that recurs.
type SyncWindow struct {
	// Schedule is when it begins, as cron has it.
	Schedule string `json:"schedule"`
	// Duration is how long it lasts.
	Duration string `json:"duration"`
}

// ExternalSecretStatus is what became of an ExternalSecret.
type ExternalSecretStatus struct {
	// RefreshTime is when it was refreshed last.
	// +nullable
	// +optional
	RefreshTime metav1.Time `json:"refreshTime,omitzero"`
	// SyncedResourceVersion says which state of the ExternalSecret was refreshed.
	SyncedResourceVersion string `json:"syncedResourceVersion,omitempty"`
	// Conditions say where it stands.
	Conditions []Condition `json:"conditions,omitempty"`
	// Binding names the Secret.
	// +optional
	Binding corev1.LocalObjectReference `json:"binding,omitzero"`
}

// Condition says where an ExternalSecret, a store or a PushSecret stands.
type Condition struct {
	// Type is Ready or Deleted.
	Type string `json:"type"`
	// Status is True, False or Unknown.
	Status corev1.ConditionStatus `json:"status"`
	// Reason in a word.
	Reason string `json:"reason,omitempty"`
	// Message for people.
	Message string `json:"message,omitempty"`
	// LastTransitionTime is when Status changed.
	// +optional
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitzero"`
}
