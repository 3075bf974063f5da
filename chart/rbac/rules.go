package rbac

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Allow is a rule: verbs on resources of a group. The core group is "".
func Allow(group string, resources []string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: slices.Clone(resources), Verbs: verbs}
}

// AllowRead is a rule to get, list and watch resources of a group.
func AllowRead(group string, resources ...string) rbacv1.PolicyRule {
	return Allow(group, resources, "get", "list", "watch")
}

// AllowReadWrite is a rule to read, create, change and delete resources of a group.
func AllowReadWrite(group string, resources ...string) rbacv1.PolicyRule {
	return Allow(group, resources, "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")
}

// Named limits a rule to objects of these names. Rules that create, list or watch cannot be limited so.
func Named(rule rbacv1.PolicyRule, names ...string) rbacv1.PolicyRule {
	rule.ResourceNames = names
	return rule
}

// ToRole refers to a role of the binding's namespace.
func ToRole(name string) rbacv1.RoleRef {
	return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name}
}

// ToClusterRole refers to a role of the cluster.
func ToClusterRole(name string) rbacv1.RoleRef {
	return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}
}

// Account is a service account as a subject of a binding.
func Account(namespace, name string) rbacv1.Subject {
	return rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}
}

// User is a person or a program by the name that it logs in with.
func User(name string) rbacv1.Subject {
	return rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}
}

// Group is everyone of a group.
func Group(name string) rbacv1.Subject {
	return rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: name}
}
