// Package cli is the command line: one file for each verb, and what they share.
//
// A command parses its flags into options and runs on those. Data goes to standard output and
// everything else to standard error; nothing prompts. The exit code is 0 for yes, 1 when the answer
// is no (not ready, a difference), 2 for a failure or a wrong call, 130 when interrupted.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/internal/controlplane"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/dialects"
)

// IO is where a command reads and writes.
type IO struct {
	In       io.Reader
	Out, Err io.Writer
}

// Exit codes.
const (
	exitYes         = 0
	exitNo          = 1
	exitFailure     = 2
	exitInterrupted = 130
)

// errNo is returned when the answer is no and has been printed.
var errNo = errors.New("the answer is no")

// hint gives an error the next command to try.
func hint(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &dialect.HintError{Err: err, Next: fmt.Sprintf(format, args...)}
}

// Main runs one command with every dialect that there is, and returns its exit code.
func Main(ctx context.Context, args []string, streams IO) int {
	return MainWith(ctx, args, streams, dialects.All())
}

// MainWith is Main with the dialects of a catalogue.
func MainWith(ctx context.Context, args []string, streams IO, catalogue dialect.Catalogue) int {
	root := NewCommand(streams, catalogue)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitYes
	case errors.Is(err, errNo):
		return exitNo
	case ctx.Err() != nil:
		return exitInterrupted
	}
	fmt.Fprintln(streams.Err, "headgate: "+err.Error())
	if next := nextCommand(err); next != "" {
		fmt.Fprintln(streams.Err, "  try: "+next)
	}
	return exitFailure
}

// nextCommand is what to try after an error.
func nextCommand(err error) string {
	var h *dialect.HintError
	switch {
	case errors.As(err, &h):
		return h.Next
	case errors.Is(err, controlplane.ErrLocked):
		return "headgate cluster status"
	default:
		return "headgate help"
	}
}

// NewCommand returns the root command.
func NewCommand(streams IO, catalogue dialect.Catalogue) *cobra.Command {
	root := &cobra.Command{
		Use:   "headgate",
		Short: "Turn Git repositories into running clusters",
		Long: `Headgate applies a Git repository of Flux Kustomizations or Argo CD Applications and waits until it is
healthy, on an embedded Kubernetes control plane or on any cluster.

  headgate up PATH      boot a repository on a control plane inside this process
  headgate get          list sources and units, and whether they are ready
  headgate why NAME     show what something waits for, down to the cause`,
		SilenceUsage: true, SilenceErrors: true,
		CompletionOptions: cobra.CompletionOptions{DisableDescriptions: false},
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	g := &globals{io: streams, catalogue: catalogue}
	g.bind(root)
	for _, add := range []func(*globals) *cobra.Command{
		newUp, newGet, newSync, newSuspend, newResume, newHistory, newRollback, newTerminate, newTree, newWhy, newEvents, newLogs,
		newDiff, newRender, newHealth, newGraph, newSecret, newCluster, newInstall, newUninstall, newBootstrap, newMigrate, newCheck, newController, newVersion, newDocs,
	} {
		root.AddCommand(add(g))
	}
	return root
}
