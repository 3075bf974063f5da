// Package config has the configurations of DigitalOcean of namespaced resources, and what says that they are in use.
//
// +groupName=digitalocean.m.crossplane.io
// +versionName=v1beta1
package config
