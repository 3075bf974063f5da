package kinds

import (
	"strconv"

	"github.com/digitalocean/godo"
)

// Connection is what a connection Secret gets. What is not there yet is left out: keys that a Secret has are not emptied.
type Connection map[string]string

// endpointKey is where Crossplane puts the address of anything.
const endpointKey = "endpoint"

// DropletConnection is how a Droplet is reached.
func DropletConnection(d *godo.Droplet) Connection {
	if d == nil {
		return Connection{}
	}
	public, _ := d.PublicIPv4()
	private, _ := d.PrivateIPv4()
	six, _ := d.PublicIPv6()
	image := 0
	if d.Image != nil {
		image = d.Image.ID
	}
	return of(map[string]string{
		endpointKey: public, "id": decimal(d.ID), "name": d.Name, "ipv4_address": public, "ipv4_address_private": private,
		"ipv6_address": six, "image": decimal(image),
	})
}

// ImageConnection is how an image is named by a Droplet: by its number. It has none until it can be used.
func ImageConnection(i *godo.Image) Connection {
	if i == nil || i.Status != "available" {
		return Connection{}
	}
	return of(map[string]string{"image": decimal(i.ID), "id": decimal(i.ID), "name": i.Name})
}

// KeyConnection is how a key is named.
func KeyConnection(k *godo.Key) Connection {
	if k == nil {
		return Connection{}
	}
	return of(map[string]string{"id": decimal(k.ID), "fingerprint": k.Fingerprint, "name": k.Name})
}

// IPConnection is the address.
func IPConnection(r *godo.ReservedIP) Connection {
	if r == nil {
		return Connection{}
	}
	return of(map[string]string{endpointKey: r.IP, "ip_address": r.IP})
}

// of leaves out what is empty.
func of(all map[string]string) Connection {
	c := Connection{}
	for name, text := range all {
		if text != "" {
			c[name] = text
		}
	}
	return c
}

// decimal is a number as text, empty for none.
func decimal(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
