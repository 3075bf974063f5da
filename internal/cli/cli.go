// Package cli is the command line: its root command, and the exit codes. The commands are in the rooms below it.
//
// A command parses its flags into options and runs on those. Data goes to standard output and
// everything else to standard error; nothing prompts. The exit code is 0 for yes, 1 when the answer
// is no (not ready, a difference), 2 for a failure or a wrong call, 130 when interrupted.
package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/internal/cli/boot"
	"github.com/headgate-dev/headgate/internal/cli/charts"
	"github.com/headgate-dev/headgate/internal/cli/clouds"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/cli/crds"
	"github.com/headgate-dev/headgate/internal/cli/flow"
	"github.com/headgate-dev/headgate/internal/cli/inspect"
	"github.com/headgate-dev/headgate/internal/cli/operate"
	"github.com/headgate-dev/headgate/internal/cli/secrets"
	"github.com/headgate-dev/headgate/internal/controlplane"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/dialects"
	"github.com/headgate-dev/headgate/internal/redaction"
	"github.com/headgate-dev/headgate/internal/sandbox"
)

// IO is where a command reads and writes.
type IO = console.IO

// Child makes this process one in which charts and Jsonnet are rendered, or one that keeps a step of a workflow, if it was started as one,
// and returns its exit code when it has served. A binary that calls it before anything else may say so by IO.Child.
func Child() (code int, is bool) {
	if code, is := dialects.Child(); is {
		return code, true
	}
	return sandbox.Serve(dialects.Jobs()...)
}

// Main runs one command with every dialect that there is, and returns its exit code.
func Main(ctx context.Context, args []string, streams console.IO) int {
	return MainWith(ctx, args, streams, dialects.All())
}

// MainWith is Main with the dialects of a catalogue.
func MainWith(ctx context.Context, args []string, streams console.IO, catalogue dialect.Catalogue) int {
	streams.Err = redaction.NewWriter(streams.Err)
	root := NewCommand(streams, catalogue)
	args = accustomed(args)
	root.SetArgs(args)
	cmd, err := root, strayed(root, args)
	if err == nil {
		cmd, err = root.ExecuteContextC(ctx)
	}
	return console.Exit(ctx, streams, err, nextCommand(cmd, err))
}

// nextCommand is what to try after an error that does not say so itself; nothing after one of a command that was called as it should be.
func nextCommand(cmd *cobra.Command, err error) string {
	switch {
	case errors.Is(err, controlplane.ErrLocked):
		return "headgate cluster status"
	case err == nil:
		return ""
	case cmd == nil || !cmd.HasParent():
		return "headgate help"
	case strings.HasPrefix(err.Error(), "if any flags in the group"):
		return cmd.CommandPath() + " --help"
	default:
		return ""
	}
}

// NewCommand returns the root command.
func NewCommand(streams console.IO, catalogue dialect.Catalogue) *cobra.Command {
	root := &cobra.Command{
		Use:   "headgate",
		Short: "Turn Git repositories into running clusters",
		// The flag --version says what the command version does.
		Version: versionText(),
		Long: `Headgate applies a Git repository of Flux Kustomizations or Argo CD Applications and waits until it is
healthy, on an embedded Kubernetes control plane or on any cluster.

  headgate up [PATH]    boot a repository on a control plane inside this process
  headgate get          list sources and units, and whether they are ready
  headgate why NAME     show what something waits for, down to the cause

A line of output starts with ✓ for what is ready, ✗ for what failed, ◌ for what waits, and · for what is worth knowing.`,
		SilenceUsage: true, SilenceErrors: true,
		CompletionOptions: cobra.CompletionOptions{DisableDescriptions: false},
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	g := &console.Globals{IO: streams, Catalogue: catalogue}
	g.Bind(root)
	for _, add := range []func(*console.Globals) *cobra.Command{
		boot.NewUp, inspect.NewGet, operate.NewSync, operate.NewSuspend, operate.NewResume, operate.NewHistory, operate.NewRollback, operate.NewTerminate, operate.NewPromote, inspect.NewTree, inspect.NewWhy, inspect.NewEvents, boot.NewLogs,
		inspect.NewDiff, inspect.NewRender, inspect.NewLint, inspect.NewValidate, inspect.NewHealth, inspect.NewGraph, flow.NewWorkflow, clouds.New, charts.NewInit, charts.NewSynth, crds.NewImport, secrets.NewSecret, boot.NewCluster, boot.NewInstall, boot.NewUninstall, boot.NewBootstrap, boot.NewMigrate, boot.NewCheck, boot.NewController, newVersion, newDocs,
	} {
		root.AddCommand(add(g))
	}
	group(root)
	wrap(root, streams.Out)
	g.CompleteFlags(root)
	explainUsage(root)
	root.SetHelpCommand(newHelp())
	return root
}
