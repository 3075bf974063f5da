package cloud

import (
	"net/http"
	"slices"
	"strconv"
	"time"
)

// The states of an action.
const (
	inProgress = "in-progress"
	completed  = "completed"
	errored    = "errored"
)

// subject is what an action acts on.
type subject struct{ of, id, region string }

// begin starts an action. There is one at a time on everything.
func (x *exchange) begin(on subject, r request, takes time.Duration) (*Action, error) {
	if x.state.pending(on.of, on.id) != nil {
		return nil, pendingEvent(on.of)
	}
	_, fails := x.faults.of(Fail)
	a := &Action{
		ID: x.state.number(), Status: inProgress, Type: r.Type, Started: x.now, Of: on.of, Resource: on.id, Region: on.region,
		Due: x.now.Add(takes), Fails: fails, Request: r,
	}
	x.state.act(a)
	x.done = true
	return a, nil
}

func pendingEvent(of string) error {
	name := map[string]string{"droplet": "Droplet", "image": "Image", "reserved_ip": "The floating IP"}[of]
	return unprocessable("%s already has a pending event.", name)
}

func (x *exchange) showAction(a *Action) any {
	shown := object{
		"id": a.ID, "status": a.Status, "type": a.Type, "started_at": stamp(a.Started), "completed_at": stamp(a.Completed),
		"resource_id": number(a.Resource), "resource_type": a.Of, "region": nil, "region_slug": a.Region,
	}
	if r, known := regionBy(a.Region); known {
		shown["region"] = r
	}
	return shown
}

// actionLink names an action in the answer to what started it.
func (x *exchange) actionLink(a *Action, rel string) object {
	return object{"id": a.ID, "rel": rel, "href": x.link("/v2/actions/" + decimal(a.ID))}
}

func (x *exchange) listActions() (int, any, error) {
	newest := slices.Clone(x.state.Actions)
	slices.Reverse(newest)
	return page(x, "actions", newest, x.showAction)
}

func (x *exchange) getAction() (int, any, error) {
	id, _ := strconv.Atoi(x.r.PathValue("act"))
	a := found(x.state.Actions, func(a *Action) bool { return a.ID == id })
	if a == nil {
		return 0, nil, notFound()
	}
	return http.StatusOK, object{"action": x.showAction(a)}, nil
}

// actionsOf lists the actions on something, newest first.
func (x *exchange) actionsOf(of, id string) (int, any, error) {
	some := slices.DeleteFunc(slices.Clone(x.state.Actions), func(a *Action) bool { return a.Of != of || a.Resource != id })
	slices.Reverse(some)
	return page(x, "actions", some, x.showAction)
}

// actionOf is one action on something.
func (x *exchange) actionOf(of, id string) (int, any, error) {
	a := found(x.state.Actions, func(a *Action) bool { return decimal(a.ID) == x.r.PathValue("act") })
	if a == nil || a.Of != of || a.Resource != id {
		return 0, nil, notFound()
	}
	return http.StatusOK, object{"action": x.showAction(a)}, nil
}

func (x *exchange) listImageActions() (int, any, error) {
	i, err := x.theImage()
	if err != nil {
		return 0, nil, err
	}
	return x.actionsOf("image", decimal(i.ID))
}

func (x *exchange) getImageAction() (int, any, error) {
	i, err := x.theImage()
	if err != nil {
		return 0, nil, err
	}
	return x.actionOf("image", decimal(i.ID))
}

// created records what a request created.
func (x *exchange) created(kind, id string) {
	x.done, x.made = true, append(x.made, kind+"/"+id)
}

// later is when what a request creates becomes visible.
func (x *exchange) later() time.Time {
	if f, is := x.faults.of(Late); is {
		return x.now.Add(f.For)
	}
	return time.Time{}
}

// without is a list without one of its elements.
func without[T comparable](all []T, one T) []T {
	return slices.DeleteFunc(slices.Clone(all), func(other T) bool { return other == one })
}
