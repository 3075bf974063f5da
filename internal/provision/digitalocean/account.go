package digitalocean

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/digitalocean/godo"

	"github.com/headgate-dev/headgate/internal/provision/digitalocean/api"
	"github.com/headgate-dev/headgate/internal/provision/digitalocean/kinds"
)

// fresh is how old what was listed may be. One list serves the passes of all Droplets that are made meanwhile: 200 Droplets that
// are polled each minute cost at most 12 requests.
const fresh = 5 * time.Second

// perPage is the largest page of a list.
const perPage = 200

// account is what the passes for all resources of one token share.
type account struct {
	*api.Account
	// mu guards the maps in droplets.
	mu       sync.Mutex
	droplets *lately[string, map[int]*godo.Droplet]
	images   *lately[int, *godo.Image]
	private  *lately[string, []godo.Image]
	sizes    *lately[string, []godo.Size]
}

func newAccount(of *api.Account, c Clock) *account {
	return &account{
		Account: of, droplets: newLately[string, map[int]*godo.Droplet](c, fresh), images: newLately[int, *godo.Image](c, fresh),
		private: newLately[string, []godo.Image](c, fresh), sizes: newLately[string, []godo.Size](c, time.Hour),
	}
}

// managedDroplets are those that managed resources created, by their numbers.
func (a *account) managedDroplets(ctx context.Context, do *godo.Client) (map[int]*godo.Droplet, error) {
	return a.droplets.get(ctx, kinds.ManagedTag, func(ctx context.Context, tag string) (map[int]*godo.Droplet, error) {
		listed, err := pages(ctx, func(o *godo.ListOptions) ([]godo.Droplet, *godo.Response, error) {
			return do.Droplets.ListByTag(ctx, tag, o)
		})
		all := map[int]*godo.Droplet{}
		for _, d := range listed {
			all[d.ID] = &d
		}
		return all, err
	})
}

// droplet is a Droplet, nil when there is none. One that the list lacks is requested: it may not have our tags, and a list may
// be behind.
func (a *account) droplet(ctx context.Context, do *godo.Client, id int) (*godo.Droplet, error) {
	all, err := a.managedDroplets(ctx, do)
	if err != nil {
		return nil, err
	}
	if d, listed := a.listed(all, id); listed {
		return d, nil
	}
	d, _, err := do.Droplets.Get(ctx, id)
	if api.NotFound(err) {
		return nil, nil
	}
	return d, err
}

// image is an image by its number, nil when there is none.
func (a *account) image(ctx context.Context, do *godo.Client, id int) (*godo.Image, error) {
	return a.images.get(ctx, id, func(ctx context.Context, id int) (*godo.Image, error) {
		i, _, err := do.Images.GetByID(ctx, id)
		if api.NotFound(err) {
			return nil, nil
		}
		return i, err
	})
}

// everyImage are the images by which a name is resolved: those of the account, and those that have slugs.
func (a *account) everyImage(ctx context.Context, do *godo.Client) ([]godo.Image, error) {
	return a.private.get(ctx, "", func(ctx context.Context, _ string) ([]godo.Image, error) {
		own, err := pages(ctx, func(o *godo.ListOptions) ([]godo.Image, *godo.Response, error) { return do.Images.ListUser(ctx, o) })
		if err != nil {
			return nil, err
		}
		public, err := pages(ctx, func(o *godo.ListOptions) ([]godo.Image, *godo.Response, error) {
			return do.Images.ListDistribution(ctx, o)
		})
		return append(own, public...), err
	})
}

// size is a size by its slug, nil when there is none.
func (a *account) size(ctx context.Context, do *godo.Client, slug string) (*godo.Size, error) {
	all, err := a.sizes.get(ctx, "", func(ctx context.Context, _ string) ([]godo.Size, error) {
		return pages(ctx, func(o *godo.ListOptions) ([]godo.Size, *godo.Response, error) { return do.Sizes.List(ctx, o) })
	})
	for i := range all {
		if all[i].Slug == slug {
			return &all[i], err
		}
	}
	return nil, err
}

// everyDroplet are those that managed resources created.
func (a *account) everyDroplet(ctx context.Context, do *godo.Client) ([]*godo.Droplet, error) {
	all, err := a.managedDroplets(ctx, do)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Collect(maps.Values(all)), nil
}

func (a *account) listed(all map[int]*godo.Droplet, id int) (*godo.Droplet, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	d, listed := all[id]
	return d, listed
}

// touched has a Droplet requested: something was requested about it since it was listed.
func (a *account) touched(id int) {
	last, _ := a.droplets.look(kinds.ManagedTag)
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(last.value, id)
}

// created adds a Droplet to what was listed.
func (a *account) created(d *godo.Droplet) {
	last, listed := a.droplets.look(kinds.ManagedTag)
	a.mu.Lock()
	defer a.mu.Unlock()
	if listed {
		last.value[d.ID] = d
	}
}

// pages reads a list whole.
func pages[T any](ctx context.Context, list func(*godo.ListOptions) ([]T, *godo.Response, error)) ([]T, error) {
	var all []T
	for page := 1; ; page++ {
		some, answer, err := list(&godo.ListOptions{Page: page, PerPage: perPage})
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
		if answer.Links == nil || answer.Links.IsLastPage() || ctx.Err() != nil {
			return all, ctx.Err()
		}
	}
}
