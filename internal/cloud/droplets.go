package cloud

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// The states of a Droplet.
const (
	created = "new"
	active  = "active"
	off     = "off"
)

func (x *exchange) showDroplet(d *Droplet) any {
	r, _ := regionBy(d.Region)
	s, _ := sizeBy(d.Size)
	shown := object{
		"id": d.ID, "name": d.Name, "memory": s.Memory, "vcpus": s.VCPUs, "disk": d.Disk, "locked": false, "status": d.Status,
		"kernel": nil, "created_at": stamp(d.Created), "features": texts(d.Features), "backup_ids": []int{}, "next_backup_window": nil,
		"snapshot_ids": x.snapshotsOf(d), "image": nil, "volume_ids": []string{}, "size": s, "size_slug": d.Size,
		"networks": networksOf(d), "region": r, "tags": texts(d.Tags), "vpc_uuid": d.VPC,
	}
	if i := x.state.image(d.Image); i != nil {
		shown["image"] = showImage(i)
	}
	return shown
}

// networksOf are the addresses of a Droplet, which it has once it is active.
func networksOf(d *Droplet) object {
	v4, v6 := []any{}, []any{}
	if d.PrivateV4 != "" {
		v4 = append(v4, object{"ip_address": d.PrivateV4, "netmask": "255.255.0.0", "gateway": gateway(d.PrivateV4), "type": "private"})
	}
	if d.PublicV4 != "" {
		v4 = append(v4, object{"ip_address": d.PublicV4, "netmask": "255.255.240.0", "gateway": gateway(d.PublicV4), "type": "public"})
	}
	if d.PublicV6 != "" {
		v6 = append(v6, object{"ip_address": d.PublicV6, "netmask": 64, "gateway": "2001:db8::1", "type": "public"})
	}
	return object{"v4": v4, "v6": v6}
}

func gateway(address string) string {
	return address[:strings.LastIndex(address, ".")] + ".1"
}

func (x *exchange) snapshotsOf(d *Droplet) []int {
	ids := []int{}
	for _, i := range x.snapshots(d) {
		ids = append(ids, i.ID)
	}
	return ids
}

func (x *exchange) snapshots(d *Droplet) []*Image {
	return slices.DeleteFunc(seen(x, x.state.Images), func(i *Image) bool { return i.Droplet != d.ID })
}

func (x *exchange) listDroplets() (int, any, error) {
	query := x.r.URL.Query()
	all := slices.DeleteFunc(seen(x, x.state.Droplets), func(d *Droplet) bool {
		return query.Has("tag_name") && !tagged(d.Tags, query.Get("tag_name")) ||
			query.Has("name") && !strings.EqualFold(d.Name, query.Get("name")) || query.Get("type") == "gpus"
	})
	return page(x, "droplets", all, x.showDroplet)
}

// theDroplet is the Droplet that the path names.
func (x *exchange) theDroplet() (*Droplet, error) {
	id, err := strconv.Atoi(x.r.PathValue("droplet"))
	d := x.state.droplet(id)
	if err != nil || d == nil || !d.visible(x) {
		return nil, notFound()
	}
	return d, nil
}

func (x *exchange) getDroplet() (int, any, error) {
	d, err := x.theDroplet()
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, object{"droplet": x.showDroplet(d)}, nil
}

// createDroplets creates a Droplet, or several at once from a list of names.
func (x *exchange) createDroplets() (int, any, error) {
	var wanted dropletRequest
	if err := x.read(&wanted); err != nil {
		return 0, nil, err
	}
	p, err := wanted.check(x)
	if err != nil {
		return 0, nil, err
	}
	var shown, links []any
	for _, name := range p.names {
		d := x.make(name, wanted, p)
		a, err := x.begin(d.subject(), request{Type: "create"}, x.timing.Create)
		if err != nil {
			return 0, nil, err
		}
		shown = append(shown, x.showDroplet(d))
		links = append(links, x.actionLink(a, wanted.rel()))
	}
	x.state.tag(wanted.Tags)
	if len(wanted.Names) > 0 {
		return http.StatusAccepted, object{"droplets": shown, "links": object{"actions": links}}, nil
	}
	return http.StatusAccepted, object{"droplet": shown[0], "links": object{"actions": links}}, nil
}

// make adds a Droplet to the account.
func (x *exchange) make(name string, wanted dropletRequest, p plan) *Droplet {
	d := &Droplet{
		ID: x.state.number(), Name: name, Region: p.region.Slug, Size: p.size.Slug, Image: p.image.ID, Disk: p.size.Disk, Status: created,
		Created: x.now, Tags: wanted.Tags, VPC: p.region.vpc, Keys: p.keys, Features: wanted.features(), UserData: digest(wanted.UserData),
		Visible: x.later(),
	}
	x.state.Droplets = append(x.state.Droplets, d)
	x.created("droplet", decimal(d.ID))
	return d
}

func (d *Droplet) subject() subject { return subject{"droplet", decimal(d.ID), d.Region} }

func (x *exchange) deleteDroplet() (int, any, error) {
	d, err := x.theDroplet()
	if err != nil {
		return 0, nil, err
	}
	if _, err := x.begin(d.subject(), request{Type: "destroy"}, x.timing.Destroy); err != nil {
		return 0, nil, err
	}
	return http.StatusNoContent, nil, nil
}

// byTag are the Droplets with the tag that a request names.
func (x *exchange) byTag() ([]*Droplet, error) {
	tag := x.r.URL.Query().Get("tag_name")
	if tag == "" {
		return nil, unprocessable("tag_name can't be blank")
	}
	return slices.DeleteFunc(seen(x, x.state.Droplets), func(d *Droplet) bool { return !tagged(d.Tags, tag) }), nil
}

func (x *exchange) deleteDroplets() (int, any, error) {
	some, err := x.byTag()
	for _, d := range some {
		if _, err := x.begin(d.subject(), request{Type: "destroy"}, x.timing.Destroy); err != nil {
			return 0, nil, err
		}
	}
	return http.StatusNoContent, nil, err
}

func (x *exchange) listSnapshots() (int, any, error) {
	d, err := x.theDroplet()
	if err != nil {
		return 0, nil, err
	}
	return page(x, "snapshots", x.snapshots(d), showImage)
}

// listBackups lists nothing: no backup is made here.
func (x *exchange) listBackups() (int, any, error) {
	if _, err := x.theDroplet(); err != nil {
		return 0, nil, err
	}
	return page(x, "backups", []*Image{}, showImage)
}

func (x *exchange) listDropletActions() (int, any, error) {
	d, err := x.theDroplet()
	if err != nil {
		return 0, nil, err
	}
	return x.actionsOf("droplet", decimal(d.ID))
}

func (x *exchange) getDropletAction() (int, any, error) {
	d, err := x.theDroplet()
	if err != nil {
		return 0, nil, err
	}
	return x.actionOf("droplet", decimal(d.ID))
}
