package cloud_test

import (
	"strings"
	"testing"
	"time"

	"github.com/digitalocean/godo"
)

func TestReservedIP(t *testing.T) {
	a := start(t)
	d, other := a.running("one"), a.running("two")
	r, answer, err := a.do.ReservedIPs.Create(t.Context(), &godo.ReservedIPCreateRequest{DropletID: d.ID})
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != 202 || r.Region.Slug != "fra1" || r.Droplet != nil || !r.Locked || answer.Links.Actions[0].Rel != "assign_ip" {
		t.Errorf("answered %d with %v, links %v", answer.StatusCode, r, answer.Links)
	}
	_, err = a.do.ReservedIPs.Delete(t.Context(), r.IP)
	refused(t, err, 422, "The floating IP already has a pending event.")
	a.clock.Advance(time.Minute)
	get := func() *godo.ReservedIP {
		t.Helper()
		return must[*godo.ReservedIP](t)(a.do.ReservedIPs.Get(t.Context(), r.IP))
	}
	if got := get(); got.Droplet == nil || got.Droplet.ID != d.ID || got.Locked {
		t.Errorf("assigned: %v", got)
	}
	_, _, err = a.do.ReservedIPs.Create(t.Context(), &godo.ReservedIPCreateRequest{DropletID: d.ID})
	refused(t, err, 422, "Droplet already has a reserved IP.")

	moved := must[*godo.Action](t)(a.do.ReservedIPActions.Assign(t.Context(), r.IP, other.ID))
	if moved.Type != "assign_ip" || moved.ResourceType != "reserved_ip" || moved.ResourceID == 0 || moved.Status != "in-progress" {
		t.Errorf("the action is %v", moved)
	}
	a.clock.Advance(time.Minute)
	if got := must[*godo.Action](t)(a.do.ReservedIPActions.Get(t.Context(), r.IP, moved.ID)); got.Status != "completed" {
		t.Errorf("the action is %v", got)
	}
	if got := get(); got.Droplet.ID != other.ID {
		t.Errorf("moved: %v", got)
	}
	_, err = a.do.ReservedIPs.Delete(t.Context(), r.IP)
	refused(t, err, 422, "The reserved IP is assigned to a Droplet, and has to be unassigned first.")
	must[*godo.Action](t)(a.do.ReservedIPActions.Unassign(t.Context(), r.IP))
	a.clock.Advance(time.Minute)
	if got := get(); got.Droplet != nil {
		t.Errorf("unassigned: %v", got)
	}
	_, _, err = a.do.ReservedIPActions.Unassign(t.Context(), r.IP)
	refused(t, err, 422, "The reserved IP is not assigned to a Droplet.")
	if all := must[[]godo.Action](t)(a.do.ReservedIPActions.List(t.Context(), r.IP, nil)); len(all) != 3 || all[0].Type != "unassign_ip" {
		t.Errorf("the actions are %v", all)
	}
	if _, err := a.do.ReservedIPs.Delete(t.Context(), r.IP); err != nil {
		t.Fatal(err)
	}
	_, _, err = a.do.ReservedIPs.Get(t.Context(), r.IP)
	refused(t, err, 404, "The resource you requested could not be found.")
}

func TestReservedIPRequests(t *testing.T) {
	a := start(t)
	r := must[*godo.ReservedIP](t)(a.do.ReservedIPs.Create(t.Context(), &godo.ReservedIPCreateRequest{Region: "nyc3"}))
	if !strings.HasPrefix(r.IP, "198.19.") || r.Locked {
		t.Errorf("reserved %v", r)
	}
	made := must[*godo.Droplet](t)(a.do.Droplets.Create(t.Context(), ubuntu("vm")))
	_, _, err := a.do.ReservedIPActions.Assign(t.Context(), r.IP, made.ID)
	refused(t, err, 422, "Droplet already has a pending event.")
	a.clock.Advance(time.Minute)
	_, _, err = a.do.ReservedIPActions.Assign(t.Context(), r.IP, made.ID)
	refused(t, err, 422, "The reserved IP and the Droplet must be in the same region.")
	_, _, err = a.do.ReservedIPActions.Assign(t.Context(), r.IP, 7)
	refused(t, err, 422, "The Droplet 7 could not be found.")
	_, _, err = a.do.ReservedIPs.Create(t.Context(), &godo.ReservedIPCreateRequest{})
	refused(t, err, 422, "You must specify a droplet_id or a region.")
}

func TestReservedIPOutlivesItsDroplet(t *testing.T) {
	a := start(t)
	d := a.running("vm")
	r := must[*godo.ReservedIP](t)(a.do.ReservedIPs.Create(t.Context(), &godo.ReservedIPCreateRequest{DropletID: d.ID}))
	a.clock.Advance(time.Minute)
	if _, err := a.do.Droplets.Delete(t.Context(), d.ID); err != nil {
		t.Fatal(err)
	}
	a.clock.Advance(time.Minute)
	if got := must[*godo.ReservedIP](t)(a.do.ReservedIPs.Get(t.Context(), r.IP)); got.Droplet != nil {
		t.Errorf("it is assigned to %v", got.Droplet)
	}
	if _, err := a.do.ReservedIPs.Delete(t.Context(), r.IP); err != nil {
		t.Errorf("it cannot be deleted: %v", err)
	}
}
