// Package v1alpha1 has the kinds of provider-kubernetes in their first version: Object, and the configurations of clusters.
//
// +kubebuilder:object:generate=true
// +groupName=kubernetes.crossplane.io
package v1alpha1
