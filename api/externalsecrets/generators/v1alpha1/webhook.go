package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
)

// Webhook takes values from the answer of any HTTP server.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:categories={external-secrets,external-secrets-generators}
type Webhook struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// Spec is the request.
	// +optional
	Spec WebhookSpec `json:"spec,omitzero"`
}

// WebhookList is a list of Webhooks.
//
// +kubebuilder:object:root=true
type WebhookList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Webhook `json:"items"`
}

// WebhookSpec is a request.
type WebhookSpec struct {
	// URL is a template with the Secrets by their names.
	URL string `json:"url"`
	// Method is GET by default.
	Method string `json:"method,omitempty"`
	// Headers are templates.
	Headers map[string]string `json:"headers,omitempty"`
	// Body is a template.
	Body string `json:"body,omitempty"`
	// Timeout of the request.
	Timeout *metav1.Duration `json:"timeout,omitempty"`
	// Result says where the values are in the response.
	// +optional
	Result esv1.WebhookResult `json:"result,omitzero"`
	// Secrets for the templates.
	Secrets []esv1.WebhookSecret `json:"secrets,omitempty"`
	// CABundle are certificates of an authority, in Base64.
	CABundle []byte `json:"caBundle,omitempty"`
	// CAProvider names them.
	CAProvider *esv1.CAProvider `json:"caProvider,omitempty"`
}
