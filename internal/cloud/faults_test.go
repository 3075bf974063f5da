package cloud_test

import (
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/digitalocean/godo"

	"github.com/headgate-dev/headgate/internal/cloud"
)

// inject adds faults to a cloud.
func (a *account) inject(faults ...cloud.Fault) {
	a.Helper()
	if err := a.Inject(faults...); err != nil {
		a.Fatal(err)
	}
}

// droplets are the names of the Droplets.
func (a *account) droplets() int {
	a.Helper()
	return len(must[[]godo.Droplet](a.T)(a.do.Droplets.List(a.Context(), nil)))
}

func TestAnswersAreLost(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		kind   cloud.Kind
		status int
		made   int
	}{
		"Lost":    {"it is created, and the answer is of a gateway", cloud.LoseAnswer, 502, 1},
		"Dropped": {"it is created, and the connection ends", cloud.Drop, 0, 1},
		"Refused": {"nothing is created", cloud.Refuse, 502, 0},
	} {
		t.Run(name, func(t *testing.T) {
			a := start(t)
			a.inject(cloud.Fault{Kind: tc.kind, Method: "POST", Path: "/v2/droplets"})
			_, _, err := a.do.Droplets.Create(t.Context(), ubuntu("vm"))
			if err == nil || status(err) != tc.status || tc.status == 0 && !errors.Is(err, io.EOF) {
				t.Errorf("%s: the error is %v", tc.reason, err)
			}
			log := a.Audit().Select("POST", "/v2/droplets")
			if got := a.droplets(); got != tc.made || len(log) != 1 || len(log.Done()) != tc.made || len(log.Made()) != tc.made || log[0].Status != tc.status {
				t.Errorf("%s: %d Droplets, the audit log is %v", tc.reason, got, log)
			}
			if !slices.Equal(log[0].Faults, []cloud.Kind{tc.kind}) {
				t.Errorf("%s: the audit log has the faults %v", tc.reason, log[0].Faults)
			}
			must[*godo.Droplet](t)(a.do.Droplets.Create(t.Context(), ubuntu("vm")))
		})
	}
}

// TestRetriesOfTheLibrary shows what the faults are for: the client as it comes makes one Droplet too many, and says nothing.
func TestRetriesOfTheLibrary(t *testing.T) {
	a := start(t)
	a.inject(cloud.Fault{Kind: cloud.LoseAnswer, Method: "POST", Path: "/v2/droplets"})
	do := godo.NewFromToken(token)
	if err := godo.SetBaseURL(a.URL + "/")(do); err != nil {
		t.Fatal(err)
	}
	must[*godo.Droplet](t)(do.Droplets.Create(t.Context(), ubuntu("vm")))
	if got := a.droplets(); got != 2 {
		t.Errorf("%d Droplets from one call, which used to be two", got)
	}
}

func TestLateVisibility(t *testing.T) {
	a := start(t)
	a.inject(cloud.Fault{Kind: cloud.Late, Path: "/v2/droplets", For: 30 * time.Second}, cloud.Fault{Kind: cloud.LoseAnswer, Path: "/v2/droplets"})
	_, _, err := a.do.Droplets.Create(t.Context(), ubuntu("vm"))
	if status(err) != 502 {
		t.Errorf("the error is %v", err)
	}
	if got := a.droplets(); got != 0 {
		t.Errorf("%d Droplets are listed at once", got)
	}
	shown, err := a.Account()
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = a.do.Droplets.Get(t.Context(), shown.Droplets[0].ID)
	refused(t, err, 404, "The resource you requested could not be found.")
	a.clock.Advance(30 * time.Second)
	if got := a.droplets(); got != 1 {
		t.Errorf("%d Droplets are listed after the delay", got)
	}
}

func TestThrottle(t *testing.T) {
	a := start(t)
	a.inject(cloud.Fault{Kind: cloud.Throttle, Skip: 1, Times: 2, For: 7 * time.Second})
	var got []int
	for range 4 {
		_, answer, err := a.do.Account.Get(t.Context())
		got = append(got, status(err))
		if status(err) == 429 && answer.Header.Get("Retry-After") != "7" {
			t.Errorf("to be retried after %q", answer.Header.Get("Retry-After"))
		}
	}
	if want := []int{0, 429, 429, 0}; !slices.Equal(got, want) {
		t.Errorf("answered %v, want %v", got, want)
	}
}

func TestImportFaults(t *testing.T) {
	a := start(t)
	a.inject(
		cloud.Fault{Kind: cloud.SlowImport, Method: "POST", Path: "/v2/images", For: time.Hour},
		cloud.Fault{Kind: cloud.FailImport, Method: "POST", Path: "/v2/images", Skip: 1, Message: "We had a problem."},
	)
	if slow := a.imported("slow"); slow.Status != "pending" {
		t.Errorf("the slow one is %s", slow.Status)
	}
	if failed := a.imported("failed"); failed.Status != "deleted" || failed.ErrorMessage != "We had a problem." {
		t.Errorf("the failed one is %s: %s", failed.Status, failed.ErrorMessage)
	}
	a.clock.Advance(time.Hour)
	if all := must[[]godo.Image](t)(a.do.Images.ListUser(t.Context(), nil)); len(all) != 1 || all[0].Status != "available" {
		t.Errorf("after an hour there are %v", all)
	}
}

func TestFailedActions(t *testing.T) {
	a := start(t)
	d := a.running("vm")
	a.inject(
		cloud.Fault{Kind: cloud.Fail, Method: "POST", Path: "/v2/droplets/*/actions"},
		cloud.Fault{Kind: cloud.Fail, Method: "POST", Path: "/v2/droplets"},
	)
	action := must[*godo.Action](t)(a.do.DropletActions.PowerOff(t.Context(), d.ID))
	lost, answer, err := a.do.Droplets.Create(t.Context(), ubuntu("lost"))
	if err != nil {
		t.Fatal(err)
	}
	a.clock.Advance(time.Minute)
	if got := must[*godo.Action](t)(a.do.Actions.Get(t.Context(), action.ID)); got.Status != "errored" {
		t.Errorf("the action is %s", got.Status)
	}
	if got := must[*godo.Droplet](t)(a.do.Droplets.Get(t.Context(), d.ID)); got.Status != "active" {
		t.Errorf("the Droplet is %s after an action that failed", got.Status)
	}
	if got := must[*godo.Action](t)(a.do.Actions.Get(t.Context(), answer.Links.Actions[0].ID)); got.Status != "errored" {
		t.Errorf("the creation is %s", got.Status)
	}
	_, _, err = a.do.Droplets.Get(t.Context(), lost.ID)
	refused(t, err, 404, "The resource you requested could not be found.")
}

func TestFaultsAreChecked(t *testing.T) {
	a := start(t)
	for _, f := range []cloud.Fault{{Kind: "explode"}, {Kind: cloud.Drop, Path: "/v2/[a"}} {
		if err := a.Inject(cloud.Fault{Kind: cloud.Drop}, f); err == nil {
			t.Errorf("%v was accepted", f)
		}
	}
	a.inject(cloud.Fault{Kind: cloud.Refuse, Times: -1, Status: 500})
	for range 3 {
		if _, _, err := a.do.Account.Get(t.Context()); status(err) != 500 {
			t.Errorf("answered %v", err)
		}
	}
	if err := a.ClearFaults(); err != nil {
		t.Fatal(err)
	}
	must[*godo.Account](t)(a.do.Account.Get(t.Context()))
}
