package digitalocean

import (
	"context"

	types "github.com/headgate-dev/headgate/api/crossplane/digitalocean"
	"github.com/headgate-dev/headgate/internal/provision/managed"
	"github.com/headgate-dev/headgate/internal/provision/trio"
)

// unit infers the image of a Droplet from the other objects of its unit, which are followed.
type unit struct{ edges *managed.Edges }

// ImageOf is the one connection Secret of the unit that has an image.
func (u unit) ImageOf(ctx context.Context, r *managed.Resource) (from types.ImageSource, why string, err error) {
	all, err := u.edges.All(ctx, r.Key(), trio.Kinds())
	if err != nil {
		return from, "", err
	}
	image, why := trio.ImageOf(r.Object, all)
	if why != "" {
		return from, why, nil
	}
	from.SecretKeyRef = &types.SecretKey{Name: image.Secret.Name, Namespace: image.Secret.Namespace, Key: image.Key}
	return from, "", nil
}

var _ Inference = unit{}
