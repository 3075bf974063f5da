// Package ssh has the cluster-scoped Key of DigitalOcean: a public SSH key.
//
// +groupName=ssh.digitalocean.crossplane.io
// +versionName=v1alpha1
package ssh
