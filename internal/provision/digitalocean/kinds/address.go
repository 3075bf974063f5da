package kinds

import (
	"errors"
	"slices"
	"strconv"

	"github.com/digitalocean/godo"

	"github.com/headgate-dev/headgate/api/crossplane/digitalocean"
)

// IPFacts are what is known of a reserved IP.
type IPFacts struct {
	// Observed is what the API says, nil when there is no such address.
	Observed *godo.ReservedIP
	// DropletPending says that an action is in progress on the Droplet that it is to be assigned to.
	DropletPending bool
}

// IP compares a reserved IP with what is declared. No Droplet that is declared takes none away: assignments of others stay, as
// with upjet's IPAssignment.
func IP(want digitalocean.IPParameters, f IPFacts) Outcome {
	have := f.Observed
	if have == nil {
		return Outcome{Condition: Missing, Message: "the reserved IP does not exist"}
	}
	o := Outcome{Condition: Available, Wait: have.Locked || f.DropletPending}
	if want.Region != nil && have.Region != nil && *want.Region != have.Region.Slug {
		o.replace("region", *want.Region, have.Region.Slug)
	}
	if want.IPAddress != nil && *want.IPAddress != have.IP {
		o.replace("ipAddress", *want.IPAddress, have.IP)
	}
	droplet := 0
	if have.Droplet != nil {
		droplet = have.Droplet.ID
	}
	if want.DropletID == nil || int(*want.DropletID) == droplet {
		return o
	}
	c := Change{"dropletId", strconv.Itoa(int(*want.DropletID)), strconv.Itoa(droplet)}
	if *want.DropletID == 0 {
		o.change(c, Call{Verb: Unassign})
		return o
	}
	o.change(c, Call{Verb: Assign, Droplet: int(*want.DropletID)})
	return o
}

// CreateIP is the request that reserves an address. It is assigned later, by a request that can fail without making another
// address.
func CreateIP(want digitalocean.IPParameters) (*godo.ReservedIPCreateRequest, error) {
	if value(want.Region) == "" {
		return nil, errors.New("reserving an IP: spec.forProvider.region is required")
	}
	return &godo.ReservedIPCreateRequest{Region: *want.Region}, nil
}

// NewAddresses are the addresses in a region that were not there before a creation whose result is unknown. Reserved IPs have no
// tags and no names: what there was is recorded before the request.
func NewAddresses(before []string, now []godo.ReservedIP, region string) []string {
	var all []string
	for _, r := range now {
		if r.Region != nil && r.Region.Slug == region && !slices.Contains(before, r.IP) {
			all = append(all, r.IP)
		}
	}
	return all
}
