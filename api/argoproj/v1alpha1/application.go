package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Application brings what its sources hold to one cluster.
//
// The API has no status subresource: who writes the object writes all of it.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=applications,shortName=app;apps
// +kubebuilder:printcolumn:name="Sync Status",type=string,JSONPath=`.status.sync.status`
// +kubebuilder:printcolumn:name="Health Status",type=string,JSONPath=`.status.health.status`
// +kubebuilder:printcolumn:name="Revision",type=string,JSONPath=`.status.sync.revision`,priority=10
// +kubebuilder:printcolumn:name="Project",type=string,JSONPath=`.spec.project`,priority=10
// +kubebuilder:metadata:labels="app.kubernetes.io/name=applications.argoproj.io"
// +kubebuilder:metadata:labels="app.kubernetes.io/part-of=argocd"
type Application struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is what is wanted.
	Spec ApplicationSpec `json:"spec"`
	// Status is what was seen last.
	// +optional
	Status ApplicationStatus `json:"status,omitzero"`
	// Operation asks for something to be done now; it goes when that has ended.
	Operation *Operation `json:"operation,omitempty"`
}

// ApplicationList is a list of Applications.
//
// +kubebuilder:object:root=true
type ApplicationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []Application `json:"items"`
}

// ApplicationSpec is what an Application declares.
type ApplicationSpec struct {
	// Source is where the objects come from.
	Source *ApplicationSource `json:"source,omitempty"`
	// Destination is the cluster and the namespace that get the objects.
	Destination ApplicationDestination `json:"destination"`
	// Project is the AppProject that says what is permitted; "default" is one that permits everything.
	Project string `json:"project"`
	// SyncPolicy says when and how the objects are applied.
	SyncPolicy *SyncPolicy `json:"syncPolicy,omitempty"`
	// IgnoreDifferences are fields in which objects may differ from their source.
	IgnoreDifferences []ResourceIgnoreDifferences `json:"ignoreDifferences,omitempty"`
	// Info are lines for people, URLs among them.
	Info []Info `json:"info,omitempty"`
	// RevisionHistoryLimit is how many past deployments the status keeps, 10 by default.
	RevisionHistoryLimit *int64 `json:"revisionHistoryLimit,omitempty"`
	// Sources are several sources, instead of the one.
	Sources []ApplicationSource `json:"sources,omitempty"`
	// SourceHydrator has what was rendered pushed to a branch, from which it is applied.
	SourceHydrator *SourceHydrator `json:"sourceHydrator,omitempty"`
}

// ApplicationDestination names a cluster and a namespace.
type ApplicationDestination struct {
	// Server is the URL of the API server.
	Server string `json:"server,omitempty"`
	// Namespace is for objects of the source that name none.
	Namespace string `json:"namespace,omitempty"`
	// Name is that of the cluster, instead of its URL.
	Name string `json:"name,omitempty"`
}

// ResourceIgnoreDifferences names objects and fields of them.
type ResourceIgnoreDifferences struct {
	// Group of the objects, a pattern.
	Group string `json:"group,omitempty"`
	// Kind of the objects, a pattern.
	Kind string `json:"kind"`
	// Name of one object.
	Name string `json:"name,omitempty"`
	// Namespace of the objects.
	Namespace string `json:"namespace,omitempty"`
	// JSONPointers are fields as RFC 6901 writes them.
	JSONPointers []string `json:"jsonPointers,omitempty"`
	// JQPathExpressions are fields as jq writes them.
	JQPathExpressions []string `json:"jqPathExpressions,omitempty"`
	// ManagedFieldsManagers are managers whose fields are left to them.
	ManagedFieldsManagers []string `json:"managedFieldsManagers,omitempty"`
}

// Info is a line for people.
type Info struct {
	// Name of the line.
	Name string `json:"name"`
	// Value of the line.
	Value string `json:"value"`
}

// SyncPolicy says when and how objects are applied.
type SyncPolicy struct {
	// Automated has changes of the source applied on their own.
	Automated *SyncPolicyAutomated `json:"automated,omitempty"`
	// SyncOptions are options as NAME=VALUE.
	SyncOptions []string `json:"syncOptions,omitempty"`
	// Retry says how often a failed sync is tried again.
	Retry *RetryStrategy `json:"retry,omitempty"`
	// ManagedNamespaceMetadata is laid on the namespace that CreateNamespace=true makes.
	ManagedNamespaceMetadata *ManagedNamespaceMetadata `json:"managedNamespaceMetadata,omitempty"`
}

// SyncPolicyAutomated says what is done without being requested.
type SyncPolicyAutomated struct {
	// Prune deletes what the source no longer holds.
	Prune *bool `json:"prune,omitempty"`
	// SelfHeal takes back what others changed in the cluster.
	SelfHeal *bool `json:"selfHeal,omitempty"`
	// AllowEmpty permits a source without any object.
	AllowEmpty *bool `json:"allowEmpty,omitempty"`
	// Enabled is false where nothing is done on its own for now.
	Enabled *bool `json:"enabled,omitempty"`
}

// RetryStrategy says how often a failed sync is tried again, and when.
type RetryStrategy struct {
	// Limit is the number of further attempts; a negative one means no limit.
	Limit int64 `json:"limit,omitempty"`
	// Backoff is the wait between attempts.
	Backoff *Backoff `json:"backoff,omitempty"`
	// Refresh has an attempt take the newest revision.
	Refresh bool `json:"refresh,omitempty"`
}

// Backoff is a wait that grows.
type Backoff struct {
	// Duration is the first wait: seconds, or a duration such as "2m".
	Duration string `json:"duration,omitempty"`
	// Factor is what each wait is multiplied by for the next.
	Factor *int64 `json:"factor,omitempty"`
	// MaxDuration is the longest wait.
	MaxDuration string `json:"maxDuration,omitempty"`
}

// ManagedNamespaceMetadata is laid on a namespace.
type ManagedNamespaceMetadata struct {
	// Labels of the namespace.
	Labels map[string]string `json:"labels,omitempty"`
	// Annotations of the namespace.
	Annotations map[string]string `json:"annotations,omitempty"`
}
