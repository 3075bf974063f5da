// Package custom has the namespaced Image of DigitalOcean: an image that is imported from a URL.
//
// +groupName=custom.digitalocean.m.crossplane.io
// +versionName=v1alpha1
package custom
