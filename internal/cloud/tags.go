package cloud

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// checkTags refuses names that no tag can have.
func checkTags(names []string) error {
	valid := regexp.MustCompile(`^[\p{L}\p{N}:_-]{1,255}$`)
	for _, name := range names {
		if !valid.MatchString(name) {
			return unprocessable("Tag names may contain letters, numbers, colons, dashes, and underscores, and have 255 characters at most: %q", name)
		}
	}
	return nil
}

// showTag counts what has a tag.
func (x *exchange) showTag(name string) any {
	droplets, images := []*Droplet{}, []*Image{}
	for _, d := range seen(x, x.state.Droplets) {
		if tagged(d.Tags, name) {
			droplets = append(droplets, d)
		}
	}
	for _, i := range seen(x, x.state.Images) {
		if tagged(i.Tags, name) {
			images = append(images, i)
		}
	}
	none := object{"count": 0}
	of := object{"count": len(images)}
	on := object{"count": len(droplets)}
	resources := object{
		"count": len(droplets) + len(images), "droplets": on, "images": of,
		"volumes": none, "volume_snapshots": none, "databases": none,
	}
	if last := len(images) - 1; last >= 0 {
		of["last_tagged_uri"] = x.link("/v2/images/" + decimal(images[last].ID))
		resources["last_tagged_uri"] = of["last_tagged_uri"]
	}
	if last := len(droplets) - 1; last >= 0 {
		on["last_tagged_uri"], on["last_tagged"] = x.link("/v2/droplets/"+decimal(droplets[last].ID)), x.showDroplet(droplets[last])
		resources["last_tagged_uri"] = on["last_tagged_uri"]
	}
	return object{"name": name, "resources": resources}
}

func (x *exchange) listTags() (int, any, error) {
	return page(x, "tags", x.state.Tags, x.showTag)
}

// theTag is the tag that the path names, as it was first written.
func (x *exchange) theTag() (string, error) {
	at := slices.IndexFunc(x.state.Tags, func(t string) bool { return strings.EqualFold(t, x.r.PathValue("tag")) })
	if at < 0 {
		return "", notFound()
	}
	return x.state.Tags[at], nil
}

func (x *exchange) getTag() (int, any, error) {
	name, err := x.theTag()
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, object{"tag": x.showTag(name)}, nil
}

func (x *exchange) createTag() (int, any, error) {
	var wanted struct {
		Name string `json:"name"`
	}
	if err := x.read(&wanted); err != nil {
		return 0, nil, err
	}
	if err := checkTags([]string{wanted.Name}); err != nil {
		return 0, nil, err
	}
	x.state.tag([]string{wanted.Name})
	x.done = true
	return http.StatusCreated, object{"tag": x.showTag(wanted.Name)}, nil
}

func (x *exchange) deleteTag() (int, any, error) {
	name, err := x.theTag()
	if err != nil {
		return 0, nil, err
	}
	x.done = true
	x.state.Tags = untag(x.state.Tags, name)
	for _, d := range x.state.Droplets {
		d.Tags = untag(d.Tags, name)
	}
	for _, i := range x.state.Images {
		i.Tags = untag(i.Tags, name)
	}
	return http.StatusNoContent, nil, nil
}

func untag(tags []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(tags), func(t string) bool { return strings.EqualFold(t, name) })
}

func (x *exchange) tagResources() (int, any, error) {
	return x.retag(func(tags []string, name string) []string { return append(untag(tags, name), name) })
}

func (x *exchange) untagResources() (int, any, error) { return x.retag(untag) }

// retag changes the tags of the objects that a request names.
func (x *exchange) retag(change func(tags []string, name string) []string) (int, any, error) {
	name, err := x.theTag()
	if err != nil {
		return 0, nil, err
	}
	var wanted struct {
		Resources []struct {
			ID   string `json:"resource_id"`
			Type string `json:"resource_type"`
		} `json:"resources"`
	}
	if err := x.read(&wanted); err != nil {
		return 0, nil, err
	}
	for _, r := range wanted.Resources {
		id, _ := strconv.Atoi(r.ID)
		d, i := x.state.droplet(id), x.state.image(id)
		switch {
		case r.Type == "droplet" && d != nil && d.visible(x):
			d.Tags = change(d.Tags, name)
		case r.Type == "image" && i != nil && i.visible(x) && !i.Public:
			i.Tags = change(i.Tags, name)
		default:
			return 0, nil, notFound()
		}
	}
	x.done = true
	return http.StatusNoContent, nil, nil
}
