package boot

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/controlplane"
	"github.com/headgate-dev/headgate/internal/memory"
	"github.com/headgate-dev/headgate/internal/progress"
)

// NewCluster is the command for the embedded control plane.
func NewCluster(g *console.Globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "Run only the embedded control plane",
		Long:  "Run only the embedded control plane: an API server, a store, controllers and simulated nodes in one process.",
	}
	cmd.AddCommand(newClusterStart(g), newClusterStop(g), newClusterStatus(g), newClusterKubeconfig(g), newClusterDelete(g))
	return cmd
}

func newClusterStart(g *console.Globals) *cobra.Command {
	var ephemeral bool
	var port int
	var gates planeGates
	cmd := &cobra.Command{
		Use:   "start",
		Short: "Start the control plane and run until Ctrl-C",
		Long: `Start the control plane, in these steps:

  1. lock the state directory
  2. start store, API server, controllers and nodes
  3. print the path of the kubeconfig, and run until Ctrl-C`,
		Example: "  headgate cluster start --ephemeral",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := gates.check(g); err != nil {
				return err
			}
			return runClusterStart(cmd.Context(), g, controlplane.Config{Ephemeral: ephemeral, Port: port, FeatureGates: gates.gates})
		},
	}
	gates.bind(cmd.Flags())
	cmd.Flags().BoolVar(&ephemeral, "ephemeral", false, "keep nothing")
	cmd.Flags().IntVar(&port, "port", 0, "port of the API server (default: the previous one, or a free one)")
	return cmd
}

func runClusterStart(ctx context.Context, g *console.Globals, config controlplane.Config) error {
	state, err := g.State()
	if err != nil {
		return err
	}
	say := progress.New(g.IO.Err)
	config.Dir, config.Notify = console.ClusterDir(state, config.Ephemeral), func(text string) { say.Info("note", text) }
	memory.Tune()
	plane, err := controlplane.Start(ctx, config)
	if err != nil {
		return err
	}
	say.Done("control plane", plane.RESTConfig().Host)
	fmt.Fprintln(g.IO.Out, plane.Kubeconfig())
	select {
	case <-ctx.Done():
	case err = <-plane.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*stopTimeout)
	defer cancel()
	return errors.Join(err, plane.Stop(stop))
}

func newClusterStop(g *console.Globals) *cobra.Command {
	return &cobra.Command{
		Use:     "stop",
		Short:   "Stop the control plane that runs on the state directory",
		Long:    "Stop the control plane, in these steps:\n\n  1. find the process that holds the state directory\n  2. interrupt it, and wait until it has exited",
		Example: "  headgate cluster stop",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runClusterStop(cmd.Context(), g)
		},
	}
}

func runClusterStop(ctx context.Context, g *console.Globals) error {
	state, err := g.State()
	if err != nil {
		return err
	}
	stopped := false
	for _, ephemeral := range []bool{true, false} {
		dir := console.ClusterDir(state, ephemeral)
		if _, err := os.Stat(dir); err != nil {
			continue
		}
		if !errors.Is(controlplane.Unused(dir), controlplane.ErrLocked) {
			continue
		}
		if err := controlplane.Interrupt(ctx, dir); err != nil {
			return err
		}
		stopped = true
		fmt.Fprintf(g.IO.Out, "stopped %s\n", dir)
	}
	if !stopped {
		fmt.Fprintln(g.IO.Out, "nothing runs")
	}
	return nil
}

func newClusterDelete(g *console.Globals) *cobra.Command {
	return &cobra.Command{
		Use:     "delete",
		Short:   "Delete the embedded cluster and everything in it",
		Long:    "Delete the embedded cluster, in these steps:\n\n  1. make sure that no process uses it\n  2. delete its state directory",
		Example: "  headgate cluster delete",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			state, err := g.State()
			if err != nil {
				return err
			}
			for _, ephemeral := range []bool{true, false} {
				if err := removeCluster(console.ClusterDir(state, ephemeral)); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
