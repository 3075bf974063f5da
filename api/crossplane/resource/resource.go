package resource

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Spec is what every managed resource declares.
type Spec struct {
	// ManagementPolicies are what may be done: Observe, Create, Update, Delete, LateInitialize, or * for everything.
	// +optional
	// +kubebuilder:default={"*"}
	ManagementPolicies []ManagementAction `json:"managementPolicies,omitempty"`
}

// ManagementAction is something that may be done about a managed resource.
//
// +kubebuilder:validation:Enum=Observe;Create;Update;Delete;LateInitialize;*
type ManagementAction string

// ClusterSpec is what a cluster-scoped managed resource declares.
type ClusterSpec struct {
	Spec `json:",inline"`
	// DeletionPolicy says what becomes of what the resource stands for when the resource is deleted.
	// +optional
	// +kubebuilder:validation:Enum=Orphan;Delete
	// +kubebuilder:default=Delete
	DeletionPolicy string `json:"deletionPolicy,omitempty"`
	// ProviderConfigReference names the configuration of the provider.
	// +optional
	// +kubebuilder:default={name: "default"}
	ProviderConfigReference *ConfigReference `json:"providerConfigRef,omitempty"`
	// WriteConnectionSecretToReference names the Secret that gets the connection details.
	// +optional
	WriteConnectionSecretToReference *SecretReference `json:"writeConnectionSecretToRef,omitempty"`
}

// NamespacedSpec is what a namespaced managed resource declares. What it refers to by a name alone is in its namespace.
type NamespacedSpec struct {
	Spec `json:",inline"`
	// ProviderConfigReference names the configuration of the provider: a ProviderConfig of the namespace, or a
	// ClusterProviderConfig.
	// +optional
	// +kubebuilder:default={kind: "ClusterProviderConfig", name: "default"}
	ProviderConfigReference *KindReference `json:"providerConfigRef,omitempty"`
	// WriteConnectionSecretToReference names the Secret that gets the connection details.
	// +optional
	WriteConnectionSecretToReference *LocalSecretReference `json:"writeConnectionSecretToRef,omitempty"`
}

// ConfigReference names a configuration of a provider.
type ConfigReference struct {
	Name string `json:"name"`
	// +optional
	Policy *ReferencePolicy `json:"policy,omitempty"`
}

// KindReference names a configuration of a provider by its kind.
type KindReference struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// ReferencePolicy says when a reference is resolved, and whether it has to be.
type ReferencePolicy struct {
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent
	Resolve *string `json:"resolve,omitempty"`
	// +optional
	// +kubebuilder:validation:Enum=Required;Optional
	Resolution *string `json:"resolution,omitempty"`
}

// SecretReference names a Secret.
type SecretReference struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// LocalSecretReference names a Secret in the namespace of the resource.
type LocalSecretReference struct {
	Name string `json:"name"`
}

// Status is what every managed resource shows.
type Status struct {
	// ObservedGeneration is that of the spec which the conditions are about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// LastHandledReconcileAt is the last value of the annotation crossplane.io/reconcile-requested-at that was acted on.
	// +optional
	LastHandledReconcileAt string `json:"lastHandledReconcileAt,omitempty"`
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []Condition `json:"conditions,omitempty"`
	// Record is what Headgate has to remember of the resource, such as what it was created with. It is not meant to be read.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	Record *runtime.RawExtension `json:"record,omitempty"`
}

// Condition is how a resource is, in one respect: Synced, Ready, UpToDate.
type Condition struct {
	Type               string                 `json:"type"`
	Status             metav1.ConditionStatus `json:"status"`
	LastTransitionTime metav1.Time            `json:"lastTransitionTime"`
	Reason             string                 `json:"reason"`
	// +optional
	Message string `json:"message,omitempty"`
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}
