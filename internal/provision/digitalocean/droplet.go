package digitalocean

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/digitalocean/godo"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	types "github.com/headgate-dev/headgate/api/crossplane/digitalocean"
	"github.com/headgate-dev/headgate/internal/provision/digitalocean/kinds"
	"github.com/headgate-dev/headgate/internal/provision/managed"
)

// droplet is a Droplet for the length of a pass.
type droplet struct {
	session
	// want is what is compared, create what is created: it has what is only declared for that as well.
	want, create types.DropletParameters
	power        kinds.PowerPolicy
	record       dropletRecord

	// absent says that a Secret names an image that does not exist.
	absent string
	// What Observe found: the Droplet, how it compares, and the next step of a replacement.
	have    *godo.Droplet
	outcome kinds.Outcome
	next    kinds.Replacement
}

// dropletRecord is what is remembered of a Droplet, in status.record.
type dropletRecord struct {
	// ID is the number of a Droplet of the classic provider, whose external name is its name.
	ID string `json:"id,omitempty"`
	// Created is what it was created with.
	Created kinds.DropletRecord `json:"created"`
	// Named is a name of an image in a Secret, and Image the number that it was resolved to.
	Named string `json:"named,omitempty"`
	Image string `json:"image,omitempty"`
	// Restart says that it was powered off to be resized; ShutDown is when it was asked to shut down, to be deleted.
	Restart  bool      `json:"restart,omitempty"`
	ShutDown time.Time `json:"shutDown,omitzero"`
	succession
}

// poll is how soon something is observed again that is in progress.
const poll = 3 * time.Second

func newDroplet(s session) (*droplet, error) {
	d := &droplet{session: s}
	var err error
	if d.isClassic() {
		var declared types.ClassicDropletParameters
		err = s.decode(&declared, "spec", "forProvider")
		d.want = kinds.FromClassic(declared, s.ExternalName())
		d.create = d.want
	} else {
		err = s.declared(&d.want, &d.create)
	}
	if err != nil {
		return nil, err
	}
	if field := d.unserved(); field != "" && !d.deleting() {
		return nil, managed.Invalid("spec.forProvider.%s is not supported: Tags and VPCs are not served; use tags and vpcUuid", field)
	}
	if d.create.Name == nil {
		name := s.Object.GetName()
		d.create.Name = &name
	}
	power, _, _ := unstructured.NestedString(s.Object.Object, "spec", "powerPolicy")
	d.power = kinds.PowerPolicy(power)
	return d, s.Record(&d.record)
}

func (d *droplet) isClassic() bool { return strings.HasSuffix(d.Kind.Group, "."+classic) }

// unserved is a field that refers to a kind that is not served.
func (d *droplet) unserved() string {
	switch w := d.create; {
	case len(w.TagsRefs) > 0:
		return "tagsRefs"
	case w.TagsSelector != nil:
		return "tagsSelector"
	case w.VPCUUIDRef != nil:
		return "vpcUuidRef"
	case w.VPCUUIDSelector != nil:
		return "vpcUuidSelector"
	}
	return ""
}

// number is that of the Droplet, 0 when there is none yet.
func (d *droplet) number() (int, error) {
	if !d.isClassic() {
		return kinds.ParseNumber(d.ExternalName())
	}
	if d.record.ID != "" {
		return kinds.ParseNumber(d.record.ID)
	}
	// A person may have named an existing one by its number.
	if id, err := kinds.ParseNumber(d.ExternalName()); err == nil {
		return id, nil
	}
	return 0, nil
}

// Observe finds the Droplet, compares it, and decides on the next step.
func (d *droplet) Observe(ctx context.Context) (managed.Observation, error) {
	id, err := d.number()
	if err != nil {
		return managed.Observation{}, managed.Invalid("%w", err)
	}
	if id != 0 {
		if d.have, err = d.account.droplet(ctx, d.do, id); err != nil {
			return managed.Observation{}, failure("observing Droplet "+strconv.Itoa(id), err)
		}
	}
	if d.deleting() {
		return d.leaving(ctx)
	}
	if err := d.finishPromotion(ctx); err != nil {
		return managed.Observation{}, err
	}
	actions, err := managed.ActionsOf(d.Kind, d.Object)
	if err != nil || d.have == nil && !actions.Create {
		// What is only observed needs no image: it does not exist, which is what there is to say.
		return managed.Observation{}, err
	}
	built, err := d.resolve(ctx)
	if err != nil {
		return managed.Observation{}, err
	}
	policy, err := kinds.ParsePolicy(d.policy(), built)
	if err != nil {
		return managed.Observation{}, managed.Invalid("spec.replacementPolicy: %w", err)
	}
	if err := d.compare(ctx, policy); err != nil {
		return managed.Observation{}, err
	}
	if d.have == nil && d.next.Step == kinds.Keep {
		return managed.Observation{}, d.creatable(ctx)
	}
	return d.observation(policy), nil
}

// creatable waits for an image from which a Droplet cannot be created yet.
func (d *droplet) creatable(ctx context.Context) error {
	why, err := d.unusable(ctx, d.create)
	if err != nil || why == "" {
		return err
	}
	return d.awaitImage(why)
}

// compare decides what is next. Actions are only requested when there is something to do: an action in progress would have it
// refused.
func (d *droplet) compare(ctx context.Context, policy kinds.Policy) error {
	facts := kinds.DropletFacts{Observed: d.have, Recorded: d.record.Created, Restart: d.record.Restart, Power: d.power}
	d.outcome = kinds.Droplet(d.want, facts)
	if d.have != nil && (!d.outcome.UpToDate() || d.outcome.Condition == kinds.Unavailable) {
		var err error
		if facts.Pending, err = d.pending(ctx, d.have.ID); err != nil {
			return err
		}
		d.outcome = kinds.Droplet(d.want, facts)
	}
	replace := kinds.ReplaceFacts{Policy: policy}
	var err error
	if replace.Successor, err = d.successorCondition(ctx); err != nil {
		return err
	}
	if d.have != nil && len(d.outcome.Replace) > 0 {
		if replace.Unusable, err = d.unusable(ctx, d.create); err != nil {
			return err
		}
		replace.Usable = replace.Unusable == ""
	}
	d.next = kinds.Replace(d.outcome, replace)
	return nil
}

// pending reports whether an action is in progress.
func (d *droplet) pending(ctx context.Context, id int) (bool, error) {
	actions, _, err := d.do.Droplets.Actions(ctx, id, &godo.ListOptions{PerPage: perPage})
	if err != nil {
		return false, failure(fmt.Sprintf("observing the actions of Droplet %d", id), err)
	}
	for _, a := range actions {
		if a.Status == godo.ActionInProgress {
			return true, nil
		}
	}
	return false, nil
}

// observation is what Observe says of a Droplet that exists, or that another one is about to replace.
func (d *droplet) observation(policy kinds.Policy) managed.Observation {
	o := managed.Observation{Exists: true, Difference: difference(d.outcome), UpToDate: d.settled(), Ready: readiness(d.outcome)}
	if d.next.Reason != "" && d.outcome.Next == nil {
		o.Restricted = &managed.Cause{Reason: d.next.Reason, Message: d.next.Message}
	}
	forbidden := o.Restricted != nil && (policy == kinds.Never || policy == kinds.RebuildInPlace && !d.outcome.OnlyImage())
	if d.outcome.Wait || !o.UpToDate && !forbidden {
		o.Next = poll
	}
	if d.have != nil {
		o.Connection = connection(kinds.DropletConnection(d.have))
		o.AtProvider = d.atProvider()
	}
	return o
}

// settled reports whether nothing is left to do.
func (d *droplet) settled() bool {
	return d.next.Step == kinds.Keep && d.outcome.UpToDate() && d.record.Previous == "" && !d.record.Restart
}

func (d *droplet) atProvider() any {
	if d.isClassic() {
		return kinds.ObserveClassicDroplet(d.have)
	}
	return kinds.ObserveDroplet(d.have, d.record.Created)
}

// Find searches for what a creation made: by the tag of the resource, and by the number of the creation.
func (d *droplet) Find(ctx context.Context, i managed.Intent) (managed.Finding, error) {
	found, err := d.candidates(ctx, i.Attempt)
	if err != nil {
		return managed.Finding{}, err
	}
	f := findingOf(kinds.Recover(found, i.Began, d.clock.Now()), i)
	if f.Name == "" || !d.isClassic() {
		return f, nil
	}
	d.record.ID, f.Name = f.Name, d.ExternalName()
	return f, d.Keep(ctx, d.record)
}
