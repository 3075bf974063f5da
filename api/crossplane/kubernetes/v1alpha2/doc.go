// Package v1alpha2 has Object in the version in which it is stored. Its fields are those of the first version.
//
// +kubebuilder:object:generate=true
// +groupName=kubernetes.crossplane.io
package v1alpha2
