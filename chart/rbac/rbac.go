// Package rbac has roles, bindings and service accounts for charts. It grants what it is asked to and nothing else: no wildcard is a
// default, and a binding names its role and its subjects.
package rbac

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/typed"
)

// Props are what roles, bindings and service accounts have in common.
type Props struct {
	// Name of the object; that of its path if empty.
	Name string
	// Namespace of the object; that of its chart if empty.
	Namespace   string
	Labels      map[string]string
	Annotations map[string]string
}

func (p Props) meta() metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: p.Name, Namespace: p.Namespace, Labels: p.Labels, Annotations: p.Annotations}
}

// Role puts a role of a namespace below scope.
func Role(scope chart.Scope, id string, props Props, rules ...rbacv1.PolicyRule) typed.Object[*rbacv1.Role] {
	return typed.Add(scope, id, &rbacv1.Role{ObjectMeta: props.meta(), Rules: rules})
}

// ClusterRole puts a role of the whole cluster below scope.
func ClusterRole(scope chart.Scope, id string, props Props, rules ...rbacv1.PolicyRule) typed.Object[*rbacv1.ClusterRole] {
	return typed.Add(scope, id, &rbacv1.ClusterRole{ObjectMeta: props.meta(), Rules: rules})
}

// ServiceAccount puts an account below scope.
func ServiceAccount(scope chart.Scope, id string, props Props) typed.Object[*corev1.ServiceAccount] {
	return typed.Add(scope, id, &corev1.ServiceAccount{ObjectMeta: props.meta()})
}

// RoleBinding gives the rights of a role to subjects, in one namespace.
func RoleBinding(scope chart.Scope, id string, props Props, role rbacv1.RoleRef, subjects ...rbacv1.Subject) typed.Object[*rbacv1.RoleBinding] {
	return typed.Add(scope, id, &rbacv1.RoleBinding{ObjectMeta: props.meta(), RoleRef: role, Subjects: subjects})
}

// ClusterRoleBinding gives the rights of a cluster's role to subjects, everywhere.
func ClusterRoleBinding(scope chart.Scope, id string, props Props, clusterRole string, subjects ...rbacv1.Subject) typed.Object[*rbacv1.ClusterRoleBinding] {
	return typed.Add(scope, id, &rbacv1.ClusterRoleBinding{ObjectMeta: props.meta(), RoleRef: ToClusterRole(clusterRole), Subjects: subjects})
}
