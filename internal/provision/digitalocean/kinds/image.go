package kinds

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/digitalocean/godo"

	"github.com/headgate-dev/headgate/api/crossplane/digitalocean"
)

// ImageFacts are what is known of a custom image.
type ImageFacts struct {
	// Observed is what the API says, nil when there is no such image.
	Observed *godo.Image
	// Pending says that the image is being copied to another region.
	Pending bool
	// URL is where it was imported from, by ComparableURL; empty when that is unknown.
	URL string
}

// Image compares a custom image with what is declared.
func Image(want digitalocean.ImageParameters, f ImageFacts) Outcome {
	have := f.Observed
	if have == nil {
		return Outcome{Condition: Missing, Message: "the image does not exist"}
	}
	var o Outcome
	o.Condition, o.Message = imageCondition(have)
	o.Wait = f.Pending || o.Condition != Available
	if from := ComparableURL(value(want.URL)); f.URL != "" && from != "" && from != f.URL {
		o.replace("url", from, f.URL)
	}
	o.describe(want, have)
	o.retag(want.Tags, have.Tags)
	if o.Condition == Available {
		o.regions(want.Regions, have.Regions)
	}
	return o
}

// imageCondition reads the status of an image, which the API spells in two ways.
func imageCondition(i *godo.Image) (Condition, string) {
	switch strings.ToLower(i.Status) {
	case "available":
		return Available, ""
	case "new", "pending":
		return Creating, "the image is being imported"
	case "deleted":
		if i.ErrorMessage != "" {
			return Failed, "the image was not imported: " + i.ErrorMessage
		}
		return Missing, "the image was deleted"
	case "retired":
		return Unavailable, "the image is retired"
	}
	return Unavailable, fmt.Sprintf("the status of the image is %q", i.Status)
}

// describe compares what one request changes.
func (o *Outcome) describe(want digitalocean.ImageParameters, have *godo.Image) {
	by := Call{Verb: Describe, To: have.Name, Description: have.Description, Distribution: have.Distribution}
	var changes []Change
	for _, field := range []struct {
		name string
		want *string
		is   *string
	}{
		{"name", want.Name, &by.To},
		{"description", want.Description, &by.Description},
		{"distribution", knownDistribution(want.Distribution), &by.Distribution},
	} {
		if field.want != nil && *field.want != *field.is {
			changes = append(changes, Change{field.name, *field.want, *field.is})
			*field.is = *field.want
		}
	}
	for _, c := range changes {
		o.change(c, by)
	}
}

// knownDistribution is what DigitalOcean stores for a distribution: a name that it does not know, such as NixOS, is Unknown.
func knownDistribution(name *string) *string {
	if name == nil {
		return nil
	}
	known := []string{"Arch Linux", "CentOS", "CoreOS", "Debian", "Fedora", "Fedora Atomic", "FreeBSD", "Gentoo", "openSUSE", "RancherOS", "Rocky Linux", "Ubuntu"}
	at := slices.IndexFunc(known, func(one string) bool { return strings.EqualFold(one, *name) })
	if at < 0 {
		unknown := "Unknown"
		return &unknown
	}
	return &known[at]
}

// regions copies an image to regions that it lacks, one after the other. It cannot be taken out of one.
func (o *Outcome) regions(want, have []string) {
	add, remove := set(want, have)
	if len(remove) > 0 && len(want) > 0 {
		o.replace("regions", listed(want), listed(have))
	}
	if len(add) > 0 {
		o.change(Change{"regions", listed(want), listed(have)}, Call{Verb: Transfer, To: add[0]})
	}
}

// CreateImage is the request that imports an image. It is imported to the first region, in the order in which the regions are
// declared, and copied to the others.
func CreateImage(want digitalocean.ImageParameters, own []string) (*godo.CustomImageCreateRequest, error) {
	region := ""
	if len(want.Regions) > 0 {
		region = want.Regions[0]
	}
	r := &godo.CustomImageCreateRequest{
		Name: value(want.Name), Url: value(want.URL), Region: region, Distribution: value(knownDistribution(want.Distribution)),
		Description: value(want.Description), Tags: append(declaredTags(want.Tags), own...),
	}
	switch {
	case r.Name == "":
		return nil, errors.New("creating an image: spec.forProvider.name is required")
	case r.Url == "":
		return nil, errors.New("creating an image: spec.forProvider.url is required")
	case r.Region == "":
		return nil, errors.New("creating an image: spec.forProvider.regions is required")
	}
	return r, nil
}

// ComparableURL is a URL without what signs it: a new signature does not make another image, and is not stored. Empty stands
// for nothing.
func ComparableURL(address string) string {
	u, err := url.Parse(address)
	if err != nil || address == "" {
		return ""
	}
	query := u.Query()
	for name := range query {
		lower := strings.ToLower(name)
		if strings.HasPrefix(lower, "x-amz-") || strings.HasPrefix(lower, "x-goog-") || slices.Contains([]string{"signature", "expires", "awsaccesskeyid", "googleaccessid", "token", "sig", "se"}, lower) {
			query.Del(name)
		}
	}
	u.User, u.Fragment, u.RawQuery = nil, "", query.Encode()
	return u.String()
}
