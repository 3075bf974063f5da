package cluster

import (
	"context"
	"fmt"
)

// Within waits for something to be read, such as the first lists of watches, but no longer than until ctx ends: what is
// read then continues without it. The error names what.
func Within(ctx context.Context, what string, read func() error) error {
	ready := make(chan error, 1)
	go func() { ready <- read() }()
	select {
	case err := <-ready:
		return err
	case <-ctx.Done():
		return fmt.Errorf("watching %s: %w", what, context.Cause(ctx))
	}
}
