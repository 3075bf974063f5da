package installation

import (
	"context"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"

	"github.com/headgate-dev/headgate/internal/flux/toolkit"
)

// Permission is something that the controller has to be allowed to do.
type Permission struct {
	Verb, Group, Resource string
	// Namespace is empty for all of them, and so is Name.
	Namespace, Name string
}

// String words a permission as kubectl auth can-i takes it.
func (p Permission) String() string {
	resource := p.Resource
	if p.Group != "" {
		resource += "." + p.Group
	}
	if p.Group == "*" && p.Resource == "*" {
		resource = "objects of every kind"
	}
	if p.Name != "" {
		resource += " of " + p.Name
	}
	if p.Namespace != "" {
		return fmt.Sprintf("%s %s in namespace %s", p.Verb, resource, p.Namespace)
	}
	return p.Verb + " " + resource
}

// Permissions are what the roles among the objects of an installation allow.
func Permissions(objects []*unstructured.Unstructured) ([]Permission, error) {
	var all []Permission
	for _, o := range objects {
		if o.GetKind() != "ClusterRole" && o.GetKind() != "Role" {
			continue
		}
		var role rbacv1.ClusterRole
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &role); err != nil {
			return nil, fmt.Errorf("reading %s %s: %w", o.GetKind(), o.GetName(), err)
		}
		for _, rule := range role.Rules {
			all = append(all, permissionsOf(rule, o.GetNamespace())...)
		}
	}
	return all, nil
}

func permissionsOf(rule rbacv1.PolicyRule, namespace string) []Permission {
	names := rule.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	var all []Permission
	for _, verb := range rule.Verbs {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, name := range names {
					all = append(all, Permission{verb, group, resource, namespace, name})
				}
			}
		}
	}
	return all
}

// Missing are the permissions that an account lacks; the account is the caller if it is
// empty.
func Missing(ctx context.Context, client kubernetes.Interface, account string, permissions []Permission) ([]Permission, error) {
	var missing []Permission
	for _, p := range permissions {
		allowed, err := may(ctx, client, account, p)
		if err != nil {
			return nil, fmt.Errorf("asking whether it is allowed to %s: %w", p, err)
		}
		if !allowed {
			missing = append(missing, p)
		}
	}
	return missing, nil
}

func may(ctx context.Context, client kubernetes.Interface, account string, p Permission) (bool, error) {
	attributes := &authorizationv1.ResourceAttributes{Verb: p.Verb, Group: p.Group, Resource: p.Resource, Namespace: p.Namespace, Name: p.Name}
	if account == "" {
		review, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: attributes},
		}, metav1.CreateOptions{})
		if err != nil {
			return false, err
		}
		return review.Status.Allowed, nil
	}
	review, err := client.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{ResourceAttributes: attributes, User: account, Groups: groupsOf(account)},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return review.Status.Allowed, nil
}

// Account is the user that the controller of an installation is to the API server.
func Account() string { return accountPrefix + toolkit.Namespace + ":" + Name }

const accountPrefix = "system:serviceaccount:"

// groupsOf are the groups that every ServiceAccount is in.
func groupsOf(account string) []string {
	namespace, _, _ := strings.Cut(strings.TrimPrefix(account, accountPrefix), ":")
	return []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"}
}
