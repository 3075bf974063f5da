package boot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/cli/causes"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/progress"
	"github.com/headgate-dev/headgate/internal/runner"
)

// followUnits prints where the units of a cluster stand that another process serves, as they say themselves, until
// all are ready or ctx ends.
func followUnits(ctx context.Context, g *console.Globals, config *rest.Config, say *progress.Printer) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	tick := time.NewTicker(look)
	defer tick.Stop()
	defer say.Clear()
	seen := map[engine.UnitID]runner.State{}
	var states []runner.State
	for {
		now, err := causes.States(ctx, g, client)
		switch {
		case err != nil && ctx.Err() == nil && !apierrors.IsServiceUnavailable(err):
			return err
		case err == nil:
			states = now
		}
		tellChanges(states, seen, say)
		say.Live(states)
		if v := judge(states); rooted(g, states) && v.ready && v.rest {
			say.Clear()
			return nil
		}
		select {
		case <-ctx.Done():
			say.Clear()
			for _, line := range causes.Lines(states) {
				say.Plain("             " + line)
			}
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return console.Hint(errors.New("timed out before everything was ready"), "headgate check")
			}
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// rooted reports whether the root is among the units.
func rooted(g *console.Globals, states []runner.State) bool {
	root := console.Reference{Served: console.ServedOf(g.Catalogue.Default()), Namespace: console.DefaultNamespace, Name: console.DefaultNamespace}.ID()
	return slices.ContainsFunc(states, func(s runner.State) bool { return s.Unit == root })
}

// tellChanges prints a line for each unit that stands elsewhere than before.
func tellChanges(states []runner.State, seen map[engine.UnitID]runner.State, say *progress.Printer) {
	for _, s := range states {
		before, known := seen[s.Unit]
		seen[s.Unit] = s
		if known && before.Phase == s.Phase && before.Message == s.Message || !known && s.Reason == "" {
			continue
		}
		text := s.Message
		if s.Ready {
			text = "ready: " + s.Message
		}
		say.Note(runner.Note{Time: time.Now(), Unit: s.Unit, Phase: s.Phase, Text: text, Failed: s.Phase == engine.PhaseFailed, Ready: s.Phase == engine.PhaseReady && s.Ready})
	}
}
