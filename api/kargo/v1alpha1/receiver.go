package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WebhookReceiver receives what one platform reports; exactly one platform is set.
type WebhookReceiver struct {
	// Name of the receiver.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$
	Name string `json:"name"`
	// Bitbucket Cloud; its Secret has the key "secret".
	Bitbucket *SecretReceiver `json:"bitbucket,omitempty"`
	// DockerHub; its Secret has the key "secret".
	DockerHub *SecretReceiver `json:"dockerhub,omitempty"`
	// GitHub; its Secret has the key "secret".
	GitHub *SecretReceiver `json:"github,omitempty"`
	// GitLab; its Secret has the key "secret-token".
	GitLab *SecretReceiver `json:"gitlab,omitempty"`
	// Harbor; its Secret has the key "auth-header".
	Harbor *SecretReceiver `json:"harbor,omitempty"`
	// Quay; its Secret has the key "secret".
	Quay *SecretReceiver `json:"quay,omitempty"`
	// Artifactory; its Secret has the key "secret-token".
	Artifactory *ArtifactoryReceiver `json:"artifactory,omitempty"`
	// Azure Container Registry or DevOps; its Secret has the key "secret".
	Azure *SecretReceiver `json:"azure,omitempty"`
	// Gitea; its Secret has the key "secret".
	Gitea *SecretReceiver `json:"gitea,omitempty"`
	// Generic takes any request; its Secret has the key "secret".
	Generic *GenericReceiver `json:"generic,omitempty"`
}

// SecretReceiver is a receiver that needs a Secret and nothing else.
type SecretReceiver struct {
	// SecretRef names a Secret in the namespace of the Project.
	SecretRef corev1.LocalObjectReference `json:"secretRef"`
}

// ArtifactoryReceiver receives what JFrog Artifactory reports.
type ArtifactoryReceiver struct {
	// SecretRef names a Secret in the namespace of the Project.
	SecretRef corev1.LocalObjectReference `json:"secretRef"`
	// VirtualRepoName is the virtual repository by which Warehouses know what was pushed to a local one.
	VirtualRepoName string `json:"virtualRepoName,omitempty"`
}

// GenericReceiver takes any request, and does what its actions say.
type GenericReceiver struct {
	// SecretRef names a Secret in the namespace of the Project.
	SecretRef corev1.LocalObjectReference `json:"secretRef"`
	// Actions for each request.
	// +kubebuilder:validation:MinItems=1
	Actions []GenericAction `json:"actions,omitempty"`
}

// GenericAction is what is done at a request.
type GenericAction struct {
	// Action is Refresh.
	// +kubebuilder:validation:Enum=Refresh
	Action string `json:"action"`
	// WhenExpression has to be true of the request.
	WhenExpression string `json:"whenExpression,omitempty"`
	// Parameters of the action; expressions are evaluated.
	Parameters map[string]string `json:"parameters,omitempty"`
	// TargetSelectionCriteria select the objects.
	// +kubebuilder:validation:MinItems=1
	TargetSelectionCriteria []GenericTarget `json:"targetSelectionCriteria,omitempty"`
}

// GenericTarget selects objects by everything that is set.
type GenericTarget struct {
	// Kind is Warehouse.
	// +kubebuilder:validation:Enum=Warehouse
	Kind string `json:"kind"`
	// Name of one object.
	Name string `json:"name,omitempty"`
	// LabelSelector selects by labels.
	// +optional
	LabelSelector metav1.LabelSelector `json:"labelSelector,omitzero"`
	// IndexSelector selects by what objects subscribe to.
	// +optional
	IndexSelector IndexSelector `json:"indexSelector,omitzero"`
}

// IndexSelector selects objects by indices.
type IndexSelector struct {
	// MatchIndices have to match, all of them.
	// +kubebuilder:validation:MinItems=1
	MatchIndices []IndexRequirement `json:"matchIndices,omitempty"`
}

// IndexRequirement is what an index has to have.
type IndexRequirement struct {
	// Key of the index.
	// +kubebuilder:validation:Enum=subscribedURLs;receiverPaths
	Key string `json:"key"`
	// Operator is Equals or NotEquals.
	// +kubebuilder:validation:Enum=Equals;NotEquals
	Operator string `json:"operator"`
	// Value, or an expression for it.
	Value string `json:"value"`
}

// WebhookReceiverDetails are where a receiver listens.
type WebhookReceiverDetails struct {
	// Name of the receiver.
	Name string `json:"name,omitempty"`
	// Path of its address.
	Path string `json:"path,omitempty"`
	// URL is its whole address.
	URL string `json:"url,omitempty"`
}
