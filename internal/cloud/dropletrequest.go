package cloud

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// reference is a number, or a slug or fingerprint, as requests name images and keys.
type reference string

// UnmarshalJSON reads a number or a string.
func (r *reference) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*r = reference(text)
		return nil
	}
	var n int
	if err := json.Unmarshal(data, &n); err != nil {
		return err
	}
	*r = reference(decimal(n))
	return nil
}

// dropletRequest is the body of a request for Droplets.
type dropletRequest struct {
	Name             string      `json:"name"`
	Names            []string    `json:"names"`
	Region           string      `json:"region"`
	Size             string      `json:"size"`
	Image            reference   `json:"image"`
	Keys             []reference `json:"ssh_keys"`
	Backups          bool        `json:"backups"`
	IPv6             bool        `json:"ipv6"`
	Monitoring       bool        `json:"monitoring"`
	UserData         string      `json:"user_data"`
	Tags             []string    `json:"tags"`
	VPC              string      `json:"vpc_uuid"`
	Volumes          []any       `json:"volumes"`
	DropletAgent     *bool       `json:"with_droplet_agent"`
	PublicNetworking *bool       `json:"public_networking"`
}

// plan is what a request resolves to.
type plan struct {
	names  []string
	region region
	size   size
	image  *Image
	keys   []int
}

// The limits of a request for Droplets.
const (
	maxNames    = 10
	maxUserData = 64 << 10
)

// check resolves what a request names, or refuses it as the API does.
func (r dropletRequest) check(x *exchange) (p plan, err error) {
	if p.names, err = r.named(); err != nil {
		return p, err
	}
	var known bool
	if p.size, known = sizeBy(r.Size); !known {
		return p, unprocessable("You specified an invalid size for Droplet creation.")
	}
	if p.image = x.usable(r.Image); p.image == nil {
		return p, unprocessable("You specified an invalid image for Droplet creation.")
	}
	if r.Region == "" {
		r.Region = p.image.Regions[0]
	}
	if p.region, known = regionBy(r.Region); !known {
		return p, unprocessable("You specified an invalid region for Droplet creation.")
	}
	if p.keys, err = x.keysOf(r.Keys); err != nil {
		return p, err
	}
	if err := p.fits(); err != nil {
		return p, err
	}
	return p, r.permitted(x, p)
}

// usable is the image that a request names: one that is available, by its number, or a public one by its slug. Private
// images have no slugs, and names are none.
func (x *exchange) usable(name reference) *Image {
	return found(x.state.Images, func(i *Image) bool {
		return i.visible(x) && i.Status == available && (decimal(i.ID) == string(name) || i.Public && i.Slug == string(name))
	})
}

func (r dropletRequest) named() ([]string, error) {
	names := r.Names
	if len(names) == 0 {
		names = []string{r.Name}
	}
	if len(names) > maxNames {
		return nil, unprocessable("You can create %d Droplets at a time at most.", maxNames)
	}
	hostname := regexp.MustCompile(`^[a-zA-Z0-9.-]{1,255}$`)
	for _, name := range names {
		if !hostname.MatchString(name) {
			return nil, unprocessable("Only valid hostname characters are allowed. (a-z, A-Z, 0-9, . and -)")
		}
	}
	return names, nil
}

// keysOf are the numbers of the keys that a request names by number or fingerprint.
func (x *exchange) keysOf(names []reference) ([]int, error) {
	var ids []int
	var unknown []string
	for _, name := range names {
		if k := x.state.key(string(name)); k != nil && k.visible(x) {
			ids = append(ids, k.ID)
			continue
		}
		unknown = append(unknown, string(name))
	}
	if len(unknown) > 0 {
		return nil, unprocessable("%s are invalid key identifiers for Droplet creation.", strings.Join(unknown, ", "))
	}
	return ids, nil
}

// fits refuses a region and a size that the image or each other cannot be used with.
func (p plan) fits() error {
	switch {
	case !p.region.Available:
		return unprocessable("Region is not available")
	case !slices.Contains(p.image.Regions, p.region.Slug):
		return unprocessable("You specified an invalid image for Droplet creation.")
	case p.size.Disk < p.image.MinDisk:
		return unprocessable("Cannot create a droplet with a smaller disk (%dGB) than the image (%dGB)", p.size.Disk, p.image.MinDisk)
	}
	return nil
}

// permitted refuses what an account cannot have, and what a custom image is not capable of.
func (r dropletRequest) permitted(x *exchange, p plan) error {
	custom := p.image.Type == "custom"
	switch {
	case custom && len(p.keys) == 0:
		return unprocessable("SSH keys are required to create a Droplet from a custom image.")
	case custom && r.IPv6:
		return unprocessable("IPv6 is not supported for Droplets that are created from custom images.")
	case custom && r.Monitoring:
		return unprocessable("Monitoring is not supported for Droplets that are created from custom images.")
	case len(r.UserData) > maxUserData:
		return unprocessable("User data is too long (maximum is %d bytes)", maxUserData)
	case r.VPC != "" && r.VPC != p.region.vpc:
		return unprocessable("VPC %s could not be found in the region %s.", r.VPC, p.region.Slug)
	case len(r.Volumes) > 0:
		return unprocessable("Volumes are not simulated.")
	case len(x.state.Droplets)+len(p.names) > dropletLimit:
		return unprocessable("creating this/these droplet(s) will exceed your droplet limit")
	}
	return checkTags(r.Tags)
}

// features are those that a Droplet shows.
func (r dropletRequest) features() []string {
	all := []string{"private_networking"}
	for name, on := range map[string]bool{
		"backups": r.Backups, "ipv6": r.IPv6, "monitoring": r.Monitoring, "droplet_agent": r.DropletAgent != nil && *r.DropletAgent,
	} {
		if on {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

func (r dropletRequest) rel() string {
	if len(r.Names) > 0 {
		return "multiple_create"
	}
	return "create"
}

func digest(text string) string {
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// number reads the number of a resource; an address counts as the number that it is.
func number(resource string) int {
	if n, err := strconv.Atoi(resource); err == nil {
		return n
	}
	n := 0
	for part := range strings.SplitSeq(resource, ".") {
		one, _ := strconv.Atoi(part)
		n = n<<8 | one
	}
	return n
}
