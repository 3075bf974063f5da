package kinds_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/digitalocean/godo"
	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/api/crossplane/digitalocean"
	"github.com/headgate-dev/headgate/internal/cloud"
	"github.com/headgate-dev/headgate/internal/provision/digitalocean/api"
	"github.com/headgate-dev/headgate/internal/provision/digitalocean/kinds"
)

// account is a simulated cloud with a clock that the test holds.
type account struct {
	*testing.T
	*cloud.Server
	clock *cloud.Manual
	do    *godo.Client
}

func begin(t *testing.T) *account {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	clock := cloud.At(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	s, err := cloud.Start(ctx, cloud.Options{Token: "the-token", Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	c, err := api.ParseCredentials([]byte(`{"token":"the-token","api_endpoint":"`+s.URL+`"}`), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return &account{T: t, Server: s, clock: clock, do: api.NewAccounts(api.Options{}).Of(c).Client("Droplet")}
}

// ok fails the test on an error.
func (a *account) ok(err error) {
	a.Helper()
	if err != nil {
		a.Fatal(err)
	}
}

// facts are what the cloud says of a Droplet.
func (a *account) facts(id int, f *kinds.DropletFacts) {
	a.Helper()
	d, _, err := a.do.Droplets.Get(a.Context(), id)
	a.ok(err)
	actions, _, err := a.do.Droplets.Actions(a.Context(), id, nil)
	a.ok(err)
	f.Observed, f.Pending = d, actions[0].Status == godo.ActionInProgress
}

// carryOut sends the request of a call.
func (a *account) carryOut(id int, c kinds.Call) error {
	act, resource := a.do.DropletActions, []godo.Resource{{ID: strconv.Itoa(id), Type: godo.DropletResourceType}}
	var err error
	switch c.Verb {
	case kinds.PowerOff:
		_, _, err = act.PowerOff(a.Context(), id)
	case kinds.PowerOn:
		_, _, err = act.PowerOn(a.Context(), id)
	case kinds.Resize:
		_, _, err = act.Resize(a.Context(), id, c.To, c.Disk)
	case kinds.Rename:
		_, _, err = act.Rename(a.Context(), id, c.To)
	case kinds.EnableBackups:
		_, _, err = act.EnableBackups(a.Context(), id)
	case kinds.EnableIPv6:
		_, _, err = act.EnableIPv6(a.Context(), id)
	case kinds.Tag:
		if _, _, err = a.do.Tags.Create(a.Context(), &godo.TagCreateRequest{Name: c.To}); err == nil {
			_, err = a.do.Tags.TagResources(a.Context(), c.To, &godo.TagResourcesRequest{Resources: resource})
		}
	case kinds.Untag:
		_, err = a.do.Tags.UntagResources(a.Context(), c.To, &godo.UntagResourcesRequest{Resources: resource})
	default:
		err = fmt.Errorf("no request for %s", c.Verb)
	}
	return err
}

// TestChangesOneByOne changes all of a Droplet that can be changed, by what the cloud really accepts.
func TestChangesOneByOne(t *testing.T) {
	a := begin(t)
	want := digitalocean.DropletParameters{
		Name: ptr("vm"), Region: ptr("fra1"), Size: ptr("s-1vcpu-1gb"), Image: ptr("debian-12-x64"), Tags: []string{"old", "kept"},
	}
	r, err := kinds.CreateDroplet(want, kinds.OwnTags("uid", 1))
	a.ok(err)
	d, _, err := a.do.Droplets.Create(t.Context(), r)
	a.ok(err)
	facts := kinds.DropletFacts{Recorded: kinds.RecordDroplet(want)}
	want.Name, want.Size, want.Tags = ptr("renamed"), ptr("s-1vcpu-2gb"), []string{"kept", "new"}
	want.Backups, want.IPv6 = ptr(true), ptr(true)
	var done []kinds.Verb
	for range 40 {
		a.facts(d.ID, &facts)
		out := kinds.Droplet(want, facts)
		if out.UpToDate() && !out.Wait {
			break
		}
		if out.Next == nil {
			a.clock.Advance(time.Second)
			continue
		}
		facts.Restart = facts.Restart && out.Next.Verb != kinds.PowerOn || out.Next.Verb == kinds.PowerOff
		a.ok(a.carryOut(d.ID, *out.Next))
		done = append(done, out.Next.Verb)
	}
	expected := []kinds.Verb{kinds.PowerOff, kinds.Resize, kinds.PowerOn, kinds.Rename, kinds.EnableBackups, kinds.EnableIPv6, kinds.Tag, kinds.Untag}
	if diff := cmp.Diff(expected, done); diff != "" {
		t.Errorf("what was done (-want +got):\n%s", diff)
	}
	shown := kinds.ObserveDroplet(facts.Observed, facts.Recorded)
	if shown.Name != "renamed" || shown.Size != "s-1vcpu-2gb" || shown.Disk != 50 || !shown.Backups || !shown.IPv6 || shown.IPv6Address == "" || shown.Status != "active" || shown.Image != "163947279" {
		t.Errorf("it is %+v", shown)
	}
	if diff := cmp.Diff([]string{"kept", "headgate-managed", "headgate-uid:uid", "headgate-gen:1", "new"}, shown.Tags); diff != "" {
		t.Errorf("its tags (-want +got):\n%s", diff)
	}
}

// TestOneDropletPerIntent creates a Droplet although its creation is not answered.
func TestOneDropletPerIntent(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		faults []cloud.Fault
		posts  int
	}{
		"Answered":  {"nothing goes wrong", nil, 1},
		"Gateway":   {"it was made, and is visible at once", []cloud.Fault{{Kind: cloud.LoseAnswer}}, 1},
		"Dropped":   {"the connection ended", []cloud.Fault{{Kind: cloud.Drop}}, 1},
		"Late":      {"it was made, and is visible later", []cloud.Fault{{Kind: cloud.LoseAnswer}, {Kind: cloud.Late, For: 45 * time.Second}}, 1},
		"Nothing":   {"nothing was made", []cloud.Fault{{Kind: cloud.Refuse}}, 2},
		"Throttled": {"nothing was made, and that is certain", []cloud.Fault{{Kind: cloud.Throttle, For: time.Second}}, 2},
		"Placement": {"it was made, and vanished", []cloud.Fault{{Kind: cloud.LoseAnswer}, {Kind: cloud.Fail}}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			a := begin(t)
			for i := range tc.faults {
				tc.faults[i].Method, tc.faults[i].Path = "POST", "/v2/droplets"
			}
			a.ok(a.Inject(tc.faults...))
			began := a.clock.Now()
			id := a.createOnce("uid")
			log := a.Audit().Select("POST", "/v2/droplets")
			if len(log) != tc.posts {
				t.Errorf("%s: %d requests, want %d", tc.reason, len(log), tc.posts)
			}
			if len(log) > 1 && log[0].Status >= 500 && log[1].Time.Sub(began) < kinds.Patience {
				t.Errorf("%s: the second request came after %s", tc.reason, log[1].Time.Sub(began))
			}
			left, err := a.Account()
			a.ok(err)
			if len(left.Droplets) != 1 || strconv.Itoa(left.Droplets[0].ID) != id {
				t.Errorf("%s: %s is adopted of %d Droplets", tc.reason, id, len(left.Droplets))
			}
		})
	}
}

// createOnce is a creation as a reconciler makes it: it returns the Droplet that is there in the end.
func (a *account) createOnce(uid string) string {
	a.Helper()
	want := digitalocean.DropletParameters{Name: ptr("vm"), Region: ptr("fra1"), Size: ptr("s-1vcpu-1gb"), Image: ptr("debian-12-x64")}
	var began time.Time
	for attempt := range 30 {
		a.clock.Advance(5 * time.Second)
		if !began.IsZero() {
			r := kinds.Recover(a.candidates(uid), began, a.clock.Now())
			if r.Adopt != "" {
				return r.Adopt
			}
			if !r.Create() {
				continue
			}
		}
		request, err := kinds.CreateDroplet(want, kinds.OwnTags(uid, attempt))
		a.ok(err)
		began = a.clock.Now()
		d, _, err := a.do.Droplets.Create(a.Context(), request)
		switch _, throttled := api.Throttled(err); {
		case err == nil:
			return strconv.Itoa(d.ID)
		case throttled:
			began = time.Time{}
		case !api.Ambiguous(err):
			a.Fatal(err)
		}
	}
	a.Fatal("no Droplet was made")
	return ""
}

// candidates are the Droplets with the tag of a resource.
func (a *account) candidates(uid string) []kinds.Candidate {
	a.Helper()
	found, _, err := a.do.Droplets.ListByTag(a.Context(), kinds.OwnerTag(uid), nil)
	a.ok(err)
	var all []kinds.Candidate
	for _, d := range found {
		attempt, _ := kinds.Attempt(d.Tags, uid)
		created, err := time.Parse(time.RFC3339, d.Created)
		a.ok(err)
		all = append(all, kinds.Candidate{Name: strconv.Itoa(d.ID), Attempt: attempt, Created: created})
	}
	return all
}
