package kinds

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/digitalocean/godo"
)

// Resolved is what a text means that names an image: in a manifest, or in a Secret that a workflow wrote.
type Resolved struct {
	// Image is what a Droplet declares: the number of an image, or the slug of a public one. Empty while there is none.
	Image string
	// Waiting says why there is none, if one may come: it is being imported, or not there yet.
	Waiting string
}

// ResolveImage reads a number, the slug of a public image, or the name of a private one. Private images have no slugs, and names
// are not unique: the newest one that is available is meant. The number is to be recorded, since a newer one may come. The text is not in what
// it returns unless it names an image: it may be any value of a Secret.
func ResolveImage(text string, images []godo.Image, region string) Resolved {
	name := strings.TrimSpace(text)
	if name == "" {
		return Resolved{Waiting: "no image is named yet"}
	}
	if _, err := strconv.Atoi(name); err == nil {
		return Resolved{Image: name}
	}
	if slices.ContainsFunc(images, func(i godo.Image) bool { return i.Slug == name && i.Public }) {
		return Resolved{Image: name}
	}
	named := slices.DeleteFunc(slices.Clone(images), func(i godo.Image) bool { return i.Public || i.Name != name })
	if len(named) == 0 {
		return Resolved{Waiting: "no public image has that slug, and no private one that name"}
	}
	waiting := ""
	for _, i := range newest(named) {
		why := Unusable(&i, region, nil)
		if why == "" {
			return Resolved{Image: strconv.Itoa(i.ID)}
		}
		if waiting == "" {
			waiting = why
		}
	}
	return Resolved{Waiting: waiting}
}

// newest orders images by age; of those of one second the higher number is newer.
func newest(images []godo.Image) []godo.Image {
	return slices.SortedFunc(slices.Values(images), func(a, b godo.Image) int {
		if c := strings.Compare(b.Created, a.Created); c != 0 {
			return c
		}
		return b.ID - a.ID
	})
}

// Unusable says why no Droplet could be created from an image in a region with a disk, empty if one can. It is asked before
// something is deleted that the new Droplet is to replace. No region and no size are not compared.
func Unusable(i *godo.Image, region string, size *godo.Size) string {
	switch {
	case i == nil:
		return "the image does not exist"
	case !strings.EqualFold(i.Status, "available"):
		_, why := imageCondition(i)
		return fmt.Sprintf("image %d: %s", i.ID, why)
	case region != "" && !slices.Contains(i.Regions, region):
		return fmt.Sprintf("image %d is in %s, not in %s", i.ID, listed(i.Regions), region)
	case size != nil && size.Disk < i.MinDiskSize:
		return fmt.Sprintf("image %d needs a disk of %d GB, size %s has %d", i.ID, i.MinDiskSize, size.Slug, size.Disk)
	case size != nil && region != "" && !slices.Contains(size.Regions, region):
		return fmt.Sprintf("size %s is not in %s", size.Slug, region)
	}
	return ""
}
