// Package config has the configurations of DigitalOcean of cluster-scoped resources, and what says that they are in use.
//
// +groupName=digitalocean.crossplane.io
// +versionName=v1beta1
package config
