package digitalocean

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/digitalocean/godo"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apitypes "k8s.io/apimachinery/pkg/types"

	types "github.com/headgate-dev/headgate/api/crossplane/digitalocean"
	"github.com/headgate-dev/headgate/internal/provision/digitalocean/api"
	"github.com/headgate-dev/headgate/internal/provision/digitalocean/kinds"
	"github.com/headgate-dev/headgate/internal/provision/managed"
)

// address is a reserved IP for the length of a pass.
type address struct {
	simple
	want, create types.IPParameters
	record       addressRecord
	have         *godo.ReservedIP
}

// addressRecord is what is remembered of a reserved IP: the addresses that the account had before it was requested. Addresses
// have no tags and no names.
type addressRecord struct {
	Before []string `json:"before"`
}

func newAddress(ctx context.Context, s session) (*address, error) {
	a := &address{simple: simple{session: s}}
	if err := a.declared(&a.want, &a.create); err != nil {
		return nil, err
	}
	if err := a.follow(ctx); err != nil {
		return nil, err
	}
	return a, s.Record(&a.record)
}

// follow reads the number of a Droplet that is referred to, whatever was stored of it: one that is replaced has another number.
func (a *address) follow(ctx context.Context) error {
	ref := a.want.DropletIDRef
	if ref == nil || a.deleting() {
		return nil
	}
	gvk := schema.GroupVersionKind{Group: strings.Replace(a.Kind.Group, "networking.", "droplet.", 1), Version: a.Kind.Version, Kind: dropletKind}
	o, err := a.Read(ctx, gvk, apitypes.NamespacedName{Namespace: ref.Namespace, Name: ref.Name})
	if err != nil || o == nil {
		return err
	}
	id, err := kinds.ParseNumber(o.GetAnnotations()[managed.AnnotationExternalName])
	if err != nil || id == 0 {
		return err
	}
	number := float64(id)
	a.want.DropletID = &number
	return nil
}

// Observe compares the address.
func (a *address) Observe(ctx context.Context) (managed.Observation, error) {
	name, err := kinds.ParseAddress(a.ExternalName())
	if err != nil {
		return managed.Observation{}, managed.Invalid("%w", err)
	}
	if name != "" {
		a.have, _, err = a.do.ReservedIPs.Get(ctx, name)
		if api.NotFound(err) {
			a.have, err = nil, nil
		}
		if err != nil {
			return managed.Observation{}, failure("observing reserved IP "+name, err)
		}
	}
	facts := kinds.IPFacts{Observed: a.have}
	outcome := kinds.IP(a.want, facts)
	if outcome.Next != nil && outcome.Next.Verb == kinds.Assign {
		if facts.DropletPending, err = a.pending(ctx, outcome.Next.Droplet); err != nil {
			return managed.Observation{}, err
		}
		outcome = kinds.IP(a.want, facts)
	}
	o, err := a.decide(outcome)
	if err != nil || !o.Exists {
		return o, err
	}
	o.AtProvider, o.Connection = kinds.ObserveIP(a.have), connection(kinds.IPConnection(a.have))
	return o, nil
}

// pending reports whether the Droplet that it is to be assigned to cannot take it now: it is being created, or an action is in
// progress.
func (a *address) pending(ctx context.Context, id int) (bool, error) {
	d, err := a.account.droplet(ctx, a.do, id)
	if err != nil {
		return false, failure("observing Droplet "+strconv.Itoa(id), err)
	}
	if d == nil {
		return false, &managed.WaitingError{Cause: managed.Cause{
			Reason: managed.ReasonUnavailable, Message: fmt.Sprintf("Droplet %d does not exist, which the reserved IP is to be assigned to", id),
		}, Until: a.clock.Now().Add(2 * poll)}
	}
	return d.Status == "new", nil
}

// Find searches for an address whose reservation was not answered: one that was not there before.
func (a *address) Find(ctx context.Context, i managed.Intent) (managed.Finding, error) {
	if i.Attempt == 0 || a.record.Before == nil {
		return managed.Finding{}, nil
	}
	all, err := a.list(ctx)
	if err != nil {
		return managed.Finding{}, err
	}
	added := kinds.NewAddresses(a.record.Before, all, text(a.create.Region))
	if len(added) > 1 {
		return managed.Finding{}, managed.Invalid("the reservation of an IP was not answered, and %s were reserved since: set the annotation %s to one of them",
			strings.Join(added, ", "), managed.AnnotationExternalName)
	}
	var found []kinds.Candidate
	for _, one := range added {
		found = append(found, kinds.Candidate{Name: one, Attempt: i.Attempt})
	}
	return findingOf(kinds.Recover(found, i.Began, a.clock.Now()), i), nil
}

func (a *address) list(ctx context.Context) ([]godo.ReservedIP, error) {
	all, err := pages(ctx, func(o *godo.ListOptions) ([]godo.ReservedIP, *godo.Response, error) {
		return a.do.ReservedIPs.List(ctx, o)
	})
	return all, failure("listing reserved IPs", err)
}

// Create reserves an address. Those that there are before are recorded.
func (a *address) Create(ctx context.Context, _ managed.Intent) (managed.Result, error) {
	request, err := kinds.CreateIP(a.create)
	if err != nil {
		return managed.Result{}, managed.Invalid("%w", err)
	}
	all, err := a.list(ctx)
	if err != nil {
		return managed.Result{}, err
	}
	a.record.Before = []string{}
	for _, one := range all {
		a.record.Before = append(a.record.Before, one.IP)
	}
	if err := a.Keep(ctx, a.record); err != nil {
		return managed.Result{}, err
	}
	made, _, err := a.do.ReservedIPs.Create(ctx, request)
	if err != nil {
		return managed.Result{}, failure("reserving an IP", err)
	}
	return managed.Result{ExternalName: made.IP, Next: poll}, nil
}

// Update makes the next step.
func (a *address) Update(ctx context.Context) (managed.Result, error) { return a.update(ctx, a) }

// Delete releases the address.
func (a *address) Delete(ctx context.Context) (managed.Result, error) {
	return managed.Result{Next: poll}, a.destroy(ctx)
}

func (a *address) destroy(ctx context.Context) error {
	if _, err := a.do.ReservedIPs.Delete(ctx, a.have.IP); err != nil && !api.NotFound(err) {
		return failure("releasing reserved IP "+a.have.IP, err)
	}
	return nil
}

func (a *address) call(ctx context.Context, c kinds.Call) error {
	var err error
	if c.Verb == kinds.Unassign {
		_, _, err = a.do.ReservedIPActions.Unassign(ctx, a.have.IP)
		return err
	}
	_, _, err = a.do.ReservedIPActions.Assign(ctx, a.have.IP, c.Droplet)
	return err
}
