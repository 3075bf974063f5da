package digitalocean

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/digitalocean/godo"

	"github.com/headgate-dev/headgate/internal/provision/digitalocean/api"
	"github.com/headgate-dev/headgate/internal/provision/digitalocean/kinds"
	"github.com/headgate-dev/headgate/internal/provision/managed"
)

// Create requests the Droplet, once its image can be used. What it is created with is recorded before.
func (d *droplet) Create(ctx context.Context, i managed.Intent) (managed.Result, error) {
	d.record = dropletRecord{Created: kinds.RecordDroplet(d.create), Named: d.record.Named, Image: d.record.Image}
	if err := d.Keep(ctx, d.record); err != nil {
		return managed.Result{}, err
	}
	made, err := d.post(ctx, i.Attempt)
	if err != nil {
		return managed.Result{}, err
	}
	name := strconv.Itoa(made.ID)
	if !d.isClassic() {
		return managed.Result{ExternalName: name, Next: poll}, nil
	}
	d.record.ID = name
	return managed.Result{Next: poll}, d.Keep(ctx, d.record)
}

// post creates a Droplet in an attempt.
func (d *droplet) post(ctx context.Context, attempt int) (*godo.Droplet, error) {
	request, err := kinds.CreateDroplet(d.create, kinds.OwnTags(d.uid(), attempt))
	if err != nil {
		return nil, managed.Invalid("%w", err)
	}
	made, _, err := d.do.Droplets.Create(ctx, request)
	if err != nil {
		return nil, failure("creating the Droplet", err)
	}
	d.account.created(made)
	return made, nil
}

// Update makes the next step: of a replacement, or the next request that changes the Droplet in place.
func (d *droplet) Update(ctx context.Context) (managed.Result, error) {
	again := managed.Result{Next: poll}
	switch {
	case d.next.Step != kinds.Keep:
		return again, d.replace(ctx)
	case d.record.Previous != "":
		return again, d.dropPrevious(ctx)
	}
	if d.record.Restart && d.outcome.Next == nil && !d.outcome.Wait {
		// It has its new size and is on.
		d.record.Restart = false
		return again, d.Keep(ctx, d.record)
	}
	if d.outcome.Next == nil {
		return again, nil
	}
	call := *d.outcome.Next
	if call.Verb == kinds.PowerOff && !d.record.Restart {
		d.record.Restart = true
		if err := d.Keep(ctx, d.record); err != nil {
			return again, err
		}
	}
	d.Emit("Normal", "Updating", fmt.Sprintf("%s of Droplet %d: %s", call.Verb, d.have.ID, difference(d.outcome)))
	d.account.touched(d.have.ID)
	return again, failure(fmt.Sprintf("%s of Droplet %d", call.Verb, d.have.ID), d.call(ctx, d.have.ID, call))
}

// call sends the request of a call.
func (d *droplet) call(ctx context.Context, id int, c kinds.Call) error {
	act := d.do.DropletActions
	var err error
	switch c.Verb {
	case kinds.PowerOff:
		_, _, err = act.PowerOff(ctx, id)
	case kinds.PowerOn:
		_, _, err = act.PowerOn(ctx, id)
	case kinds.Resize:
		_, _, err = act.Resize(ctx, id, c.To, c.Disk)
	case kinds.Rename:
		_, _, err = act.Rename(ctx, id, c.To)
	case kinds.EnableBackups:
		_, _, err = act.EnableBackups(ctx, id)
	case kinds.DisableBackups:
		_, _, err = act.DisableBackups(ctx, id)
	case kinds.EnableIPv6:
		_, _, err = act.EnableIPv6(ctx, id)
	case kinds.Attach:
		_, _, err = d.do.StorageActions.Attach(ctx, c.To, id)
	case kinds.Detach:
		_, _, err = d.do.StorageActions.DetachByDropletID(ctx, c.To, id)
	default:
		return d.retag(ctx, godo.Resource{ID: strconv.Itoa(id), Type: godo.DropletResourceType}, c)
	}
	return err
}

// retag adds a tag, which has to exist, or takes one away.
func (s session) retag(ctx context.Context, of godo.Resource, c kinds.Call) error {
	if c.Verb == kinds.Untag {
		_, err := s.do.Tags.UntagResources(ctx, c.To, &godo.UntagResourcesRequest{Resources: []godo.Resource{of}})
		return err
	}
	if c.Verb != kinds.Tag {
		return fmt.Errorf("there is no request for %s", c.Verb)
	}
	_, _, err := s.do.Tags.Create(ctx, &godo.TagCreateRequest{Name: c.To})
	if message, exists := api.Unprocessable(err); err != nil && (!exists || !strings.Contains(message, "already")) {
		return err
	}
	_, err = s.do.Tags.TagResources(ctx, c.To, &godo.TagResourcesRequest{Resources: []godo.Resource{of}})
	return err
}

// leaving is what there is left of a Droplet that is to be deleted, its successor and its predecessor included.
func (d *droplet) leaving(ctx context.Context) (managed.Observation, error) {
	o := managed.Observation{Exists: d.have != nil, UpToDate: true}
	if s := d.record.Successor; s != nil && s.Name == "" {
		if waits, err := d.recoverSuccessor(ctx, s); waits || err != nil {
			return managed.Observation{Exists: true, UpToDate: true, Next: poll}, err
		}
	}
	for _, other := range d.others() {
		id, err := kinds.ParseNumber(other)
		if err != nil {
			return o, managed.Invalid("%w", err)
		}
		one, err := d.account.droplet(ctx, d.do, id)
		if err != nil {
			return o, failure("observing Droplet "+other, err)
		}
		o.Exists = o.Exists || one != nil
	}
	if d.have != nil {
		o.AtProvider = d.atProvider()
	}
	return o, nil
}

// Delete deletes the Droplet, and what was to be its successor, or was its predecessor.
func (d *droplet) Delete(ctx context.Context) (managed.Result, error) {
	if d.have != nil {
		wait, err := d.shutDown(ctx)
		if wait || err != nil {
			return managed.Result{Next: poll}, err
		}
	}
	all := d.others()
	if d.have != nil {
		all = append(all, strconv.Itoa(d.have.ID))
	}
	for _, name := range all {
		if err := d.destroy(ctx, name); err != nil {
			return managed.Result{}, err
		}
	}
	return managed.Result{Next: poll}, nil
}

// gracePeriod is how long a Droplet has to shut down.
const gracePeriod = 20 * poll

// shutDown has a Droplet shut down that is to be before it is deleted; wait while it does.
func (d *droplet) shutDown(ctx context.Context) (wait bool, err error) {
	graceful := d.want.GracefulShutdown
	if graceful == nil || !*graceful || d.have.Status != "active" {
		return false, nil
	}
	if !d.record.ShutDown.IsZero() {
		return d.clock.Now().Before(d.record.ShutDown.Add(gracePeriod)), nil
	}
	d.record.ShutDown = d.clock.Now()
	if err := d.Keep(ctx, d.record); err != nil {
		return true, err
	}
	d.account.touched(d.have.ID)
	_, _, err = d.do.DropletActions.Shutdown(ctx, d.have.ID)
	return true, failure(fmt.Sprintf("shutting down Droplet %d", d.have.ID), err)
}

// destroy deletes a Droplet; one that is gone is no error.
func (d *droplet) destroy(ctx context.Context, name string) error {
	id, err := kinds.ParseNumber(name)
	if err != nil || id == 0 {
		return err
	}
	d.account.touched(id)
	if _, err := d.do.Droplets.Delete(ctx, id); err != nil && !api.NotFound(err) {
		return failure("deleting Droplet "+name, err)
	}
	return nil
}
