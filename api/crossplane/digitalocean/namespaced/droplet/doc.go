// Package droplet has the namespaced Droplet of DigitalOcean: a virtual machine.
//
// +groupName=droplet.digitalocean.m.crossplane.io
// +versionName=v1alpha1
package droplet
