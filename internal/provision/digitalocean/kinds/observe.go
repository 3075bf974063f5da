package kinds

import (
	"slices"
	"strconv"

	"github.com/digitalocean/godo"

	"github.com/headgate-dev/headgate/api/crossplane/digitalocean"
)

// ObserveDroplet is what a resource shows of a Droplet.
func ObserveDroplet(d *godo.Droplet, recorded DropletRecord) digitalocean.DropletObservation {
	public, _ := d.PublicIPv4()
	private, _ := d.PrivateIPv4()
	six, _ := d.PublicIPv6()
	o := digitalocean.DropletObservation{
		ID: decimal(d.ID), Name: d.Name, Status: d.Status, Size: d.SizeSlug, IPv4Address: public, IPv4AddressPrivate: private, IPv6Address: six,
		CreatedAt: d.Created, URN: d.URN(), VPCUUID: d.VPCUUID, Tags: d.Tags, VolumeIDs: d.VolumeIDs, SSHKeys: recorded.SSHKeys, UserData: recorded.UserData,
		Memory: float64(d.Memory), VCPUs: float64(d.Vcpus), Disk: float64(d.Disk), Locked: d.Locked, Backups: slices.Contains(d.Features, "backups"),
		IPv6: slices.Contains(d.Features, "ipv6"), Monitoring: slices.Contains(d.Features, "monitoring"),
	}
	if d.Region != nil {
		o.Region = d.Region.Slug
	}
	if d.Image != nil {
		o.Image = strconv.Itoa(d.Image.ID)
	}
	if d.Size != nil {
		o.PriceHourly, o.PriceMonthly = d.Size.PriceHourly, d.Size.PriceMonthly
	}
	return o
}

// ObserveClassicDroplet is what a resource of the classic provider shows of a Droplet.
func ObserveClassicDroplet(d *godo.Droplet) digitalocean.ClassicDropletObservation {
	public, _ := d.PublicIPv4()
	private, _ := d.PrivateIPv4()
	o := digitalocean.ClassicDropletObservation{
		CreationTimestamp: d.Created, ID: d.ID, PrivateIPv4: private, PublicIPv4: public, Size: d.SizeSlug, Status: d.Status,
	}
	if d.Region != nil {
		o.Region = d.Region.Slug
	}
	return o
}

// ObserveImage is what a resource shows of an image.
func ObserveImage(i *godo.Image, from string) digitalocean.ImageObservation {
	return digitalocean.ImageObservation{
		ID: decimal(i.ID), ImageID: float64(i.ID), Name: i.Name, Status: i.Status, Type: i.Type, Slug: i.Slug, Public: i.Public, Regions: i.Regions,
		Distribution: i.Distribution, Description: i.Description, Tags: i.Tags, MinDiskSize: float64(i.MinDiskSize), SizeGigabytes: i.SizeGigaBytes,
		CreatedAt: i.Created, URL: ComparableURL(from),
	}
}

// ObserveKey is what a resource shows of an SSH key.
func ObserveKey(k *godo.Key) digitalocean.KeyObservation {
	return digitalocean.KeyObservation{ID: decimal(k.ID), Name: k.Name, Fingerprint: k.Fingerprint, PublicKey: k.PublicKey}
}

// ObserveIP is what a resource shows of a reserved IP.
func ObserveIP(r *godo.ReservedIP) digitalocean.IPObservation {
	o := digitalocean.IPObservation{ID: r.IP, IPAddress: r.IP, URN: r.URN()}
	if r.Region != nil {
		o.Region = r.Region.Slug
	}
	if r.Droplet != nil {
		o.DropletID = float64(r.Droplet.ID)
	}
	return o
}
