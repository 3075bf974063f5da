// Package v1alpha1 holds the type of the group cluster.headgate.dev: VirtualCluster, an API of its own beside that of the embedded cluster.
//
// +kubebuilder:object:generate=true
// +groupName=cluster.headgate.dev
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and the version of the types.
var GroupVersion = schema.GroupVersion{Group: "cluster.headgate.dev", Version: "v1alpha1"}

// VirtualClusterKind is the kind of the group.
const VirtualClusterKind = "VirtualCluster"

const (
	// Finalizer keeps a VirtualCluster until its state and the Secrets in other namespaces are deleted.
	Finalizer = "cluster.headgate.dev/finalizer"
	// AnnotationOwner has the namespace and the name of the VirtualCluster that a Secret was written for.
	AnnotationOwner = "cluster.headgate.dev/virtual-cluster"
	// LabelCopy marks, with the value true, Secrets of a virtual cluster that are copies of those of the host.
	LabelCopy = "cluster.headgate.dev/copy"
	// AnnotationSource has the namespace and the name of the Secret of the host that a copy is of.
	AnnotationSource = "cluster.headgate.dev/source"
)

// The conditions of a VirtualCluster.
const (
	// ConditionReady is true when its API answers and the Secrets with its credentials are written.
	ConditionReady = "Ready"
	// ConditionSecretsSynced is true when it has every Secret that the mappings name, and no problem with any of them.
	ConditionSecretsSynced = "SecretsSynced"
)

// AddToScheme makes the types known to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &VirtualCluster{}, &VirtualClusterList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
