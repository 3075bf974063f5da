package kinds

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/headgate-dev/headgate/api/crossplane/digitalocean"
)

// DropletRecord is what a Droplet was created with, as far as the API does not show it. It is stored in the status of the
// managed resource. The zero value is that of a Droplet that was created by others.
type DropletRecord struct {
	// Image is as it was declared: a number, or a slug.
	Image   string   `json:"image,omitempty"`
	SSHKeys []string `json:"sshKeys,omitempty"`
	// UserData is a digest.
	UserData         string `json:"userData,omitempty"`
	Monitoring       *bool  `json:"monitoring,omitempty"`
	DropletAgent     *bool  `json:"dropletAgent,omitempty"`
	PublicNetworking *bool  `json:"publicNetworking,omitempty"`
	// Known is set by RecordDroplet: without it, what is absent is unknown.
	Known bool `json:"known,omitempty"`
}

// RecordDroplet is what to remember of a Droplet that is created.
func RecordDroplet(want digitalocean.DropletParameters) DropletRecord {
	return DropletRecord{
		Image: value(want.Image), SSHKeys: want.SSHKeys, UserData: userDataDigest(want.UserData),
		Monitoring: want.Monitoring, DropletAgent: want.DropletAgent, PublicNetworking: want.PublicNetworking, Known: true,
	}
}

// compare finds what was declared otherwise when the Droplet was created.
func (r DropletRecord) compare(want digitalocean.DropletParameters, o *Outcome) {
	if !r.Known {
		return
	}
	if add, remove := set(want.SSHKeys, r.SSHKeys); len(add)+len(remove) > 0 {
		o.replace("sshKeys", listed(want.SSHKeys), listed(r.SSHKeys))
	}
	if want.UserData != nil && userDataDigest(want.UserData) != r.UserData {
		o.replace("userData", "", "")
	}
	for _, field := range []struct {
		name       string
		want, have *bool
	}{
		{"monitoring", want.Monitoring, r.Monitoring},
		{"dropletAgent", want.DropletAgent, r.DropletAgent},
		{"publicNetworking", want.PublicNetworking, r.PublicNetworking},
	} {
		if field.want != nil && (field.have == nil || *field.want != *field.have) && !usual(field.name, *field.want, field.have) {
			o.replace(field.name, strconv.FormatBool(*field.want), shownBool(field.have))
		}
	}
}

// usual reports whether a field that is declared now says what DigitalOcean does when nothing is declared.
func usual(name string, want bool, have *bool) bool {
	return have == nil && (name == "publicNetworking" && want || name == "monitoring" && !want)
}

func shownBool(b *bool) string {
	if b == nil {
		return ""
	}
	return strconv.FormatBool(*b)
}

// userDataDigest stands for user data, which may have secrets.
func userDataDigest(data *string) string {
	if value(data) == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(*data))
	return hex.EncodeToString(sum[:])
}
