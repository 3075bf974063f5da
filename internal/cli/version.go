package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/internal/buildinfo"
	"github.com/headgate-dev/headgate/internal/cli/console"
)

func newVersion(g *console.Globals) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version and the commit of this build",
		Long:    "Print the version and the commit of this build, and its Go version.",
		Example: "  headgate version",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(g.IO.Out, versionText())
			return err
		},
	}
}

func versionText() string {
	return fmt.Sprintf("headgate %s (commit %s, %s)", buildinfo.Version(), buildinfo.Commit(), runtime.Version())
}
