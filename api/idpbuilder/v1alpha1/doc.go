// Package v1alpha1 holds the types of the group idpbuilder.cnoe.io: Localbuild, CustomPackage and GitRepository. They were written from the
// public definitions of the API, of idpbuilder 0.10.
//
// Objects of these kinds show what was read and what is served, so that scripts of idpbuilder's users find it. They are written,
// and edits of them have no effect.
//
// +kubebuilder:object:generate=true
// +groupName=idpbuilder.cnoe.io
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and the version of the types.
var GroupVersion = schema.GroupVersion{Group: "idpbuilder.cnoe.io", Version: "v1alpha1"}

// The kinds of the group.
const (
	LocalbuildKind    = "Localbuild"
	CustomPackageKind = "CustomPackage"
	GitRepositoryKind = "GitRepository"
)

// The annotations of the objects.
const (
	// CLIStartTimeAnnotation has the time at which the process was started that wrote the object, in the form of RFC 3339.
	CLIStartTimeAnnotation = "cnoe.io/cli-start-time"
	// LastObservedCLIStartTimeAnnotation has the value of the other one that the status is of.
	LastObservedCLIStartTimeAnnotation = "cnoe.io/last-observed-cli-start-time"
	// PackagePriorityAnnotation has the index of the input of a package, among those of its kind.
	PackagePriorityAnnotation = "cnoe.io/package-priority"
	// PackageSourcePathAnnotation has the directory, the file or the URL of that input.
	PackageSourcePathAnnotation = "cnoe.io/package-source-path"
)

// The labels of the objects, and of what belongs to a package.
const (
	// PackageNameLabel has the name of the package.
	PackageNameLabel = "cnoe.io/package-name"
	// PackageTypeLabel has core or custom.
	PackageTypeLabel = "cnoe.io/package-type"
	// CLISecretLabel marks the Secrets that are shown to users, with the value true.
	CLISecretLabel = "cnoe.io/cli-secret"
)

// AddToScheme makes the types known to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &Localbuild{}, &LocalbuildList{}, &CustomPackage{}, &CustomPackageList{}, &GitRepository{}, &GitRepositoryList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
