// Package networking has the cluster-scoped IP of DigitalOcean: a reserved IP.
//
// +groupName=networking.digitalocean.crossplane.io
// +versionName=v1alpha1
package networking
