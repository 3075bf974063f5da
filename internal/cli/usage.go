package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/internal/cli/console"
)

// explainUsage has the errors of wrong calls lead to the help of the command, for a command and all below it.
func explainUsage(cmd *cobra.Command) {
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return misused(cmd, err) })
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			switch {
			case err == nil:
			case strings.HasPrefix(err.Error(), "unknown command") && !cmd.HasSubCommands():
				err = fmt.Errorf("%s takes no arguments, but got %q", cmd.CommandPath(), args[0])
			case len(args) == 0:
				err = fmt.Errorf("an argument is missing: want %s", forms(cmd))
			default:
				err = fmt.Errorf("%w: want %s", err, forms(cmd))
			}
			return misused(cmd, err)
		}
	}
	for _, below := range cmd.Commands() {
		explainUsage(below)
	}
}

// forms are the ways to call a command.
func forms(cmd *cobra.Command) string {
	before := ""
	if cmd.HasParent() {
		before = cmd.Parent().CommandPath() + " "
	}
	return before + strings.ReplaceAll(cmd.Use, " | ", ", or "+before)
}

// misused gives an error of a wrong call the help of the command as what to try.
func misused(cmd *cobra.Command, err error) error {
	return console.Hint(err, "%s --help", cmd.CommandPath())
}

// strayed is an error for a word that is not one of the commands below another one, which does nothing itself.
func strayed(root *cobra.Command, args []string) error {
	cmd, rest, err := root.Find(args)
	if err != nil || cmd == root || cmd.Runnable() || !cmd.HasSubCommands() || len(rest) == 0 || strings.HasPrefix(rest[0], "-") {
		return nil
	}
	return misused(cmd, unknown(cmd, rest[0]))
}

func unknown(cmd *cobra.Command, word string) error {
	cmd.SuggestionsMinimumDistance = 2
	near := cmd.SuggestionsFor(word)
	if len(near) == 0 {
		return fmt.Errorf("unknown command %q for %q", word, cmd.CommandPath())
	}
	return fmt.Errorf("unknown command %q for %q; did you mean %q?", word, cmd.CommandPath(), near[0])
}

// newHelp is the command help, which fails for what is not a command.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:     "help [command]",
		GroupID: "other",
		Short:   "Help about any command",
		Long:    "Print the help of a command.",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			of, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, below := range of.Commands() {
				if below.IsAvailableCommand() && strings.HasPrefix(below.Name(), typed) {
					names = append(names, cobra.CompletionWithDesc(below.Name(), below.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			of, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				if of == nil {
					of, rest = cmd.Root(), args
				}
				return console.Hint(unknown(of, rest[0]), "%s --help", of.CommandPath())
			}
			of.InitDefaultHelpFlag()
			of.InitDefaultVersionFlag()
			return of.Help()
		},
	}
}
