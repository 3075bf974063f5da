// Package v1alpha1 has the namespaced kinds of provider-kubernetes: Object, and the configurations of clusters for a namespace and
// for all of them.
//
// +kubebuilder:object:generate=true
// +groupName=kubernetes.m.crossplane.io
package v1alpha1
