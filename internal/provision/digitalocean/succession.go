package digitalocean

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/digitalocean/godo"

	"github.com/headgate-dev/headgate/internal/provision/digitalocean/kinds"
	"github.com/headgate-dev/headgate/internal/provision/managed"
)

// succession is what is remembered of a replacement by which the next Droplet is created before the last one is deleted.
type succession struct {
	Successor *successor `json:"successor,omitempty"`
	// Previous is the Droplet that was replaced, until it is gone.
	Previous string `json:"previous,omitempty"`
}

// successor is the Droplet that is to be the next.
type successor struct {
	// Attempt numbers its creation. It is the time of it: the numbers of other creations are small.
	Attempt int       `json:"attempt"`
	Began   time.Time `json:"began"`
	// Name is its number, empty until the answer of its creation was stored.
	Name    string              `json:"name,omitempty"`
	Created kinds.DropletRecord `json:"created"`
}

// others are the Droplets of the resource beside the one that it stands for.
func (d *droplet) others() []string {
	var all []string
	if s := d.record.Successor; s != nil && s.Name != "" {
		all = append(all, s.Name)
	}
	if d.record.Previous != "" {
		all = append(all, d.record.Previous)
	}
	return all
}

// successorCondition is how the successor is. One whose creation was not answered is searched for; one that was not created, or
// is gone, is forgotten.
func (d *droplet) successorCondition(ctx context.Context) (kinds.Condition, error) {
	s := d.record.Successor
	if s == nil {
		return kinds.Missing, nil
	}
	if s.Name == "" {
		if waits, err := d.recoverSuccessor(ctx, s); waits || err != nil {
			return kinds.Creating, err
		}
	}
	if s = d.record.Successor; s == nil {
		return kinds.Missing, nil
	}
	id, err := kinds.ParseNumber(s.Name)
	if err != nil {
		return kinds.Missing, managed.Invalid("status.record: %w", err)
	}
	one, err := d.account.droplet(ctx, d.do, id)
	if err != nil {
		return kinds.Missing, failure("observing Droplet "+s.Name, err)
	}
	if one == nil {
		d.record.Successor = nil
		return kinds.Missing, d.Keep(ctx, d.record)
	}
	return kinds.Droplet(d.want, kinds.DropletFacts{Observed: one, Recorded: s.Created}).Condition, nil
}

// finishPromotion records a promotion whose process ended after the external name was stored.
func (d *droplet) finishPromotion(ctx context.Context) error {
	if s := d.record.Successor; s == nil || d.have == nil || s.Name != strconv.Itoa(d.have.ID) {
		return nil
	}
	return d.promoted(ctx)
}

// recoverSuccessor searches for a successor whose creation was not answered; it waits while one may show up.
func (d *droplet) recoverSuccessor(ctx context.Context, s *successor) (waits bool, err error) {
	found, err := d.candidates(ctx, s.Attempt)
	if err != nil {
		return false, err
	}
	r := kinds.Recover(found, s.Began, d.clock.Now())
	if !r.Until.IsZero() {
		return true, nil
	}
	if s.Name = r.Adopt; s.Name == "" {
		d.record.Successor = nil
	}
	return false, d.Keep(ctx, d.record)
}

// replace makes the next step of a replacement.
func (d *droplet) replace(ctx context.Context) error {
	switch d.next.Step {
	case kinds.Rebuild:
		return d.rebuild(ctx)
	case kinds.Delete:
		d.Emit("Normal", "Replacing", fmt.Sprintf("Droplet %d is deleted, to be recreated: %s", d.have.ID, difference(d.outcome)))
		return d.destroy(ctx, strconv.Itoa(d.have.ID))
	case kinds.CreateSuccessor:
		return d.createSuccessor(ctx)
	case kinds.Promote:
		return d.promote(ctx)
	case kinds.DropSuccessor:
		d.Emit("Normal", "Replacing", fmt.Sprintf("Droplet %s is deleted, since it is not needed any more", d.record.Successor.Name))
		return d.destroy(ctx, d.record.Successor.Name)
	}
	return nil
}

// rebuild gives the Droplet another image.
func (d *droplet) rebuild(ctx context.Context) error {
	image := *d.want.Image
	d.Emit("Normal", "Replacing", fmt.Sprintf("Droplet %d is rebuilt from image %s", d.have.ID, image))
	d.account.touched(d.have.ID)
	var err error
	if id, numeric := strconv.Atoi(image); numeric == nil {
		_, _, err = d.do.DropletActions.RebuildByImageID(ctx, d.have.ID, id)
	} else {
		_, _, err = d.do.DropletActions.RebuildByImageSlug(ctx, d.have.ID, image)
	}
	if err != nil {
		return failure(fmt.Sprintf("rebuilding Droplet %d", d.have.ID), err)
	}
	d.record.Created.Image = image
	return d.Keep(ctx, d.record)
}

// createSuccessor creates the next Droplet, which is recorded before.
func (d *droplet) createSuccessor(ctx context.Context) error {
	began := d.clock.Now()
	s := &successor{Attempt: int(began.Unix()), Began: began, Created: kinds.RecordDroplet(d.create)}
	d.record.Successor = s
	if err := d.Keep(ctx, d.record); err != nil {
		return err
	}
	d.Emit("Normal", "Replacing", fmt.Sprintf("the successor of Droplet %d is created: %s", d.have.ID, difference(d.outcome)))
	made, err := d.post(ctx, s.Attempt)
	var ambiguous *managed.AmbiguousError
	switch {
	case errors.As(err, &ambiguous) || ctx.Err() != nil:
		// It is searched for in the next pass.
		return err
	case err != nil:
		d.record.Successor = nil
		return errors.Join(err, d.Keep(ctx, d.record))
	}
	s.Name = strconv.Itoa(made.ID)
	return d.Keep(ctx, d.record)
}

// promote makes the successor the Droplet of the resource. Addresses that are reserved move to it before the other one goes.
func (d *droplet) promote(ctx context.Context) error {
	s := d.record.Successor
	previous := ""
	if d.have != nil && strconv.Itoa(d.have.ID) != s.Name {
		previous = strconv.Itoa(d.have.ID)
		if moves, err := d.moveAddresses(ctx, d.have.ID, s.Name); moves || err != nil {
			return err
		}
	}
	d.Emit("Normal", "Replacing", fmt.Sprintf("Droplet %s takes the place of Droplet %s", s.Name, previous))
	if d.isClassic() {
		d.record.ID, d.record.Previous = s.Name, previous
		return d.promoted(ctx)
	}
	// The number of the other one is stored before it is no longer the external name.
	d.record.Previous = previous
	if err := d.Keep(ctx, d.record); err != nil {
		return err
	}
	if err := d.Rename(ctx, s.Name); err != nil {
		return err
	}
	return d.promoted(ctx)
}

// promoted records that the successor is the Droplet of the resource.
func (d *droplet) promoted(ctx context.Context) error {
	d.record.Created, d.record.Successor = d.record.Successor.Created, nil
	return d.Keep(ctx, d.record)
}

// moveAddresses assigns the reserved IPs of one Droplet to another one; moves while that is in progress.
func (d *droplet) moveAddresses(ctx context.Context, from int, to string) (moves bool, err error) {
	next, err := kinds.ParseNumber(to)
	if err != nil {
		return false, err
	}
	all, err := pages(ctx, func(o *godo.ListOptions) ([]godo.ReservedIP, *godo.Response, error) {
		return d.do.ReservedIPs.List(ctx, o)
	})
	if err != nil {
		return false, failure("listing reserved IPs", err)
	}
	for _, one := range all {
		if one.Droplet == nil || one.Droplet.ID != from {
			continue
		}
		moves = true
		if one.Locked {
			continue
		}
		if _, _, err := d.do.ReservedIPActions.Assign(ctx, one.IP, next); err != nil {
			return true, failure("moving reserved IP "+one.IP, err)
		}
	}
	return moves, nil
}

// dropPrevious deletes the Droplet that was replaced, and forgets it once it is gone.
func (d *droplet) dropPrevious(ctx context.Context) error {
	id, err := kinds.ParseNumber(d.record.Previous)
	if err != nil {
		return managed.Invalid("status.record: %w", err)
	}
	one, err := d.account.droplet(ctx, d.do, id)
	if err != nil {
		return failure("observing Droplet "+d.record.Previous, err)
	}
	if one != nil {
		return d.destroy(ctx, d.record.Previous)
	}
	d.record.Previous = ""
	return d.Keep(ctx, d.record)
}
