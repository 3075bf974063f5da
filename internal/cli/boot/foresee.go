package boot

import (
	"context"
	"io"
	"strings"

	"github.com/headgate-dev/headgate/internal/cli/console"
)

// foreseen are the waits that can never end, and what else a repository says of its cluster.
type foreseen struct {
	never []string
	gates string
}

// foresee searches for waits in the working copy that can never end, beside what is started meanwhile.
func (s *system) foresee(ctx context.Context) error {
	if !s.options.served() {
		return nil
	}
	o := console.OfflineOptions{Globals: s.options.Globals, Dir: s.options.path, Root: s.options.root, AgeKeyFile: s.options.ageKeyFile, Rules: s.options.serving.PolicyFlags, Sandbox: s.sandbox}
	o.Marks = true
	// What cannot be rendered here is left to the engine to tell.
	o.Globals = &console.Globals{IO: console.IO{In: o.IO.In, Out: io.Discard, Err: io.Discard, Child: o.IO.Child}, Catalogue: o.Catalogue}
	s.foreseen = make(chan foreseen, 1)
	go func() {
		var lines []string
		if w, err := o.WalkFrom(ctx, console.Place{Layout: s.layout, Objects: s.objects}); err == nil {
			for _, f := range w.Findings(nil) {
				if f.Never {
					lines = append(lines, strings.Join(f.Steps, "; "))
				}
			}
			w.Close()
		}
		found := foreseen{never: lines}
		if !s.options.Real() {
			found.gates = s.options.gates.suggest(ctx, s.layout.Repository)
		}
		s.foreseen <- found
	}()
	return nil
}

// warn names the waits that can never end, before anything begins to wait, and the feature gates that the repository
// counts on.
func (s *system) warn(ctx context.Context) error {
	if s.foreseen == nil {
		return nil
	}
	select {
	case found := <-s.foreseen:
		for _, line := range found.never {
			s.say.Problem("never ends", line)
		}
		if found.gates != "" {
			s.say.Info("feature gates", found.gates)
		}
	case <-ctx.Done():
	}
	return nil
}
