package kubernetes

import "k8s.io/apimachinery/pkg/runtime"

// ObjectSpec is what an Object declares beside the fields of any managed resource.
type ObjectSpec struct {
	ForProvider ObjectParameters `json:"forProvider"`
	// ConnectionDetails are values of objects that the connection Secret gets.
	// +optional
	ConnectionDetails []ConnectionDetail `json:"connectionDetails,omitempty"`
	// References are objects that have to exist, and values of them that the manifest gets.
	// +optional
	References []Reference `json:"references,omitempty"`
	// +optional
	Readiness Readiness `json:"readiness,omitempty"`
	// Watch is accepted, and true whatever it says: objects are always watched.
	// +optional
	Watch *bool `json:"watch,omitempty"`
}

// ObjectParameters are the object.
type ObjectParameters struct {
	// Manifest is the object. Without a name it has that of the Object.
	// +kubebuilder:validation:EmbeddedResource
	// +kubebuilder:pruning:PreserveUnknownFields
	Manifest runtime.RawExtension `json:"manifest"`
	// DeletionPropagationPolicy says what becomes of the objects that it owns when it is deleted; Background by default.
	// +optional
	// +kubebuilder:validation:Enum=Orphan;Background;Foreground
	DeletionPropagationPolicy string `json:"deletionPropagationPolicy,omitempty"`
}

// ObjectObservation is what is observed.
type ObjectObservation struct {
	// Manifest is the object as it is, without the values of a Secret.
	// +optional
	// +kubebuilder:validation:EmbeddedResource
	// +kubebuilder:pruning:PreserveUnknownFields
	Manifest runtime.RawExtension `json:"manifest,omitempty"`
}

// Reference names an object that has to exist.
type Reference struct {
	// DependsOn only has to exist.
	// +optional
	DependsOn *DependsOn `json:"dependsOn,omitempty"`
	// PatchesFrom has a value, too.
	// +optional
	PatchesFrom *PatchesFrom `json:"patchesFrom,omitempty"`
	// ToFieldPath is where the manifest gets it; where it is from by default.
	// +optional
	ToFieldPath *string `json:"toFieldPath,omitempty"`
}

// DependsOn is an object, an Object by default.
type DependsOn struct {
	// +optional
	APIVersion string `json:"apiVersion,omitempty"`
	// +optional
	Kind string `json:"kind,omitempty"`
	Name string `json:"name"`
	// +optional
	Namespace string `json:"namespace,omitempty"`
}

// PatchesFrom is a value of an object.
type PatchesFrom struct {
	DependsOn `json:",inline"`
	FieldPath *string `json:"fieldPath"`
}

// ConnectionDetail is a value of an object for the connection Secret. Without an object it is of the one in the manifest.
type ConnectionDetail struct {
	// +optional
	APIVersion string `json:"apiVersion,omitempty"`
	// +optional
	Kind string `json:"kind,omitempty"`
	// +optional
	Name string `json:"name,omitempty"`
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// +optional
	UID string `json:"uid,omitempty"`
	// +optional
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// +optional
	FieldPath string `json:"fieldPath,omitempty"`
	// FromFieldPath is another spelling of FieldPath, which manifests in the wild have. The upstream drops it.
	// +optional
	FromFieldPath string `json:"fromFieldPath,omitempty"`
	// +optional
	ToConnectionSecretKey string `json:"toConnectionSecretKey,omitempty"`
}

// Readiness says when an Object is ready.
// +kubebuilder:validation:XValidation:rule="!has(self.policy) || self.policy != 'DeriveFromCelQuery' || has(self.celQuery) && size(self.celQuery) > 0",message="celQuery must be set if policy is DeriveFromCelQuery"
type Readiness struct {
	// +optional
	// +kubebuilder:validation:Enum=SuccessfulCreate;DeriveFromObject;AllTrue;DeriveFromCelQuery
	Policy string `json:"policy,omitempty"`
	// CelQuery is true of an object that is ready.
	// +optional
	CelQuery string `json:"celQuery,omitempty"`
	// NoRequeue is accepted, and true whatever it says: nothing is polled.
	// +optional
	NoRequeue *bool `json:"noRequeue,omitempty"`
}
