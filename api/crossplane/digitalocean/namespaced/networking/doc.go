// Package networking has the namespaced IP of DigitalOcean: a reserved IP.
//
// +groupName=networking.digitalocean.m.crossplane.io
// +versionName=v1alpha1
package networking
