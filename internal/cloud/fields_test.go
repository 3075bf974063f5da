package cloud_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/digitalocean/godo"
)

// unsimulated are fields of the client that the API does not send for what is simulated here.
var unsimulated = []string{
	"subnet_uuid", "gpu_partition_mode", // Droplets with GPUs and subnets
	"gpu_info", // sizes with GPUs
}

// TestFields compares what the API sends with what the client reads: each of its fields is there, by name, and set where it
// can be.
func TestFields(t *testing.T) {
	a := start(t)
	image := a.imported("nixos", "one")
	key := a.key()
	d := must[*godo.Droplet](t)(a.do.Droplets.Create(t.Context(), &godo.DropletCreateRequest{
		Name: "vm", Region: "fra1", Size: "s-1vcpu-1gb", Image: godo.DropletCreateImage{ID: image.ID},
		SSHKeys: []godo.DropletCreateSSHKey{{ID: key.ID}}, Tags: []string{"one"}, Backups: true,
	}))
	a.clock.Advance(time.Minute)
	ip := must[*godo.ReservedIP](t)(a.do.ReservedIPs.Create(t.Context(), &godo.ReservedIPCreateRequest{DropletID: d.ID}))
	a.clock.Advance(time.Minute)
	for name, tc := range map[string]struct {
		path, key string
		of        any
		empty     []string
	}{
		"Account":    {"/v2/account", "account", godo.Account{}, []string{"account.status_message"}},
		"Key":        {fmt.Sprintf("/v2/account/keys/%d", key.ID), "ssh_key", godo.Key{}, nil},
		"Regions":    {"/v2/regions?per_page=2", "regions", []godo.Region{}, nil},
		"Sizes":      {"/v2/sizes?per_page=2", "sizes", []godo.Size{}, nil},
		"Image":      {fmt.Sprintf("/v2/images/%d", image.ID), "image", godo.Image{}, []string{"image.slug", "image.public", "image.error_message"}},
		"Public":     {"/v2/images/ubuntu-24-04-x64", "image", godo.Image{}, []string{"image.description", "image.tags", "image.error_message"}},
		"ReservedIP": {"/v2/reserved_ips/" + ip.IP, "reserved_ip", godo.ReservedIP{}, []string{"reserved_ip.locked", "reserved_ip.droplet.*"}},
		"Tag":        {"/v2/tags/one", "tag", godo.Tag{}, []string{"tag.resources.droplets.*", "tag.resources.*.last_tagged_uri", "tag.resources.*.count"}},
		"Actions":    {fmt.Sprintf("/v2/droplets/%d/actions", d.ID), "actions", []godo.Action{}, nil},
		"Links":      {"/v2/sizes?per_page=2&page=2", "links", godo.Links{}, []string{"links.actions"}},
		"Droplet": {
			fmt.Sprintf("/v2/droplets/%d", d.ID), "droplet",
			godo.Droplet{},
			[]string{"droplet.image.*", "droplet.locked", "droplet.kernel", "droplet.backup_ids", "droplet.snapshot_ids", "droplet.volume_ids", "droplet.next_backup_window", "droplet.networks.v6"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			sent, has := a.raw(tc.path)[tc.key]
			if !has {
				t.Fatalf("%s sends no %q", tc.path, tc.key)
			}
			compare(t, tc.key, reflect.TypeOf(tc.of), sent, tc.empty)
		})
	}
}

// compare searches what was sent for the fields that a type reads.
func compare(t *testing.T, at string, of reflect.Type, sent any, empty []string) {
	t.Helper()
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch {
	case of == reflect.TypeFor[godo.Timestamp]():
	case of.Kind() == reflect.Slice:
		list, is := sent.([]any)
		if !is {
			t.Errorf("%s: %T was sent, not a list", at, sent)
			return
		}
		for _, one := range list {
			compare(t, at, of.Elem(), one, empty)
		}
	case of.Kind() == reflect.Struct:
		fields, is := sent.(map[string]any)
		if !is {
			t.Errorf("%s: %T was sent, not an object", at, sent)
			return
		}
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			if name == "" || slices.Contains(unsimulated, name) {
				continue
			}
			field, below := at+"."+name, of.Field(i).Type
			value, has := fields[name]
			switch {
			case excused(field, empty):
			case !has:
				t.Errorf("%s is not sent", field)
			case isEmpty(value):
				t.Errorf("%s is sent as %v", field, value)
			default:
				compare(t, field, below, value, empty)
			}
		}
	}
}

// excused reports whether a field may be absent or empty; "*" stands for any part.
func excused(field string, empty []string) bool {
	return slices.ContainsFunc(empty, func(pattern string) bool {
		if prefix, is := strings.CutSuffix(pattern, ".*"); is {
			return strings.HasPrefix(field, prefix+".")
		}
		before, after, wild := strings.Cut(pattern, "*")
		return field == pattern || wild && strings.HasPrefix(field, before) && strings.HasSuffix(field, after)
	})
}

func isEmpty(value any) bool {
	return value == nil || reflect.ValueOf(value).IsZero() || reflect.ValueOf(value).Kind() == reflect.Slice && reflect.ValueOf(value).Len() == 0
}
