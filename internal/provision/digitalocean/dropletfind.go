package digitalocean

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/digitalocean/godo"

	"github.com/headgate-dev/headgate/internal/provision/digitalocean/kinds"
)

// candidates are the Droplets that the resource created in an attempt, in any one when it is 0.
func (d *droplet) candidates(ctx context.Context, attempt int) ([]kinds.Candidate, error) {
	listed, err := d.owned(ctx, attempt)
	if err != nil {
		return nil, failure("searching for a Droplet that was created", err)
	}
	var all []kinds.Candidate
	for _, one := range listed {
		in, own := kinds.Attempt(one.Tags, d.uid())
		if !own || attempt != 0 && in != attempt {
			continue
		}
		created, err := time.Parse(time.RFC3339, one.Created)
		if err != nil {
			return nil, fmt.Errorf("reading when Droplet %d was created: %w", one.ID, err)
		}
		all = append(all, kinds.Candidate{Name: strconv.Itoa(one.ID), Attempt: in, Created: created})
	}
	return all, nil
}

// owned are the Droplets to search in: those that were listed lately before the first creation, and a list of this moment after
// one.
func (d *droplet) owned(ctx context.Context, attempt int) ([]*godo.Droplet, error) {
	if attempt == 0 {
		return d.account.everyDroplet(ctx, d.do)
	}
	listed, err := pages(ctx, func(o *godo.ListOptions) ([]godo.Droplet, *godo.Response, error) {
		return d.do.Droplets.ListByTag(ctx, kinds.OwnerTag(d.uid()), o)
	})
	var all []*godo.Droplet
	for _, one := range listed {
		all = append(all, &one)
	}
	return all, err
}
