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
	var output string
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
			if err := console.CheckOutput(output, "json", "yaml"); err != nil {
				return err
			}
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
			bad, failed := printFindings(g.IO, output, findings)
			switch {
			case err != nil:
				return console.Unreachable(err)
			case failed != nil:
				return failed
			case bad:
				return console.ErrNo
			}
			return nil
		},
	}
	i.bind(cmd.Flags())
	cmd.Flags().StringVarP(&output, "output", "o", "", "json or yaml")
	console.CompleteOutput(cmd, "json", "yaml")
	return cmd
}

// finding is one of a check, as machines read it.
type finding struct {
	Subject string `json:"subject"`
	Text    string `json:"text"`
	OK      bool   `json:"ok"`
	Try     string `json:"try,omitempty"`
}

// printFindings prints what a check found, and reports whether something has to be done.
func printFindings(streams console.IO, output string, findings []installation.Finding) (bad bool, err error) {
	all := make([]finding, len(findings))
	for i, f := range findings {
		all[i] = finding{f.Subject, engine.Plain(f.Text), !f.Bad, f.Next}
		bad = bad || f.Bad
	}
	if output != "" {
		return bad, console.PrintDocument(streams, output, all)
	}
	for _, f := range all {
		mark := "✓"
		if !f.OK {
			mark = "✗"
		}
		fmt.Fprintf(streams.Out, "%s %-12s %s\n", mark, f.Subject, f.Text)
		if f.Try != "" {
			fmt.Fprintf(streams.Out, "  %-12s try: %s\n", "", f.Try)
		}
	}
	return bad, nil
}
