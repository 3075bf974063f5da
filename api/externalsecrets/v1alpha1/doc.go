// Package v1alpha1 holds the type of the version v1alpha1 of the group external-secrets.io: PushSecret. It was written from the public
// definition of the API, of External Secrets Operator 1.3, and takes what that takes.
//
// +kubebuilder:object:generate=true
// +groupName=external-secrets.io
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and the version of the types.
var GroupVersion = schema.GroupVersion{Group: "external-secrets.io", Version: "v1alpha1"}

// PushSecretKind is the kind of PushSecrets.
const PushSecretKind = "PushSecret"

// AddToScheme makes the types known to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &PushSecret{}, &PushSecretList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
