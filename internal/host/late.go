package host

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/dialect"
)

// late is what an engine brings about while units move already: definitions, and behind them the parts that serve their kinds.
type late struct {
	needs

	parts []dialect.Part
	// ended is closed when all of it is there, or is not to be, which err tells.
	ended chan struct{}
	err   error
}

// errLate is what a panic leaves behind.
var errLate = errors.New("installing definitions in the background ended early; see the log")

// run brings everything about, and ends.
func (l *late) run(ctx context.Context, config *rest.Config, kinds *cluster.Kinds) {
	defer close(l.ended)
	l.err = errLate
	l.err = l.bring(ctx, config, kinds)
}

func (l *late) bring(ctx context.Context, config *rest.Config, kinds *cluster.Kinds) error {
	if err := l.put(ctx, config); err != nil {
		return err
	}
	l.needs = needs{}
	known, cancel := context.WithTimeoutCause(ctx, syncTimeout, fmt.Errorf("timed out after %s", syncTimeout))
	defer cancel()
	if err := kinds.AwaitAll(known); err != nil {
		return fmt.Errorf("waiting for the kinds of definitions: %w", err)
	}
	// In their order: what one serves may be what another one needs.
	for _, p := range l.parts {
		if err := p.Start(ctx); err != nil {
			return err
		}
	}
	return nil
}

// over reports whether nothing is left to do.
func (l *late) over() bool {
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}
