// Package droplet has the cluster-scoped Droplet of DigitalOcean: a virtual machine.
//
// +groupName=droplet.digitalocean.crossplane.io
// +versionName=v1alpha1
package droplet
