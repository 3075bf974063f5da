// Package v1alpha1 holds types of the group generators.external-secrets.io: Password, UUID, Webhook and GithubAccessToken. They were written from
// the public definitions of the API, of External Secrets Operator 1.3, and take what those take.
//
// +kubebuilder:object:generate=true
// +groupName=generators.external-secrets.io
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and the version of the types.
var GroupVersion = schema.GroupVersion{Group: "generators.external-secrets.io", Version: "v1alpha1"}

// The kinds of the group that have types.
const (
	PasswordKind          = "Password"
	UUIDKind              = "UUID"
	WebhookKind           = "Webhook"
	GithubAccessTokenKind = "GithubAccessToken"
	ClusterGeneratorKind  = "ClusterGenerator"
)

// AddToScheme makes the types known to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &Password{}, &PasswordList{}, &UUID{}, &UUIDList{}, &ClusterGenerator{}, &ClusterGeneratorList{},
		&Webhook{}, &WebhookList{}, &GithubAccessToken{}, &GithubAccessTokenList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
