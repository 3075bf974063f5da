// Package compute has the Droplet of the classic provider of DigitalOcean.
//
// +groupName=compute.do.crossplane.io
// +versionName=v1alpha1
package compute
