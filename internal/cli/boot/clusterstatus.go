package boot

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/discovery"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/controlplane"
	"github.com/headgate-dev/headgate/internal/planes"
)

func newClusterStatus(g *console.Globals) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Print whether a cluster runs, its version, and the clusters beside it; exit 1 if not",
		Long: `Print whether a cluster runs, in these steps:

  1. find the kubeconfig of the embedded cluster, or use the given one
  2. get the version of the API server
  3. list the further control planes of the embedded cluster: their state, what each added to the memory of the process,
     how often it died, and who uses it

The memory of a control plane is measured a few seconds after it is ready; those that start together share what they added.`,
		Example: "  headgate cluster status",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return runClusterStatus(g)
		},
	}
}

func runClusterStatus(g *console.Globals) error {
	config, err := g.RestConfig()
	if err != nil {
		fmt.Fprintln(g.IO.Out, "no cluster: "+err.Error())
		return console.ErrNo
	}
	config.Timeout = 5 * time.Second
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	version, unreachable := client.ServerVersion()
	if unreachable != nil {
		fmt.Fprintf(g.IO.Out, "stopped: %s does not respond\n", config.Host)
	} else {
		fmt.Fprintf(g.IO.Out, "running: Kubernetes %s at %s\n", version.GitVersion, config.Host)
	}
	if !g.Real() {
		if err := printPlanes(g); err != nil {
			return err
		}
	}
	if unreachable != nil {
		return console.ErrNo
	}
	return nil
}

// printPlanes prints the further control planes of the embedded cluster; nothing when there are none.
func printPlanes(g *console.Globals) error {
	all, err := planesOf(g)
	if err != nil || len(all) == 0 {
		return err
	}
	w := tabwriter.NewWriter(g.IO.Out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSTATE\tMEMORY\tRESTARTS\tUSERS\tLAST FAILURE")
	for _, s := range all {
		memory := "-"
		if s.Memory > 0 {
			memory = fmt.Sprintf("%d MB", s.Memory>>20)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\n", s.Name, s.State, memory, s.Restarts, orDash(strings.Join(s.Users, ", ")), orDash(s.Error))
	}
	return w.Flush()
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// planesOf lists the further control planes beside the embedded cluster that runs, or ran last.
func planesOf(g *console.Globals) ([]planes.Status, error) {
	file, err := g.EmbeddedKubeconfig()
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(file)
	return planes.Read(planesDir(dir), errors.Is(controlplane.Unused(dir), controlplane.ErrLocked))
}

func newClusterKubeconfig(g *console.Globals) *cobra.Command {
	return &cobra.Command{
		Use:   "kubeconfig [NAME]",
		Short: "Print the path of the kubeconfig of the embedded cluster, or of one beside it",
		Long: `Print the path of the kubeconfig of the embedded cluster that runs, or ran last, or of the one with this name
beside it: its own name, or the name that Argo CD knows it by, or the NAMESPACE/NAME of its VirtualCluster. A control
plane without users is stopped, and answers once it has one again.`,
		Example: "  export KUBECONFIG=$(headgate cluster kubeconfig)\n  kubectl --kubeconfig $(headgate cluster kubeconfig dev-vcluster) get pods -A",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := g.EmbeddedKubeconfig()
			if err == nil && len(args) > 0 {
				file, err = planeKubeconfig(g, args[0])
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(g.IO.Out, file)
			return err
		},
	}
}

// planeKubeconfig is the kubeconfig of a further control plane, also of one that has stopped.
func planeKubeconfig(g *console.Globals, name string) (string, error) {
	all, err := planesOf(g)
	if err != nil {
		return "", err
	}
	found := planes.Find(all, name)
	switch {
	case len(all) == 0:
		return "", fmt.Errorf("no control plane %q: there is none beside the embedded cluster", name)
	case len(found) == 0:
		return "", console.Hint(fmt.Errorf("no control plane %q: there are %s", name, listed(all)), "headgate cluster status")
	case len(found) > 1:
		return "", console.Hint(fmt.Errorf("control plane %q: it may be one of %s", name, listed(found)), "headgate cluster kubeconfig NAME")
	}
	if _, err := os.Stat(found[0].Kubeconfig); err != nil {
		return "", console.Hint(fmt.Errorf("control plane %q has no kubeconfig yet", name), "headgate cluster status")
	}
	return found[0].Kubeconfig, nil
}

// listed are control planes with who uses them, in a sentence.
func listed(all []planes.Status) string {
	texts := make([]string, len(all))
	for i, s := range all {
		texts[i] = s.Name
		if len(s.Users) > 0 {
			texts[i] += " (" + strings.Join(s.Users, ", ") + ")"
		}
	}
	return strings.Join(texts, ", ")
}
