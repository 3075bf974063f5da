package cloud

import (
	"slices"
	"strings"
	"time"
)

// region is a region as the API shows it.
type region struct {
	Slug      string   `json:"slug"`
	Name      string   `json:"name"`
	Sizes     []string `json:"sizes"`
	Available bool     `json:"available"`
	Features  []string `json:"features"`
	// vpc is the network in which Droplets are that name none.
	vpc string
}

// size is a size as the API shows it.
type size struct {
	Slug         string   `json:"slug"`
	Memory       int      `json:"memory"`
	VCPUs        int      `json:"vcpus"`
	Disk         int      `json:"disk"`
	Transfer     float64  `json:"transfer"`
	PriceMonthly float64  `json:"price_monthly"`
	PriceHourly  float64  `json:"price_hourly"`
	Regions      []string `json:"regions"`
	Available    bool     `json:"available"`
	Description  string   `json:"description"`
	DiskInfo     []any    `json:"disk_info"`
}

// regions are those of the catalogue. The last one takes no new Droplets.
func regions() []region {
	all := []region{
		{Slug: "ams3", Name: "Amsterdam 3", vpc: "5a4981aa-9653-4bd1-bef5-d6bff52042e4"},
		{Slug: "fra1", Name: "Frankfurt 1", vpc: "f7176e0b-8c5e-4e32-948e-79327e56225a"},
		{Slug: "lon1", Name: "London 1", vpc: "1c3d9c0e-6b1c-4bb1-a0b6-c1d6c3a7e2a1"},
		{Slug: "nyc1", Name: "New York 1", vpc: "3d5a1f3e-6c2f-4c5b-9f5e-1b9a4f0c6d11"},
		{Slug: "nyc3", Name: "New York 3", vpc: "760e09ef-dc84-11e8-981e-3cfdfeaae000"},
		{Slug: "sfo3", Name: "San Francisco 3", vpc: "9b1d7c52-0a4e-4d38-8ac5-5d6f1c2b3a44"},
		{Slug: "sgp1", Name: "Singapore 1", vpc: "c2f6a9d8-2e7b-4f0d-8c3a-7b9e5d1f0a66"},
		{Slug: "nyc2", Name: "New York 2", vpc: "e0c1d2b3-a495-4687-b8c9-dae0f1a2b3c4"},
	}
	for i := range all {
		all[i].Features = []string{"backups", "ipv6", "metadata", "install_agent", "storage", "image_transfer"}
		all[i].Available = all[i].Slug != "nyc2"
		all[i].Sizes = []string{}
		if all[i].Available {
			for _, s := range plans() {
				all[i].Sizes = append(all[i].Sizes, s.Slug)
			}
		}
	}
	return all
}

// plans are the sizes without what depends on regions.
func plans() []size {
	all := []size{
		{Slug: "s-1vcpu-512mb-10gb", Memory: 512, VCPUs: 1, Disk: 10, Transfer: 0.5, PriceMonthly: 4, PriceHourly: 0.00595},
		{Slug: "s-1vcpu-1gb", Memory: 1024, VCPUs: 1, Disk: 25, Transfer: 1, PriceMonthly: 6, PriceHourly: 0.00893},
		{Slug: "s-1vcpu-2gb", Memory: 2048, VCPUs: 1, Disk: 50, Transfer: 2, PriceMonthly: 12, PriceHourly: 0.01786},
		{Slug: "s-2vcpu-2gb", Memory: 2048, VCPUs: 2, Disk: 60, Transfer: 3, PriceMonthly: 18, PriceHourly: 0.02679},
		{Slug: "s-2vcpu-4gb", Memory: 4096, VCPUs: 2, Disk: 80, Transfer: 4, PriceMonthly: 24, PriceHourly: 0.03571},
		{Slug: "s-4vcpu-8gb", Memory: 8192, VCPUs: 4, Disk: 160, Transfer: 5, PriceMonthly: 48, PriceHourly: 0.07143},
		{Slug: "s-8vcpu-16gb", Memory: 16384, VCPUs: 8, Disk: 320, Transfer: 6, PriceMonthly: 96, PriceHourly: 0.14286},
	}
	for i := range all {
		amount := map[string]any{"amount": all[i].Disk, "unit": "gib"}
		all[i].DiskInfo = []any{map[string]any{"type": "local", "size": amount}}
		all[i].Available, all[i].Description = true, "Basic"
	}
	return all
}

func sizes() []size {
	var everywhere []string
	for _, r := range regions() {
		if r.Available {
			everywhere = append(everywhere, r.Slug)
		}
	}
	all := plans()
	for i := range all {
		all[i].Regions = everywhere
	}
	return all
}

func regionBy(slug string) (region, bool) {
	all := regions()
	at := slices.IndexFunc(all, func(r region) bool { return r.Slug == slug })
	if at < 0 {
		return region{}, false
	}
	return all[at], true
}

func sizeBy(slug string) (size, bool) {
	all := sizes()
	at := slices.IndexFunc(all, func(s size) bool { return s.Slug == slug })
	if at < 0 {
		return size{}, false
	}
	return all[at], true
}

// distributions are those that a custom image can name; any other is stored as Unknown.
func distribution(name string) string {
	for _, known := range []string{"Arch Linux", "CentOS", "CoreOS", "Debian", "Fedora", "Fedora Atomic", "FreeBSD", "Gentoo", "openSUSE", "RancherOS", "Rocky Linux", "Ubuntu"} {
		if strings.EqualFold(known, name) {
			return known
		}
	}
	return "Unknown"
}

// public are the images that every account has.
func public() []*Image {
	built := time.Date(2026, 1, 15, 5, 47, 50, 0, time.UTC)
	everywhere := sizes()[0].Regions
	all := []*Image{
		{ID: 155133621, Name: "24.04 (LTS) x64", Distribution: "Ubuntu", Slug: "ubuntu-24-04-x64", MinDisk: 7, Gigabytes: 0.64},
		{ID: 129211873, Name: "22.04 (LTS) x64", Distribution: "Ubuntu", Slug: "ubuntu-22-04-x64", MinDisk: 7, Gigabytes: 0.63},
		{ID: 163947279, Name: "12 x64", Distribution: "Debian", Slug: "debian-12-x64", MinDisk: 7, Gigabytes: 0.56},
	}
	for _, i := range all {
		i.Type, i.Public, i.Status, i.Regions, i.Created = "base", true, available, everywhere, built
		i.Tags = []string{}
	}
	return all
}
