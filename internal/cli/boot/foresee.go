package boot

import (
	"context"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/guard"
)

// foresee names the waits in the working copy that can never end, and the feature gates that the repository counts on, as soon
// as it has found them: it takes its time beside the boot, which does not wait for it.
func (s *system) foresee(ctx context.Context) error {
	for _, text := range s.options.harmless {
		s.say.Info("served", text)
	}
	if !s.options.served() {
		s.sayUnserved(ctx, s.packageObjects())
		return nil
	}
	o := console.OfflineOptions{Globals: s.options.Globals, Dir: s.options.path, Root: s.options.root, AgeKeyFile: s.options.ageKeyFile, Rules: s.options.serving.PolicyFlags, Sandbox: s.sandbox}
	o.Marks = true
	// What cannot be rendered here is left to the engine to tell.
	o.Globals = &console.Globals{IO: console.IO{In: o.IO.In, Out: io.Discard, Err: io.Discard, Child: o.IO.Child}, Catalogue: o.Catalogue}
	gates, place := s.options.gates, console.Place{Layout: s.layout, Objects: s.objects}
	guard.Guard{}.Go("the search for waits that never end", func() {
		if w, err := o.WalkFrom(ctx, place); err == nil {
			s.sayUnserved(ctx, slices.Concat(objectsOf(w.Units), place.Objects, s.packageObjects()))
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

// sayUnserved names the groups that a flag serves. With --exit-when-ready, that ends the command if nothing else brings their kinds.
func (s *system) sayUnserved(ctx context.Context, objects []*unstructured.Unstructured) {
	if s.options.Real() || ctx.Err() != nil {
		return
	}
	lines, lacking := s.options.unserved(objects)
	stubbed := s.options.simulation.want != nil && s.options.simulation.want.CRDs
	for _, line := range lines {
		if stubbed {
			s.say.Info("not served", line)
			continue
		}
		s.say.Problem("not served", line)
	}
	if lacking && !stubbed && s.options.exit {
		close(s.hopeless)
	}
}

// packageObjects are those in the files of packages: all of them are deployed.
func (s *system) packageObjects() []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	documentsIn(s.options.packages, []string{"apiVersion"}, func(o *unstructured.Unstructured) { all = append(all, o) })
	return all
}
