package boot

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/installation"
)

// NewCheck is the command that checks an installation.
func NewCheck(g *console.Globals) *cobra.Command {
	i := &installing{}
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check the installation in a cluster; exit 1 if something needs attention",
		Long: `Check a cluster, in these steps:

  1. its version
  2. the definitions of the groups of --serve, by default those of the installation
  3. whether controllers of Flux or Argo CD also serve them
  4. the controller, and the holder of its lease
  5. each permission that the controller needs
  6. all objects that are not ready

An embedded cluster is served by its own process, and needs no controller: its version is checked, and the objects of all groups.
Each problem is printed with the next command.`,
		Example: "  headgate check --context prod",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := g.RestConfig()
			if err != nil {
				return err
			}
			if g.Real() && !cmd.Flags().Changed("serve") {
				served, err := installation.Served(cmd.Context(), config)
				if err != nil {
					return console.Unreachable(err)
				}
				if len(served) > 0 {
					i.serve = served
				}
			}
			o, err := i.options(g.Catalogue)
			if err != nil {
				return err
			}
			if o.Embedded = !g.Real(); o.Embedded && !cmd.Flags().Changed("serve") {
				// Its process serves whatever there is.
				o.Serve = g.Catalogue.All()
			}
			findings, err := installation.Check(cmd.Context(), config, o)
			bad := false
			for _, f := range findings {
				mark := "✓"
				if f.Bad {
					mark, bad = "✗", true
				}
				fmt.Fprintf(g.IO.Out, "%s %-12s %s\n", mark, f.Subject, engine.Plain(f.Text))
				if f.Next != "" {
					fmt.Fprintf(g.IO.Out, "  %-12s try: %s\n", "", f.Next)
				}
			}
			if err != nil {
				return console.Unreachable(err)
			}
			if bad {
				return console.ErrNo
			}
			return nil
		},
	}
	i.bind(cmd.Flags())
	return cmd
}
