package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// CustomPackage shows an Application or an ApplicationSet that was read from a file.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=custompackages
// +kubebuilder:printcolumn:name="Kind",type=string,JSONPath=`.spec.argoCD.type`
// +kubebuilder:printcolumn:name="Application",type=string,JSONPath=`.spec.argoCD.name`
// +kubebuilder:printcolumn:name="Synced",type=boolean,JSONPath=`.status.synced`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type CustomPackage struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is what was read.
	// +optional
	Spec CustomPackageSpec `json:"spec,omitzero"`
	// Status is what became of it.
	// +optional
	Status CustomPackageStatus `json:"status,omitzero"`
}

// CustomPackageList is a list of CustomPackages.
//
// +kubebuilder:object:root=true
type CustomPackageList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []CustomPackage `json:"items"`
}

// CustomPackageSpec is what was read.
type CustomPackageSpec struct {
	// ArgoCD is the object of the package.
	// +optional
	ArgoCD ArgoCDPackage `json:"argoCD,omitzero"`
	// GitServerURL is the base URL of the Git server for users.
	// +optional
	GitServerURL string `json:"gitServerURL,omitempty"`
	// GitServerAuthSecretRef is the Secret with the credentials of its administrator.
	// +optional
	GitServerAuthSecretRef SecretReference `json:"gitServerAuthSecretRef,omitzero"`
	// InternalGitServeURL is the base URL of the Git server in the cluster. The name of the field is that of idpbuilder.
	// +optional
	InternalGitServeURL string `json:"internalGitServeURL,omitempty"`
	// RemoteRepository is what the file was fetched from.
	// +optional
	RemoteRepository RemoteRepository `json:"remoteRepository,omitzero"`
	// Replicate reports whether its directories are repositories of the Git server.
	// +optional
	Replicate bool `json:"replicate,omitempty"`
}

// ArgoCDPackage is the object of a package.
type ArgoCDPackage struct {
	// ApplicationFile is the absolute path of the file; that of a remote package is relative to its repository.
	// +optional
	ApplicationFile string `json:"applicationFile,omitempty"`
	// Name of the object.
	// +optional
	Name string `json:"name,omitempty"`
	// Namespace of the object.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// Type is the kind of the object.
	// +optional
	// +kubebuilder:validation:Enum=Application;ApplicationSet
	Type string `json:"type,omitempty"`
}

// RemoteRepository is a directory of a remote repository.
type RemoteRepository struct {
	// CloneSubmodules reports whether these are fetched as well.
	// +optional
	CloneSubmodules bool `json:"cloneSubmodules,omitempty"`
	// Path is the directory in the repository.
	// +optional
	Path string `json:"path,omitempty"`
	// URL is that of the repository, without credentials.
	// +optional
	URL string `json:"url,omitempty"`
	// Ref is a branch, a tag or a commit; empty for the default branch.
	// +optional
	Ref string `json:"ref,omitempty"`
}

// CustomPackageStatus is what became of a package.
type CustomPackageStatus struct {
	// ObservedGeneration is the generation of the object that the status is of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Synced reports whether the object was applied with the URLs of its repositories.
	// +optional
	Synced bool `json:"synced,omitempty"`
	// GitRepositoryRefs are the repositories of its directories.
	// +optional
	GitRepositoryRefs []ObjectRef `json:"gitRepositoryRefs,omitempty"`
}

// ObjectRef names an object.
type ObjectRef struct {
	// APIVersion of the object.
	// +optional
	APIVersion string `json:"apiVersion,omitempty"`
	// Kind of the object.
	// +optional
	Kind string `json:"kind,omitempty"`
	// Name of the object.
	// +optional
	Name string `json:"name,omitempty"`
	// Namespace of the object.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// UID of the object.
	// +optional
	UID string `json:"uid,omitempty"`
}

// SecretReference names a Secret.
type SecretReference struct {
	// Name of the Secret.
	// +optional
	Name string `json:"name,omitempty"`
	// Namespace of the Secret.
	// +optional
	Namespace string `json:"namespace,omitempty"`
}
