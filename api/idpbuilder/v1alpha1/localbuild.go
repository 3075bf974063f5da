package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Localbuild shows what a cluster was begun with.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=localbuilds,scope=Cluster
// +kubebuilder:printcolumn:name="Git server",type=string,JSONPath=`.status.gitea.externalURL`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Localbuild struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is what was requested.
	// +optional
	Spec LocalbuildSpec `json:"spec,omitzero"`
	// Status is what is available.
	// +optional
	Status LocalbuildStatus `json:"status,omitzero"`
}

// LocalbuildList is a list of Localbuilds.
//
// +kubebuilder:object:root=true
type LocalbuildList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []Localbuild `json:"items"`
}

// LocalbuildSpec is what was requested.
type LocalbuildSpec struct {
	// PackageConfigs are the packages.
	// +optional
	PackageConfigs PackageConfigs `json:"packageConfigs,omitzero"`
	// BuildCustomization is how services are reached.
	// +optional
	BuildCustomization BuildCustomization `json:"buildCustomization,omitzero"`
}

// PackageConfigs are the packages of a cluster.
type PackageConfigs struct {
	// Argo is Argo CD.
	// +optional
	Argo Enabled `json:"argoPackageConfigs,omitzero"`
	// EmbeddedArgoApplications are the core packages.
	// +optional
	EmbeddedArgoApplications Enabled `json:"embeddedArgoApplicationsPackageConfigs,omitzero"`
	// CustomPackageDirs are absolute paths of directories of packages.
	// +optional
	CustomPackageDirs []string `json:"customPackageDirs,omitempty"`
	// CustomPackageFiles are absolute paths of files of packages.
	// +optional
	CustomPackageFiles []string `json:"customPackageFiles,omitempty"`
	// CustomPackageURLs are those of remote packages, without credentials.
	// +optional
	CustomPackageURLs []string `json:"customPackageUrls,omitempty"`
	// CorePackageCustomization has a file for each core package that was changed, by the name of the package.
	// +optional
	CorePackageCustomization map[string]PackageCustomization `json:"packageCustomization,omitempty"`
}

// Enabled reports whether something is there.
type Enabled struct {
	// Enabled reports whether it is there.
	// +optional
	Enabled bool `json:"enabled,omitempty"`
}

// PackageCustomization is a file that changes a core package.
type PackageCustomization struct {
	// Name of the package.
	// +optional
	Name string `json:"name,omitempty"`
	// FilePath is the absolute path of the file.
	// +optional
	FilePath string `json:"filePath,omitempty"`
}

// BuildCustomization is how services are reached.
type BuildCustomization struct {
	// Protocol is http or https.
	// +optional
	Protocol string `json:"protocol,omitempty"`
	// Host is the one below which services have their names.
	// +optional
	Host string `json:"host,omitempty"`
	// IngressHost is the one of the ingress, if it is another one.
	// +optional
	IngressHost string `json:"ingressHost,omitempty"`
	// Port of the services.
	// +optional
	Port string `json:"port,omitempty"`
	// UsePathRouting reports whether services have paths of one host, instead of names.
	// +optional
	UsePathRouting bool `json:"usePathRouting,omitempty"`
	// SelfSignedCert is the certificate of the services, in PEM.
	// +optional
	SelfSignedCert string `json:"selfSignedCert,omitempty"`
	// StaticPassword reports whether the passwords are the known ones of a development.
	// +optional
	StaticPassword bool `json:"staticPassword,omitempty"`
}

// LocalbuildStatus is what is available.
type LocalbuildStatus struct {
	// ObservedGeneration is the generation of the object that the status is of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// ArgoCD is what serves Applications.
	// +optional
	ArgoCD ArgoCDStatus `json:"ArgoCD,omitzero"`
	// Nginx is the ingress.
	// +optional
	Nginx NginxStatus `json:"nginx,omitzero"`
	// Gitea is the Git server.
	// +optional
	Gitea GiteaStatus `json:"gitea,omitzero"`
}

// ArgoCDStatus is the state of what serves Applications.
type ArgoCDStatus struct {
	// Available reports whether Applications are reconciled.
	// +optional
	Available bool `json:"available,omitempty"`
	// AppsCreated reports whether those of the packages have been applied.
	// +optional
	AppsCreated bool `json:"appsCreated,omitempty"`
}

// NginxStatus is the state of the ingress.
type NginxStatus struct {
	// Available reports whether there is one.
	// +optional
	Available bool `json:"available,omitempty"`
}

// GiteaStatus is the state of the Git server.
type GiteaStatus struct {
	// Available reports whether it answers.
	// +optional
	Available bool `json:"available,omitempty"`
	// ExternalURL is its base URL for users.
	// +optional
	ExternalURL string `json:"externalURL,omitempty"`
	// InternalURL is its base URL in the cluster.
	// +optional
	InternalURL string `json:"internalURL,omitempty"`
	// AdminUserSecretName is the Secret with the credentials of its administrator. The name of the field is that of idpbuilder.
	// +optional
	AdminUserSecretName string `json:"adminUserSecretNameecret,omitempty"`
	// AdminUserSecretNamespace is the namespace of that Secret.
	// +optional
	AdminUserSecretNamespace string `json:"adminUserSecretNamespace,omitempty"`
}
