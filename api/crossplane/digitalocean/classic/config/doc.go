// Package config has the configurations of DigitalOcean of the classic provider, and what says that they are in use.
//
// +groupName=do.crossplane.io
// +versionName=v1alpha1
package config
