package runner

import (
	"context"
	"errors"
	"testing"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/render"
)

// counting is a driver that is asked to prepare.
type counting struct {
	Driver
	asked int
	got   Preparation
}

func (c *counting) Prepare(_ context.Context, p Preparation) (Prepared, error) {
	c.asked, c.got = c.asked+1, p
	return Prepared{Inputs: Inputs{Digest: "new"}}, nil
}

// TestPrepare has a driver prepare a unit again when something may be different, and when it failed before.
func TestPrepare(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(j *job)
		asked  bool
		inputs bool
		before bool
	}{
		"Same":   {reason: "nothing changed", change: func(*job) {}},
		"Source": {reason: "the source has something else", change: func(j *job) { j.key.Revision = "r2" }, asked: true, inputs: true, before: true},
		"Tree":   {reason: "the source has other files", change: func(j *job) { j.key.Digest = "d2" }, asked: true, inputs: true, before: true},
		"Inputs": {reason: "what it reads beside the source changed", change: func(j *job) { j.cached = nil }, asked: true, before: true},
		"Declaration": {
			reason: "it is declared otherwise", change: func(j *job) { j.cached, j.key.Generation = nil, 2 }, asked: true,
		},
		"Volatile": {
			reason: "it would not give the same", asked: true, inputs: true, before: true,
			change: func(j *job) { j.previous.result = &render.Result{Digest: "old", Volatile: true} },
		},
		"Failed": {
			reason: "it failed at this revision, and what is known is of the one before", asked: true, inputs: true,
			change: func(j *job) { j.previous.err = errors.New("broken") },
		},
		"First": {reason: "nothing is known", change: func(j *job) { j.cached, j.previous = nil, nil }, asked: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			d := &counting{}
			key := engine.Key{Generation: 1, Revision: "r1", Digest: "d1"}
			j := job{driver: d, key: key, cached: &Inputs{Digest: "old"}}
			j.previous = &rendering{key: key, inputs: "old", result: &render.Result{Digest: "old"}}
			c.change(&j)
			got, err := j.prepare(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if asked := d.asked == 1; asked != c.asked || got.Same == asked {
				t.Errorf("%s: the driver was asked %d times, and gave %+v", c.reason, d.asked, got)
			}
			if !c.asked {
				return
			}
			if inputs, before := d.got.Inputs != nil, d.got.Before != nil; inputs != c.inputs || before != c.before {
				t.Errorf("%s: the driver has the inputs: %t, want %t; what was before: %t, want %t", c.reason, inputs, c.inputs, before, c.before)
			}
		})
	}
}
