package cloud

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// proceed brings a state to a time: actions complete when they are due, one after the other, and imports land.
func (s *State) proceed(now time.Time) {
	for {
		var next *Action
		for _, a := range s.Actions {
			if a.Status == inProgress && !now.Before(a.Due) && (next == nil || a.Due.Before(next.Due)) {
				next = a
			}
		}
		if next == nil {
			break
		}
		s.complete(next)
	}
	for _, i := range s.Images {
		i.land(now)
	}
}

// complete ends an action and does what it is for.
func (s *State) complete(a *Action) {
	a.Status, a.Completed = completed, a.Due
	if a.Fails {
		a.Status = errored
	}
	id, _ := strconv.Atoi(a.Resource)
	d, i, r := s.droplet(id), s.image(id), s.reserved(a.Resource)
	switch {
	case a.Of == "droplet" && d == nil, a.Of == "image" && i == nil, a.Of == "reserved_ip" && r == nil:
		a.Status = errored // it was deleted beside the API
	case a.Fails && a.Type == "create":
		s.forget(d)
	case a.Fails:
	case a.Of == "droplet":
		s.completeDroplet(d, a)
	case a.Of == "image":
		i.Regions = append(slices.Clone(i.Regions), a.Request.Region)
	case s.droplet(a.Request.Droplet) == nil:
		r.Droplet = 0
	default:
		r.Droplet = a.Request.Droplet
	}
}

// completeDroplet does what an action is for.
func (s *State) completeDroplet(d *Droplet, a *Action) {
	switch a.Type {
	case "create":
		d.Status, d.PublicV4, d.PrivateV4 = active, address("198.18", d.ID), address("10.108", d.ID)
		if slices.Contains(d.Features, "ipv6") {
			d.PublicV6 = fmt.Sprintf("2001:db8::%x", d.ID-firstNumber)
		}
	case "destroy":
		s.forget(d)
	case "power_on", "reboot", "power_cycle":
		d.Status = active
	case "power_off", "shutdown":
		d.Status = off
	case "rename":
		d.Name = a.Request.Name
	case "resize":
		d.Size = a.Request.Size
		if a.Request.Disk {
			resized, _ := sizeBy(d.Size)
			d.Disk = resized.Disk
		}
	case "rebuild", "restore":
		d.Status = active
		d.Image, _ = strconv.Atoi(string(a.Request.Image))
	case "snapshot":
		s.snapshot(d, a)
	case "enable_ipv6":
		d.feature("ipv6", true)
		d.PublicV6 = fmt.Sprintf("2001:db8::%x", d.ID-firstNumber)
	case "enable_backups", "change_backup_policy":
		d.feature("backups", true)
	case "disable_backups":
		d.feature("backups", false)
	}
}

// feature turns a feature of a Droplet on or off.
func (d *Droplet) feature(name string, on bool) {
	d.Features = without(d.Features, name)
	if on {
		d.Features = append(d.Features, name)
		slices.Sort(d.Features)
	}
}

// snapshot makes an image of a Droplet.
func (s *State) snapshot(d *Droplet, a *Action) {
	of := "Unknown"
	if i := s.image(d.Image); i != nil {
		of = i.Distribution
	}
	s.Images = append(s.Images, &Image{
		ID: s.number(), Name: a.Request.Name, Type: "snapshot", Distribution: of, Regions: []string{d.Region}, Created: a.Due,
		MinDisk: d.Disk, Gigabytes: 1.2, Status: available, Droplet: d.ID,
	})
}

// forget takes a Droplet out of the account, and its address away.
func (s *State) forget(d *Droplet) {
	s.Droplets = without(s.Droplets, d)
	for _, r := range s.Reserved {
		if r.Droplet == d.ID {
			r.Droplet = 0
		}
	}
}

// address is one of a network that no other object of the account has.
func address(network string, id int) string {
	n := (id-firstNumber)%65_000 + 256
	return fmt.Sprintf("%s.%d.%d", network, n>>8, n&255)
}
