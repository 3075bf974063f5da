package runner

import (
	"errors"
	"testing"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/engine"
)

// TestNewlyHeld has a driver called again that waits for objects which it has just come to hold: what changed in them before is
// heard by no unit.
func TestNewlyHeld(t *testing.T) {
	entry := engine.Entry{ID: engine.ObjectID{Group: "batch", Kind: "Job", Namespace: "apps", Name: "hook"}, Version: "v1"}
	waits := []engine.Wait{{Reason: "waiting for its end"}}
	cases := map[string]struct {
		reason string
		held   []engine.Entry
		acted  Acted
		again  bool
	}{
		"new":     {"it may have ended before it was known whose it is", nil, Acted{Entries: []engine.Entry{entry}, Waiting: waits}, true},
		"known":   {"its changes are heard", []engine.Entry{entry}, Acted{Entries: []engine.Entry{entry}, Waiting: waits}, false},
		"no wait": {"nothing is waited for", nil, Acted{Entries: []engine.Entry{entry}}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := New(Config{})
			u := &unit{pass: &engine.Pass{}}
			r.setInventory(u, c.held)
			r.replaceHeld(u, u.pass, &c.acted)
			if u.stirred != c.again {
				t.Errorf("%s: called again is %t, want %t", c.reason, u.stirred, c.again)
			}
		})
	}
}

// TestFailureOf has a failure say what else is in the way: who fixes one object is not to find the next only then.
func TestFailureOf(t *testing.T) {
	id := func(kind, name string) engine.ObjectID {
		return engine.ObjectID{Kind: kind, Namespace: "shop", Name: name}
	}
	failed := apply.Result{Entry: engine.Entry{ID: id("Service", "s")}, Err: errors.New("Service/shop/s: refused as invalid: spec.ports: Required value")}
	unserved := apply.Result{Entry: engine.Entry{ID: id("Servce", "t")}, Wait: &apply.Need{
		Wait: engine.Wait{On: id("Servce", "t"), Reason: "its kind is not served"}, What: apply.KindServed,
	}}
	applied := apply.Result{Entry: engine.Entry{ID: id("ConfigMap", "c")}, Action: engine.Create}
	for name, c := range map[string]struct {
		reason  string
		results []apply.Result
		want    string
	}{
		"none":  {"what waits has not failed", []apply.Result{applied, unserved}, ""},
		"one":   {"a failure names its object", []apply.Result{applied, failed}, "1 of 2 objects failed: Service/shop/s: refused as invalid: spec.ports: Required value"},
		"alone": {"an object that is alone is not counted", []apply.Result{failed}, "Service/shop/s: refused as invalid: spec.ports: Required value"},
		"waits": {"and what waits beside it", []apply.Result{failed, unserved, applied}, "1 of 3 objects failed: Service/shop/s: refused as invalid: spec.ports: Required value; 1 more cannot be applied: Servce/shop/t: its kind is not served"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if f := failureOf(c.results); f != nil {
				got = f.Message
			}
			if got != c.want {
				t.Errorf("%s:\ngot  %q\nwant %q", c.reason, got, c.want)
			}
		})
	}
}
