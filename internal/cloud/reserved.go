package cloud

import (
	"net/http"
)

func (x *exchange) showReserved(r *ReservedIP) any {
	in, _ := regionBy(r.Region)
	shown := object{
		"ip": r.IP, "region": in, "droplet": nil, "locked": x.state.pending("reserved_ip", r.IP) != nil,
		"project_id": "746c6152-2fa2-11ed-92d3-27aaa54e4988",
	}
	if d := x.state.droplet(r.Droplet); d != nil {
		shown["droplet"] = x.showDroplet(d)
	}
	return shown
}

func (x *exchange) listReserved() (int, any, error) {
	return page(x, "reserved_ips", seen(x, x.state.Reserved), x.showReserved)
}

// theReserved is the address that the path names.
func (x *exchange) theReserved() (*ReservedIP, error) {
	r := x.state.reserved(x.r.PathValue("ip"))
	if r == nil || !r.visible(x) {
		return nil, notFound()
	}
	return r, nil
}

func (x *exchange) getReserved() (int, any, error) {
	r, err := x.theReserved()
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, object{"reserved_ip": x.showReserved(r)}, nil
}

// createReserved reserves an address in a region, or for a Droplet, to which it is then assigned.
func (x *exchange) createReserved() (int, any, error) {
	var wanted request
	if err := x.read(&wanted); err != nil {
		return 0, nil, err
	}
	d, err := x.assignable(wanted.Droplet)
	if err != nil {
		return 0, nil, err
	}
	if d != nil {
		wanted.Region = d.Region
	}
	_, known := regionBy(wanted.Region)
	switch {
	case !known:
		return 0, nil, unprocessable("You must specify a droplet_id or a region.")
	case len(x.state.Reserved) >= reservedLimit:
		return 0, nil, unprocessable("You have reached your reserved IP limit.")
	}
	r := &ReservedIP{IP: address("198.19", x.state.number()), Region: wanted.Region, Visible: x.later()}
	x.state.Reserved = append(x.state.Reserved, r)
	x.created("reserved_ip", r.IP)
	links := object{}
	if d != nil {
		a, err := x.begin(r.subject(), request{Type: "assign_ip", Droplet: d.ID}, x.timing.Act)
		if err != nil {
			return 0, nil, err
		}
		links["droplets"] = []any{object{"id": d.ID, "rel": "droplet", "href": x.link("/v2/droplets/" + decimal(d.ID))}}
		links["actions"] = []any{x.actionLink(a, "assign_ip")}
	}
	return http.StatusAccepted, object{"reserved_ip": x.showReserved(r), "links": links}, nil
}

// assignable is a Droplet that an address can be assigned to; nil for none.
func (x *exchange) assignable(id int) (*Droplet, error) {
	if id == 0 {
		return nil, nil
	}
	d := x.state.droplet(id)
	switch {
	case d == nil || !d.visible(x):
		return nil, unprocessable("The Droplet %d could not be found.", id)
	case x.state.pending("droplet", decimal(id)) != nil:
		return nil, pendingEvent("droplet")
	case found(x.state.Reserved, func(r *ReservedIP) bool { return r.Droplet == id }) != nil:
		return nil, unprocessable("Droplet already has a reserved IP.")
	}
	return d, nil
}

func (r *ReservedIP) subject() subject { return subject{"reserved_ip", r.IP, r.Region} }

func (x *exchange) deleteReserved() (int, any, error) {
	r, err := x.theReserved()
	switch {
	case err != nil:
		return 0, nil, err
	case x.state.pending("reserved_ip", r.IP) != nil:
		return 0, nil, pendingEvent("reserved_ip")
	case r.Droplet != 0:
		return 0, nil, unprocessable("The reserved IP is assigned to a Droplet, and has to be unassigned first.")
	}
	x.state.Reserved, x.done = without(x.state.Reserved, r), true
	return http.StatusNoContent, nil, nil
}

// actOnReserved assigns an address to a Droplet, or takes it away.
func (x *exchange) actOnReserved() (int, any, error) {
	r, err := x.theReserved()
	if err != nil {
		return 0, nil, err
	}
	var wanted request
	if err := x.read(&wanted); err != nil {
		return 0, nil, err
	}
	switch wanted.Type {
	case "assign":
		err = x.canAssign(r, wanted.Droplet)
	case "unassign":
		err = unless(r.Droplet != 0, "The reserved IP is not assigned to a Droplet.")
	default:
		err = unprocessable("The action type %q is not valid for this reserved IP.", wanted.Type)
	}
	if err != nil {
		return 0, nil, err
	}
	wanted.Type += "_ip"
	a, err := x.begin(r.subject(), wanted, x.timing.Act)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusCreated, object{"action": x.showAction(a)}, nil
}

func (x *exchange) canAssign(r *ReservedIP, id int) error {
	d, err := x.assignable(id)
	switch {
	case err != nil:
		return err
	case d == nil:
		return unprocessable("droplet_id can't be blank")
	}
	return unless(d.Region == r.Region, "The reserved IP and the Droplet must be in the same region.")
}

func (x *exchange) listReservedActions() (int, any, error) {
	r, err := x.theReserved()
	if err != nil {
		return 0, nil, err
	}
	return x.actionsOf("reserved_ip", r.IP)
}

func (x *exchange) getReservedAction() (int, any, error) {
	r, err := x.theReserved()
	if err != nil {
		return 0, nil, err
	}
	return x.actionOf("reserved_ip", r.IP)
}
