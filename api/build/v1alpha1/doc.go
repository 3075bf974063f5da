// Package v1alpha1 holds the types of the group build.headgate.dev: Build, which keeps what a workflow makes, such as an image and
// the Secret that names it, as its inputs have it.
//
// +kubebuilder:object:generate=true
// +groupName=build.headgate.dev
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and the version of the types.
var GroupVersion = schema.GroupVersion{Group: "build.headgate.dev", Version: "v1alpha1"}

// BuildKind is the kind of Builds.
const BuildKind = "Build"

// AddToScheme makes the types known to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &Build{}, &BuildList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
