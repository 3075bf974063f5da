package boot

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/helm"
	"github.com/headgate-dev/headgate/internal/host"
	"github.com/headgate-dev/headgate/internal/installation"
	"github.com/headgate-dev/headgate/internal/progress"
)

// installing are the flags of what is installed.
type installing struct {
	serve   []string
	image   string
	values  []string
	set     []string
	timeout time.Duration
}

func (i *installing) bind(f *pflag.FlagSet) {
	f.StringSliceVar(&i.serve, "serve", []string{"flux"}, "API groups that the controller serves: flux for all of Flux's, argocd for that of Argo CD, workflows for those of Argo Workflows, crossplane for managed resources, build for Builds, or single groups")
	f.StringVar(&i.image, "image", "", "image of the controller, such as registry.example.com/headgate:1.0.0 (default: the image of the chart)")
	f.StringArrayVarP(&i.values, "values", "f", nil, "file with values of the chart (repeatable)")
	f.StringArrayVar(&i.set, "set", nil, "value of the chart, such as replicas=2 (repeatable)")
	f.DurationVar(&i.timeout, "timeout", 5*time.Minute, "how long the controller may take to become ready")
}

// options reads the flags.
func (i *installing) options(catalogue dialect.Catalogue) (installation.Options, error) {
	var o installation.Options
	var err error
	if o.Serve, err = catalogue.Parse(i.serve); err != nil {
		return o, fmt.Errorf("--serve: %w", err)
	}
	for _, name := range i.values {
		data, err := os.ReadFile(name)
		if err != nil {
			return o, fmt.Errorf("--values: %w", err)
		}
		o.Values = append(o.Values, helm.Layer{From: name, Data: data})
	}
	for _, given := range i.set {
		path, value, ok := strings.Cut(given, "=")
		if !ok {
			return o, fmt.Errorf("--set: %q has no =; want PATH=VALUE", given)
		}
		o.Values = append(o.Values, helm.Layer{From: "--set " + path, TargetPath: path, Data: []byte(value)})
	}
	if i.image != "" {
		repository, tag := i.image, ""
		if at := strings.LastIndex(i.image, ":"); at > strings.LastIndex(i.image, "/") {
			repository, tag = i.image[:at], i.image[at+1:]
		}
		for path, value := range map[string]string{"image.repository": repository, "image.tag": tag} {
			o.Values = append(o.Values, helm.Layer{From: "--image", TargetPath: path, Literal: true, Data: []byte(value)})
		}
	}
	return o, nil
}

// NewInstall is the command that installs the controller.
func NewInstall(g *console.Globals) *cobra.Command {
	i := &installing{}
	var export, withoutCRDs bool
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install the controller into a cluster",
		Long: `Install Headgate into the cluster of --kubeconfig, in these steps:

  1. render the chart in this binary
  2. refuse if a controller of Flux or Argo CD serves a group of --serve, and name it
  3. apply namespace, definitions, ServiceAccount, roles, Deployment, Services and NetworkPolicy
  4. delete the Deployments and Services of a previous installation that are not part of this one
  5. wait until the controller is ready

Run it again to upgrade. --export prints the objects instead; "headgate uninstall" removes them.`,
		Example: `  headgate install --kubeconfig ~/.kube/config
  headgate install --context prod --set replicas=2 --set 'shards={a,b}'
  headgate install --export > clusters/prod/headgate/headgate.yaml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := i.options(g.Catalogue)
			if err != nil {
				return err
			}
			o.WithoutDefinitions = withoutCRDs
			if export {
				objects, err := installation.Objects(cmd.Context(), o)
				if err != nil {
					return err
				}
				return exportChart(g, objects)
			}
			return installChart(cmd.Context(), g, progress.New(g.IO.Err), o, i.timeout)
		},
	}
	i.bind(cmd.Flags())
	cmd.Flags().BoolVar(&export, "export", false, "print the objects instead of applying them")
	cmd.Flags().BoolVar(&withoutCRDs, "without-crds", false, "skip the definitions of the served kinds: the controller applies them at start")
	return cmd
}

// exportChart prints objects as documents.
func exportChart(g *console.Globals, objects []*unstructured.Unstructured) error {
	for _, o := range objects {
		data, err := yaml.Marshal(o.Object)
		if err != nil {
			return fmt.Errorf("encoding %s %s: %w", o.GetKind(), o.GetName(), err)
		}
		if _, err := fmt.Fprintf(g.IO.Out, "---\n%s", data); err != nil {
			return err
		}
	}
	return nil
}

// installChart makes an installation and waits for what it starts.
func installChart(ctx context.Context, g *console.Globals, say *progress.Printer, o installation.Options, timeout time.Duration) error {
	if !g.Real() {
		return errNoCluster()
	}
	objects, err := installation.Objects(ctx, o)
	if err != nil {
		return err
	}
	config, err := g.RestConfig()
	if err != nil {
		return err
	}
	if err := host.RefuseUpstream(ctx, config, o.Serve); err != nil {
		return console.Unreachable(err)
	}
	changed := 0
	tell := func(c installation.Change) {
		if c.Action != "unchanged" {
			changed++
			say.Done(c.Action, c.Object.String())
		}
	}
	if err := installation.Apply(ctx, config, objects, tell); err != nil {
		return err
	}
	if err := installation.Prune(ctx, config, objects, tell); err != nil {
		return err
	}
	say.Done("installed", fmt.Sprintf("%d objects, %d of them changed", len(objects), changed))
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := installation.Wait(ctx, config, objects, func(text string) { say.Waits("controller", text) }); err != nil {
		return console.Hint(err, "kubectl -n flux-system logs deployment/headgate")
	}
	say.Done("controller", "ready")
	return nil
}

// errNoCluster refuses to work on the embedded cluster, which the process of up serves itself.
func errNoCluster() error {
	return console.Hint(fmt.Errorf("no cluster given: use --kubeconfig or --context; the embedded cluster is served by headgate up itself"),
		"the same command with --kubeconfig ~/.kube/config")
}

// NewUninstall is the command that removes it.
func NewUninstall(g *console.Globals) *cobra.Command {
	i := &installing{}
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove the controller from a cluster, but nothing that it applied",
		Long: `Remove what "headgate install" created, in these steps:

  1. render the chart in this binary, with the same flags as for the installation
  2. delete its objects, except the namespace and the definitions of the served kinds

What repositories declare stays, including their Kustomizations, HelmReleases and Applications: they are not reconciled
until a controller is installed again.`,
		Example: "  headgate uninstall --context prod",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !g.Real() {
				return errNoCluster()
			}
			o, err := i.options(g.Catalogue)
			if err != nil {
				return err
			}
			objects, err := installation.Objects(cmd.Context(), o)
			if err != nil {
				return err
			}
			config, err := g.RestConfig()
			if err != nil {
				return err
			}
			say := progress.New(g.IO.Err)
			return installation.Remove(cmd.Context(), config, objects, func(c installation.Change) { say.Done(c.Action, c.Object.String()) })
		},
	}
	i.bind(cmd.Flags())
	return cmd
}
