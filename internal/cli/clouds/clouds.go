// Package clouds has the commands for the simulated cloud of headgate up --cloud simulated: what its account has, and what a person
// would do to it in a control panel. It refuses to know a cluster, and the real API.
package clouds

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/cloud"
)

// New is the group of commands for the simulated cloud.
func New(g *console.Globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cloud",
		Short: "Show and disturb the simulated cloud of headgate up --cloud simulated",
		Long: `Show and disturb the simulated account of DigitalOcean that headgate up --cloud simulated serves: what happens
to it here happens at once and without a request, as when a person acts in the control panel.`,
	}
	cmd.AddCommand(newGet(g), newDelete(g), newPowerOff(g))
	return cmd
}

// start is what to try when there is no simulated cloud.
const start = "headgate up PATH --cloud simulated"

// locate finds the simulated cloud of the chosen cluster.
func locate(g *console.Globals) (cloud.Endpoint, error) {
	state, err := g.State()
	if err != nil {
		return cloud.Endpoint{}, err
	}
	dirs := []string{console.ClusterDir(state, true), console.ClusterDir(state, false)}
	if g.Real() {
		config, err := g.RestConfig()
		if err != nil {
			return cloud.Endpoint{}, err
		}
		dirs = []string{console.EngineDir(state, config.Host)}
	}
	for _, dir := range dirs {
		e, err := cloud.Locate(filepath.Join(dir, console.CloudDir))
		if !errors.Is(err, fs.ErrNotExist) {
			return e, err
		}
	}
	return cloud.Endpoint{}, console.Hint(fmt.Errorf("no simulated cloud in %q", state), start)
}

// answered is the error of a request, with what to try when no cloud runs.
func answered(err error) error {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return console.Hint(fmt.Errorf("the simulated cloud does not run: %w", err), start)
	}
	return err
}

func newDelete(g *console.Globals) *cobra.Command {
	return &cobra.Command{
		Use:   "delete KIND NAME",
		Short: "Delete an object of the simulated cloud, as a person does in the control panel",
		Long: `Delete an object of the simulated cloud, in these steps:

  1. find it by its number, address or fingerprint, or by its name if no other has it
  2. delete it at once, without a request: nothing notifies the engine

KIND is droplet, image, key or ip.`,
		Example: "  headgate cloud delete droplet web\n  headgate cloud delete image 300000004",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			k, err := findKind(args[0])
			if err != nil {
				return err
			}
			e, err := locate(g)
			if err != nil {
				return err
			}
			if k.deleted == "" {
				return fmt.Errorf("%s cannot be deleted; use droplet, image, key or ip", args[0])
			}
			if err := e.Delete(cmd.Context(), k.deleted, args[1]); err != nil {
				return answered(err)
			}
			_, err = fmt.Fprintf(g.IO.Out, "deleted %s %s\n", k.name, args[1])
			return err
		},
	}
}

func newPowerOff(g *console.Globals) *cobra.Command {
	return &cobra.Command{
		Use:   "power-off NAME",
		Short: "Turn a Droplet of the simulated cloud off",
		Long: `Turn a Droplet of the simulated cloud off, in these steps:

  1. find it by its number, or by its name if no other has it
  2. turn it off at once, without a request: nothing notifies the engine`,
		Example: "  headgate cloud power-off web",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := locate(g)
			if err != nil {
				return err
			}
			if err := e.PowerOff(cmd.Context(), args[0]); err != nil {
				return answered(err)
			}
			_, err = fmt.Fprintf(g.IO.Out, "turned off droplet %s\n", args[0])
			return err
		},
	}
}
