package kinds

import (
	"errors"
	"strconv"

	"github.com/digitalocean/godo"

	"github.com/headgate-dev/headgate/api/crossplane/digitalocean"
)

// CreateDroplet is the request that creates a Droplet. Its tags are those that are declared, and ours.
func CreateDroplet(want digitalocean.DropletParameters, own []string) (*godo.DropletCreateRequest, error) {
	switch {
	case value(want.Name) == "":
		return nil, errors.New("creating a Droplet: spec.forProvider.name is required")
	case value(want.Size) == "":
		return nil, errors.New("creating a Droplet: spec.forProvider.size is required")
	case value(want.Image) == "":
		return nil, errors.New("creating a Droplet: spec.forProvider.image is required")
	}
	r := &godo.DropletCreateRequest{
		Name: *want.Name, Region: value(want.Region), Size: *want.Size, Image: imageOf(*want.Image), Backups: is(want.Backups), IPv6: is(want.IPv6),
		PrivateNetworking: is(want.PrivateNetworking), Monitoring: is(want.Monitoring), UserData: value(want.UserData), VPCUUID: value(want.VPCUUID),
		Tags: append(declaredTags(want.Tags), own...), WithDropletAgent: want.DropletAgent, PublicNetworking: want.PublicNetworking,
	}
	for _, key := range want.SSHKeys {
		r.SSHKeys = append(r.SSHKeys, keyOf(key))
	}
	for _, volume := range want.VolumeIDs {
		r.Volumes = append(r.Volumes, godo.DropletCreateVolume{ID: volume})
	}
	if is(want.Backups) && len(want.BackupPolicy) > 0 {
		r.BackupPolicy = backupPolicy(want.BackupPolicy[0])
	}
	return r, nil
}

func backupPolicy(p digitalocean.BackupPolicy) *godo.DropletBackupPolicyRequest {
	r := &godo.DropletBackupPolicyRequest{Plan: value(p.Plan), Weekday: value(p.Weekday)}
	if p.Hour != nil {
		hour := int(*p.Hour)
		r.Hour = &hour
	}
	return r
}

// imageOf names an image by its number, or by its slug.
func imageOf(name string) godo.DropletCreateImage {
	if id, err := strconv.Atoi(name); err == nil {
		return godo.DropletCreateImage{ID: id}
	}
	return godo.DropletCreateImage{Slug: name}
}

// keyOf names a key by its number, or by its fingerprint.
func keyOf(name string) godo.DropletCreateSSHKey {
	if id, err := strconv.Atoi(name); err == nil {
		return godo.DropletCreateSSHKey{ID: id}
	}
	return godo.DropletCreateSSHKey{Fingerprint: name}
}

// is is what an optional switch declares, false for nothing.
func is(b *bool) bool { return b != nil && *b }

// FromClassic is a Droplet of the classic provider in the terms of the other one. Its name is the external name, or that of the
// resource.
func FromClassic(want digitalocean.ClassicDropletParameters, name string) digitalocean.DropletParameters {
	return digitalocean.DropletParameters{
		Name: &name, Region: &want.Region, Size: &want.Size, Image: &want.Image, ImageFrom: want.ImageFrom, SSHKeys: want.SSHKeys, Tags: want.Tags,
		UserData: want.UserData, VPCUUID: want.VPCUUID, Backups: want.Backups, IPv6: want.IPv6, Monitoring: want.Monitoring,
		DropletAgent: want.WithDropletAgent, PrivateNetworking: want.PrivateNetworking, VolumeIDs: want.Volumes,
	}
}
