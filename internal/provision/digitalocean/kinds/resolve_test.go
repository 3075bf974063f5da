package kinds_test

import (
	"testing"

	"github.com/digitalocean/godo"
	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/provision/digitalocean/kinds"
)

func TestResolveImage(t *testing.T) {
	images := []godo.Image{
		{ID: 1, Slug: "debian-12-x64", Name: "12 x64", Public: true, Status: "available"},
		{ID: 2, Name: "nixos-latest", Status: "available", Regions: []string{"fra1"}, Created: "2026-11-18T12:00:00Z"},
		{ID: 3, Name: "nixos-latest", Status: "available", Regions: []string{"fra1"}, Created: "2026-11-20T12:00:00Z"},
		{ID: 4, Name: "nixos-latest", Status: "available", Regions: []string{"fra1"}, Created: "2026-11-20T12:00:00Z"},
		{ID: 5, Name: "nixos-latest", Status: "pending", Created: "2026-11-21T12:00:00Z"},
		{ID: 6, Name: "fresh", Status: "NEW", Created: "2026-11-21T12:00:00Z"},
		{ID: 7, Name: "broken", Status: "deleted", ErrorMessage: "corrupt", Created: "2026-11-21T12:00:00Z"},
	}
	for name, tc := range map[string]struct {
		reason, text, region string
		want                 kinds.Resolved
	}{
		"Number":  {"a number is itself, also of an image that is not listed", " 162345\n", "fra1", kinds.Resolved{Image: "162345"}},
		"Slug":    {"a public image has a slug", "debian-12-x64", "fra1", kinds.Resolved{Image: "debian-12-x64"}},
		"Title":   {"the name of a public image is none", "12 x64", "fra1", kinds.Resolved{Waiting: `no public image has that slug, and no private one that name`}},
		"Name":    {"the newest that is available, while a newer one is imported", "nixos-latest", "fra1", kinds.Resolved{Image: "4"}},
		"Region":  {"in another region there is none", "nixos-latest", "nyc3", kinds.Resolved{Waiting: "image 5: the image is being imported"}},
		"Fresh":   {"the only one is being imported", "fresh", "fra1", kinds.Resolved{Waiting: "image 6: the image is being imported"}},
		"Broken":  {"the only one failed", "broken", "fra1", kinds.Resolved{Waiting: "image 7: the image was not imported: corrupt"}},
		"Empty":   {"the Secret is empty, as upstream's reader leaves it", " ", "fra1", kinds.Resolved{Waiting: "no image is named yet"}},
		"Nothing": {"no such image", "nixos-newest", "fra1", kinds.Resolved{Waiting: `no public image has that slug, and no private one that name`}},
	} {
		if diff := cmp.Diff(tc.want, kinds.ResolveImage(tc.text, images, tc.region)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tc.reason, diff)
		}
	}
}

func TestUnusable(t *testing.T) {
	small := &godo.Size{Slug: "small", Disk: 10, Regions: []string{"fra1", "nyc3"}}
	large := &godo.Size{Slug: "large", Disk: 50, Regions: []string{"nyc3"}}
	i := &godo.Image{ID: 3, Status: "available", Regions: []string{"fra1", "ams3"}, MinDiskSize: 20}
	for name, tc := range map[string]struct {
		image  *godo.Image
		region string
		size   *godo.Size
		want   string
	}{
		"Fine":    {i, "fra1", &godo.Size{Slug: "x", Disk: 20, Regions: []string{"fra1"}}, ""},
		"Unknown": {i, "", nil, ""},
		"None":    {nil, "fra1", nil, "the image does not exist"},
		"Retired": {&godo.Image{ID: 3, Status: "retired"}, "fra1", nil, "image 3: the image is retired"},
		"Region":  {i, "nyc3", nil, "image 3 is in ams3,fra1, not in nyc3"},
		"Disk":    {i, "fra1", small, "image 3 needs a disk of 20 GB, size small has 10"},
		"Size":    {i, "fra1", large, "size large is not in fra1"},
	} {
		if got := kinds.Unusable(tc.image, tc.region, tc.size); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
