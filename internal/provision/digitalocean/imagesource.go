package digitalocean

import (
	"context"
	"strconv"
	"strings"

	"github.com/digitalocean/godo"
	apitypes "k8s.io/apimachinery/pkg/types"

	types "github.com/headgate-dev/headgate/api/crossplane/digitalocean"
	"github.com/headgate-dev/headgate/internal/provision/digitalocean/kinds"
	"github.com/headgate-dev/headgate/internal/provision/managed"
)

// The reasons of a Droplet that waits for its image.
const (
	reasonWaitingForImage = "WaitingForImage"
	reasonImageRequired   = "ImageRequired"
)

// resolve finds the image of the Droplet, and says whether it comes from a Secret. A Droplet that exists waits for nothing: what
// it was created from is what it is compared with while the Secret names none.
func (d *droplet) resolve(ctx context.Context) (built bool, err error) {
	from, err := d.imageSource(ctx)
	if err != nil || from == nil {
		return false, err
	}
	image, err := d.imageIn(ctx, *from)
	if err != nil {
		return true, err
	}
	if d.want.Image = nil; image == "" {
		return true, nil
	}
	d.want.Image, d.create.Image = &image, &image
	return true, d.veil(ctx, *from)
}

// veil keeps a number out of what is shown that a Secret has and that is not one of an image: the author of a Droplet need not be permitted to read the Secret that it names.
func (d *droplet) veil(ctx context.Context, from types.SecretKey) error {
	text := *d.create.Image
	id, err := strconv.Atoi(text)
	if err != nil || text == d.record.Created.Image || d.have != nil && d.have.Image != nil && d.have.Image.ID == id {
		return nil //nolint:nilerr // a name has been found among the images
	}
	image, err := d.account.image(ctx, d.do, id)
	if err != nil {
		return failure("observing the image that "+called(from)+" names", err)
	}
	if image != nil {
		return nil
	}
	absent := "the image that " + called(from) + " names does not exist"
	if d.have == nil && d.record.Successor == nil {
		return d.awaitImage(absent)
	}
	shown := "that of " + called(from)
	d.want.Image, d.absent = &shown, absent
	return nil
}

// called names a key of a Secret in messages.
func called(from types.SecretKey) string {
	return "key " + strconv.Quote(from.Key) + " of Secret " + from.Name
}

// last is the image while the Secret names none: the one that the Droplet was created from, or, for one that exists and was
// created by others, any.
func (d *droplet) last(waiting error) (string, error) {
	if image := d.record.Created.Image; image != "" || d.have != nil {
		return image, nil
	}
	return "", waiting
}

// imageSource is the Secret that names the image, nil when the Droplet declares the image itself.
func (d *droplet) imageSource(ctx context.Context) (*types.SecretKey, error) {
	w := d.create
	switch {
	case w.ImageFrom != nil && w.ImageFrom.SecretKeyRef != nil:
		if w.Image != nil && *w.Image != "" {
			return nil, managed.Invalid("spec.forProvider: image and imageFrom are both set; remove one of them")
		}
		return w.ImageFrom.SecretKeyRef, nil
	case w.Image != nil && *w.Image != "":
		return nil, nil
	case d.infer == nil:
		return nil, d.withoutImage("spec.forProvider names no image: set image, imageRef or imageFrom")
	}
	from, why, err := d.infer.ImageOf(ctx, d.Resource)
	if err != nil {
		return nil, err
	}
	if from.SecretKeyRef == nil {
		return nil, d.withoutImage(why)
	}
	return from.SecretKeyRef, nil
}

// withoutImage is the answer about a Droplet whose image is unknown: one that exists is left as it is.
func (d *droplet) withoutImage(why string) error {
	if d.have != nil {
		d.want.Image = nil
		return nil
	}
	return &managed.WaitingError{Cause: managed.Cause{Reason: reasonImageRequired, Message: why}}
}

// imageIn is the image that a Secret names. While it names none, the last one is used.
func (d *droplet) imageIn(ctx context.Context, from types.SecretKey) (string, error) {
	value, has, err := d.Secret(ctx, apitypes.NamespacedName{Namespace: from.Namespace, Name: from.Name}, from.Key)
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(string(value))
	if !has || text == "" {
		return d.last(&managed.WaitingError{Cause: managed.Cause{
			Reason: reasonWaitingForImage, Message: "Secret " + from.Name + " has no value of the key " + strconv.Quote(from.Key) + " yet, which is to name the image",
		}})
	}
	if _, err := strconv.Atoi(text); err == nil {
		return text, nil
	}
	return d.imageNamed(ctx, from, text)
}

// imageNamed is the number of the newest image with a name. It is recorded: a newer one of the same name changes nothing, unless
// the recorded one is gone and there is no Droplet.
func (d *droplet) imageNamed(ctx context.Context, from types.SecretKey, name string) (string, error) {
	if d.record.Named == name && d.record.Image != "" {
		if d.have != nil {
			return d.record.Image, nil
		}
		why, err := d.unusable(ctx, types.DropletParameters{Image: &d.record.Image, Region: d.create.Region})
		if err != nil || why == "" {
			return d.record.Image, err
		}
	}
	images, err := d.account.everyImage(ctx, d.do)
	if err != nil {
		return "", failure("listing images", err)
	}
	region := ""
	if d.create.Region != nil {
		region = *d.create.Region
	}
	r := kinds.ResolveImage(name, images, region)
	if r.Image == "" {
		return d.last(d.awaitImage(called(from) + ": " + r.Waiting))
	}
	d.record.Named, d.record.Image = name, r.Image
	return r.Image, d.Keep(ctx, d.record)
}

// awaitImage is the answer about an image that may come. DigitalOcean tells no one when it does.
func (d *droplet) awaitImage(why string) error {
	return &managed.WaitingError{Cause: managed.Cause{Reason: reasonWaitingForImage, Message: why}, Until: d.clock.Now().Add(2 * poll)}
}

// unusable says why no Droplet could be created from the image that is declared; empty when one could, as far as is known.
func (d *droplet) unusable(ctx context.Context, w types.DropletParameters) (string, error) {
	if w.Image == nil || d.absent != "" {
		return d.absent, nil
	}
	id, err := strconv.Atoi(*w.Image)
	if err != nil {
		return "", nil
	}
	image, err := d.account.image(ctx, d.do, id)
	if err != nil {
		return "", failure("observing image "+*w.Image, err)
	}
	if image == nil {
		return "image " + *w.Image + " does not exist", nil
	}
	var size *godo.Size
	if w.Size != nil {
		if size, err = d.account.size(ctx, d.do, *w.Size); err != nil {
			return "", failure("listing sizes", err)
		}
	}
	region := ""
	if w.Region != nil {
		region = *w.Region
	}
	return kinds.Unusable(image, region, size), nil
}
