// Package kubernetes has what managed resources of Kubernetes declare and show: Object, as provider-kubernetes has it in all of its
// versions, and the configurations that say which cluster is meant, and as whom.
//
// The versions of a kind have the same fields, so that none has to be converted into the other: what a field says is
// read in whichever version it is stored.
//
// +kubebuilder:object:generate=true
package kubernetes
