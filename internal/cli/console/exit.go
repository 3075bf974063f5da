package console

import (
	"context"
	"errors"
	"fmt"

	"github.com/headgate-dev/headgate/internal/dialect"
)

// Exit codes.
const (
	exitYes         = 0
	exitNo          = 1
	exitFailure     = 2
	exitInterrupted = 130
)

// Exit prints the error with which a command ended, and what to try next, which is given for errors that do not say so. It returns
// the exit code.
func Exit(ctx context.Context, streams IO, err error, next string) int {
	switch {
	case err == nil:
		return exitYes
	case errors.Is(err, ErrNo):
		return exitNo
	case ctx.Err() != nil:
		return exitInterrupted
	}
	fmt.Fprintln(streams.Err, "headgate: "+err.Error())
	if hint := (*dialect.HintError)(nil); errors.As(err, &hint) {
		next = hint.Next
	}
	if next != "" {
		fmt.Fprintln(streams.Err, "  try: "+next)
	}
	return exitFailure
}
