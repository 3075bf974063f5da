// Package v1 holds the types of the group fluxcd.controlplane.io that are served: ResourceSet,
// ResourceSetInputProvider and FluxInstance. They were written from the public documentation of the API,
// and take what it documents.
//
// +kubebuilder:object:generate=true
// +groupName=fluxcd.controlplane.io
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and the version of the types.
var GroupVersion = schema.GroupVersion{Group: "fluxcd.controlplane.io", Version: "v1"}

// AddToScheme makes the types known to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&ResourceSet{}, &ResourceSetList{}, &ResourceSetInputProvider{}, &ResourceSetInputProviderList{},
		&FluxInstance{}, &FluxInstanceList{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}

// The annotations of the group.
const (
	// ReconcileAnnotation is "disabled" on what is not to be touched.
	ReconcileAnnotation = "fluxcd.controlplane.io/reconcile"
	// ReconcileEveryAnnotation is the interval of an object, ReconcileTimeoutAnnotation its timeout.
	ReconcileEveryAnnotation   = "fluxcd.controlplane.io/reconcileEvery"
	ReconcileTimeoutAnnotation = "fluxcd.controlplane.io/reconcileTimeout"
	// ForceAnnotation is "enabled" where objects are recreated whose fields cannot be changed.
	ForceAnnotation = "fluxcd.controlplane.io/force"
	// CopyFromAnnotation names the ConfigMap or the Secret whose data an object gets.
	CopyFromAnnotation = "fluxcd.controlplane.io/copyFrom"
	// ChecksumFromAnnotation names ConfigMaps and Secrets whose digest stands beside it.
	ChecksumFromAnnotation = "fluxcd.controlplane.io/checksumFrom"
	// ConvertKubeConfigFromAnnotation names a Secret whose kubeconfig is taken apart.
	ConvertKubeConfigFromAnnotation = "fluxcd.controlplane.io/convertKubeConfigFrom"
	// RecreateOnFailureAnnotation is "enabled" on Jobs that are run again when they failed.
	RecreateOnFailureAnnotation = "fluxcd.controlplane.io/recreateOnFailure"

	// DisabledValue and EnabledValue are values of annotations.
	DisabledValue = "disabled"
	EnabledValue  = "enabled"

	// Finalizer is on objects whose own objects have to go before them.
	Finalizer = "fluxcd.controlplane.io/finalizer"
)

// CommonMetadata is laid on every object.
type CommonMetadata struct {
	// Labels are set on every object.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// Annotations are set on every object.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// LocalReference names an object in the same namespace.
type LocalReference struct {
	// Name of the object.
	Name string `json:"name"`
}

// ResourceRef is one line of an inventory.
type ResourceRef struct {
	// ID is "<namespace>_<name>_<group>_<kind>".
	ID string `json:"id"`
	// Version is that of the API in which the object was applied.
	Version string `json:"v"`
}

// ResourceInventory are the objects that were applied.
type ResourceInventory struct {
	// Entries are the objects.
	Entries []ResourceRef `json:"entries"`
}
