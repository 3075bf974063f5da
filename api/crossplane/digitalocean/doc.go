// Package digitalocean has what managed resources of DigitalOcean declare and show: forProvider and atProvider of Droplet,
// Image, Key and IP as the provider that upjet generates has them, and of the classic provider's Droplet.
//
// An optional field that is absent is not managed: what DigitalOcean has is left as it is.
//
// +kubebuilder:object:generate=true
package digitalocean
