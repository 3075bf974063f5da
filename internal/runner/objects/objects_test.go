package objects

import (
	"testing"

	"github.com/headgate-dev/headgate/internal/render"
	"github.com/headgate-dev/headgate/internal/runner"
)

// TestRepeats has a unit without a source made again when something may be different.
func TestRepeats(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(p *runner.Preparation)
		want   bool
	}{
		"Same":   {"nothing is different", func(*runner.Preparation) {}, true},
		"First":  {"there is nothing before", func(p *runner.Preparation) { p.Before = nil }, false},
		"Fresh":  {"a user requested it", func(p *runner.Preparation) { p.Fresh = true }, false},
		"Inputs": {"it is given otherwise", func(p *runner.Preparation) { p.Before.Digest = "b" }, false},
		"Elsewhere": {"what it read elsewhere cannot be read", func(p *runner.Preparation) {
			p.Before.Result.Elsewhere = map[render.Remote]*render.Fetched{{URL: "https://example.com/a.yaml"}: {}}
		}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			given := runner.Inputs{Digest: "a"}
			p := runner.Preparation{Inputs: &given, Before: &runner.Prepared{Inputs: given, Result: &render.Result{Digest: "a"}}}
			c.change(&p)
			got, err := New(nil, nil).Prepare(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			if got.Same != c.want || got.Result == nil || got.Same && got.Result != p.Before.Result {
				t.Errorf("%s: got %+v", c.reason, got)
			}
		})
	}
}
