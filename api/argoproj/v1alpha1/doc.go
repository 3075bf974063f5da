// Package v1alpha1 holds the types of the group argoproj.io that are served: Application, ApplicationSet and
// AppProject. They were written from the public definitions of the API, of Argo CD 3.5, and take what those
// take: the same fields, the same required ones, the same status.
//
// +kubebuilder:object:generate=true
// +groupName=argoproj.io
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and the version of the types.
var GroupVersion = schema.GroupVersion{Group: "argoproj.io", Version: "v1alpha1"}

// The kinds of the group that are served.
const (
	ApplicationKind    = "Application"
	ApplicationSetKind = "ApplicationSet"
	AppProjectKind     = "AppProject"
)

// AddToScheme makes the types known to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&Application{}, &ApplicationList{}, &ApplicationSet{}, &ApplicationSetList{}, &AppProject{}, &AppProjectList{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
