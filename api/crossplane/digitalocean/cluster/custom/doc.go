// Package custom has the cluster-scoped Image of DigitalOcean: an image that is imported from a URL.
//
// +groupName=custom.digitalocean.crossplane.io
// +versionName=v1alpha1
package custom
