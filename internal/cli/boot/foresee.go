package boot

import (
	"context"
	"io"
	"strings"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/guard"
)

// foresee names the waits in the working copy that can never end, and the feature gates that the repository counts on, as soon
// as it has found them: it takes its time beside the boot, which does not wait for it.
func (s *system) foresee(ctx context.Context) error {
	if !s.options.served() {
		return nil
	}
	o := console.OfflineOptions{Globals: s.options.Globals, Dir: s.options.path, Root: s.options.root, AgeKeyFile: s.options.ageKeyFile, Rules: s.options.serving.PolicyFlags, Sandbox: s.sandbox}
	o.Marks = true
	// What cannot be rendered here is left to the engine to tell.
	o.Globals = &console.Globals{IO: console.IO{In: o.IO.In, Out: io.Discard, Err: io.Discard, Child: o.IO.Child}, Catalogue: o.Catalogue}
	gates := s.options.gates
	guard.Guard{}.Go("the search for waits that never end", func() {
		if w, err := o.WalkFrom(ctx, console.Place{Layout: s.layout, Objects: s.objects}); err == nil {
			for _, f := range w.Findings(nil) {
				if f.Never && f.Lacks == (engine.ObjectID{}) && ctx.Err() == nil {
					s.say.Problem("never ends", strings.Join(f.Steps, "; "))
				}
			}
			w.Close()
		}
		if s.options.Real() {
			return
		}
		if text := gates.suggest(ctx, s.layout.Repository); text != "" && ctx.Err() == nil {
			s.say.Info("feature gates", text)
		}
	})
	return nil
}
