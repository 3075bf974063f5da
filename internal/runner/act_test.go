package runner

import (
	"testing"

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
