package cloud

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
)

// The states of an image, as the API spells them.
const (
	fresh     = "NEW"
	pending   = "pending"
	available = "available"
	deleted   = "deleted"
)

func showImage(i *Image) any {
	shown := object{
		"id": i.ID, "name": i.Name, "type": i.Type, "distribution": i.Distribution, "slug": nil, "public": i.Public,
		"regions": texts(i.Regions), "created_at": stamp(i.Created), "min_disk_size": i.MinDisk, "size_gigabytes": i.Gigabytes,
		"description": i.Description, "tags": texts(i.Tags), "status": i.Status, "error_message": i.Error,
	}
	if i.Slug != "" {
		shown["slug"] = i.Slug
	}
	return shown
}

// listImages lists what can be used; images whose import failed are only seen by their number.
func (x *exchange) listImages() (int, any, error) {
	query := x.r.URL.Query()
	all := slices.DeleteFunc(seen(x, x.state.Images), func(i *Image) bool {
		switch {
		case i.Status == deleted,
			query.Get("private") == "true" && i.Public,
			query.Get("type") == "distribution" && i.Type != "base",
			query.Get("type") == "application",
			query.Has("tag_name") && !tagged(i.Tags, query.Get("tag_name")):
			return true
		}
		return false
	})
	return page(x, "images", all, showImage)
}

// theImage is the image that the path names: by its number, or a public one by its slug.
func (x *exchange) theImage() (*Image, error) {
	name := x.r.PathValue("image")
	i := found(x.state.Images, func(i *Image) bool { return decimal(i.ID) == name || i.Slug == name })
	if i == nil || !i.visible(x) {
		return nil, notFound()
	}
	return i, nil
}

func (x *exchange) getImage() (int, any, error) {
	i, err := x.theImage()
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, object{"image": showImage(i)}, nil
}

// imageRequest is the body of a request to import an image.
type imageRequest struct {
	Name         string   `json:"name"`
	URL          string   `json:"url"`
	Region       string   `json:"region"`
	Distribution string   `json:"distribution"`
	Description  string   `json:"description"`
	Tags         []string `json:"tags"`
}

func (r imageRequest) check() error {
	address, err := url.Parse(r.URL)
	if _, known := regionBy(r.Region); !known {
		return unprocessable("Region is invalid")
	}
	switch {
	case r.Name == "":
		return unprocessable("Name can't be blank")
	case err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" && address.Scheme != "ftp":
		return unprocessable("URL is invalid")
	}
	return checkTags(r.Tags)
}

// createImage begins to import a custom image. Whether its URL leads to one is only found later.
func (x *exchange) createImage() (int, any, error) {
	var wanted imageRequest
	if err := x.read(&wanted); err != nil {
		return 0, nil, err
	}
	if err := wanted.check(); err != nil {
		return 0, nil, err
	}
	slow, _ := x.faults.of(SlowImport)
	i := &Image{
		ID: x.state.number(), Name: wanted.Name, Type: "custom", Distribution: distribution(wanted.Distribution), Regions: []string{},
		Created: x.now, Description: wanted.Description, Tags: wanted.Tags, Status: fresh, Visible: x.later(),
		Import: &Import{URL: wanted.URL, Region: wanted.Region, Pending: x.now.Add(x.timing.Queue), Ready: x.now.Add(x.timing.Import + slow.For)},
	}
	if f, is := x.faults.of(FailImport); is {
		i.Import.Fetched, i.Import.Error = true, f.Message
	} else {
		x.transfer(i.ID)
	}
	x.state.tag(wanted.Tags)
	x.state.Images = append(x.state.Images, i)
	x.created("image", decimal(i.ID))
	return http.StatusAccepted, object{"image": showImage(i)}, nil
}

func (x *exchange) updateImage() (int, any, error) {
	i, err := x.theImage()
	if err != nil {
		return 0, nil, err
	}
	var wanted imageRequest
	if err := x.read(&wanted); err != nil {
		return 0, nil, err
	}
	if i.Public {
		return 0, nil, problem(http.StatusForbidden, "You do not have access for the attempted action.")
	}
	if wanted.Name != "" {
		i.Name = wanted.Name
	}
	if wanted.Distribution != "" {
		i.Distribution = distribution(wanted.Distribution)
	}
	if wanted.Description != "" {
		i.Description = wanted.Description
	}
	x.done = true
	return http.StatusOK, object{"image": showImage(i)}, nil
}

// deleteImage deletes an image; Droplets that were made of it go on.
func (x *exchange) deleteImage() (int, any, error) {
	id, _ := strconv.Atoi(x.r.PathValue("image"))
	i := x.state.image(id)
	switch {
	case i == nil || x.now.Before(i.Visible):
		return 0, nil, notFound()
	case i.Public:
		return 0, nil, problem(http.StatusForbidden, "You do not have access for the attempted action.")
	case i.Deleted || i.Status == deleted:
		return 0, nil, unprocessable("Image Can not delete an already deleted image.")
	}
	i.Deleted, i.Status, x.done = true, deleted, true
	return http.StatusNoContent, nil, nil
}

// actOnImage copies an image to another region.
func (x *exchange) actOnImage() (int, any, error) {
	i, err := x.theImage()
	if err != nil {
		return 0, nil, err
	}
	var wanted request
	if err := x.read(&wanted); err != nil {
		return 0, nil, err
	}
	_, known := regionBy(wanted.Region)
	switch {
	case wanted.Type != "transfer":
		return 0, nil, unprocessable("The action type %q is not valid for this image.", wanted.Type)
	case !known:
		return 0, nil, unprocessable("Region is invalid")
	case i.Public || i.Status != available:
		return 0, nil, unprocessable("Image is not available for transfer.")
	case slices.Contains(i.Regions, wanted.Region):
		return 0, nil, unprocessable("Image is already available in %s.", wanted.Region)
	}
	a, err := x.begin(subject{"image", decimal(i.ID), wanted.Region}, wanted, x.timing.Import)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusCreated, object{"action": x.showAction(a)}, nil
}
