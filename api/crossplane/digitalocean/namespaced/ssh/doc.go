// Package ssh has the namespaced Key of DigitalOcean: a public SSH key.
//
// +groupName=ssh.digitalocean.m.crossplane.io
// +versionName=v1alpha1
package ssh
