package workflow

import (
	"context"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/runner"
)

// part is the dialect as it is served in one cluster.
type part struct{ *dialect.Host }

// Joins brings nothing to the runner: Workflows are no units of delivery.
func (*part) Joins() runner.Part { return runner.Part{} }

// Start begins to serve what there is.
func (*part) Start(context.Context) error { return nil }

// Nudge has nothing to fetch.
func (*part) Nudge(func(url string) bool) {}

// Wait waits until everything has ended.
func (*part) Wait() {}

var _ dialect.Part = (*part)(nil)
