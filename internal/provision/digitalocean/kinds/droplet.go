package kinds

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/digitalocean/godo"

	"github.com/headgate-dev/headgate/api/crossplane/digitalocean"
)

// PowerPolicy is what is done about a Droplet that is powered off.
type PowerPolicy string

// The policies. Report is the default: the Droplet is not ready, and says why.
const (
	ReportPower PowerPolicy = "Report"
	KeepOn      PowerPolicy = "KeepOn"
)

// DropletFacts are what is known of a Droplet.
type DropletFacts struct {
	// Observed is what the API says, nil when there is no such Droplet.
	Observed *godo.Droplet
	// Pending says that an action is in progress: there is one at a time.
	Pending  bool
	Recorded DropletRecord
	// Restart says that it was powered off to be resized, and is to be powered on again.
	Restart bool
	Power   PowerPolicy
}

// The states of a Droplet, as the API has them.
const (
	statusNew    = "new"
	statusActive = "active"
	statusOff    = "off"
)

// Droplet compares a Droplet with what is declared. Its image is the one that references and Secrets resolved to.
func Droplet(want digitalocean.DropletParameters, f DropletFacts) Outcome {
	if f.Observed == nil {
		return Outcome{Condition: Missing, Message: "the Droplet does not exist"}
	}
	o := Outcome{Wait: f.Pending || f.Observed.Status == statusNew}
	o.Condition, o.Message = dropletCondition(f.Observed.Status)
	o.immutable(want, f)
	o.size(want, f.Observed)
	o.power(f)
	if want.Name != nil && *want.Name != f.Observed.Name {
		o.change(Change{"name", *want.Name, f.Observed.Name}, Call{Verb: Rename, To: *want.Name})
	}
	o.features(want, f.Observed.Features)
	o.retag(want.Tags, f.Observed.Tags)
	o.volumes(want.VolumeIDs, f.Observed.VolumeIDs)
	return o
}

func dropletCondition(status string) (Condition, string) {
	switch status {
	case statusActive:
		return Available, ""
	case statusNew:
		return Creating, "the Droplet is being created"
	case statusOff:
		return Unavailable, "the Droplet is powered off"
	}
	return Unavailable, fmt.Sprintf("the status of the Droplet is %q", status)
}

// size resizes a Droplet, which has to be off for it. The caller records that it is to be restarted before it powers it off.
func (o *Outcome) size(want digitalocean.DropletParameters, have *godo.Droplet) {
	if want.Size == nil || *want.Size == have.SizeSlug {
		return
	}
	c := Change{"size", *want.Size, have.SizeSlug}
	if have.Status == statusOff {
		o.change(c, Call{Verb: Resize, To: *want.Size, Disk: want.ResizeDisk == nil || *want.ResizeDisk})
		return
	}
	o.change(c, Call{Verb: PowerOff})
}

// power turns a Droplet on that was turned off to be resized, or that is to be on. It comes after the size.
func (o *Outcome) power(f DropletFacts) {
	if f.Observed.Status == statusOff && (f.Restart || f.Power == KeepOn) {
		o.change(Change{"status", statusActive, statusOff}, Call{Verb: PowerOn})
	}
}

// features are those that can be turned on later, or off.
func (o *Outcome) features(want digitalocean.DropletParameters, have []string) {
	has := slices.Contains(have, "backups")
	switch {
	case want.Backups == nil || *want.Backups == has:
	case *want.Backups:
		o.change(Change{"backups", "true", "false"}, Call{Verb: EnableBackups})
	default:
		o.change(Change{"backups", "false", "true"}, Call{Verb: DisableBackups})
	}
	if want.IPv6 != nil && *want.IPv6 && !slices.Contains(have, "ipv6") {
		o.change(Change{"ipv6", "true", "false"}, Call{Verb: EnableIPv6})
	}
}

// volumes attaches and detaches volumes, one after the other.
func (o *Outcome) volumes(want, have []string) {
	add, remove := set(want, have)
	c := Change{"volumeIds", listed(want), listed(have)}
	switch {
	case len(add) > 0:
		o.change(c, Call{Verb: Attach, To: add[0]})
	case len(remove) > 0:
		o.change(c, Call{Verb: Detach, To: remove[0]})
	}
}

// immutable compares what needs another Droplet. What the API does not show is compared with what was recorded, and counts as
// unchanged where nothing was: a Droplet is not deleted for what is unknown.
func (o *Outcome) immutable(want digitalocean.DropletParameters, f DropletFacts) {
	have := f.Observed
	if differs, shown := imageDiffers(value(want.Image), have.Image, f.Recorded.Image); differs {
		o.replace(imageField, *want.Image, shown)
	}
	if have.Region != nil && want.Region != nil && *want.Region != have.Region.Slug {
		o.replace("region", *want.Region, have.Region.Slug)
	}
	if want.VPCUUID != nil && have.VPCUUID != "" && *want.VPCUUID != have.VPCUUID {
		o.replace("vpcUuid", *want.VPCUUID, have.VPCUUID)
	}
	if want.IPv6 != nil && !*want.IPv6 && slices.Contains(have.Features, "ipv6") {
		o.replace("ipv6", "false", "true")
	}
	f.Recorded.compare(want, o)
}

// imageDiffers compares an image by its number, which cannot mean another one later. A slug can: it is only compared with what
// the Droplet was created from, or with the slug that it has.
func imageDiffers(want string, have *godo.Image, recorded string) (differs bool, shown string) {
	if want == "" {
		return false, ""
	}
	if _, err := strconv.Atoi(want); err == nil && have != nil && have.ID != 0 {
		return want != strconv.Itoa(have.ID), strconv.Itoa(have.ID)
	}
	switch {
	case recorded != "":
		return want != recorded, recorded
	case have != nil && have.Slug != "":
		return want != have.Slug, have.Slug
	}
	return false, ""
}
