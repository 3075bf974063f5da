// Package resource has what all managed resources of Crossplane declare and show beside what is their kind's own: which
// configuration of a provider they use, what may be done about them, where their connection details go, their conditions. It was
// written from the public definitions of the API, of Crossplane 1 for cluster-scoped resources and of Crossplane 2 for
// namespaced ones.
//
// +kubebuilder:object:generate=true
package resource
