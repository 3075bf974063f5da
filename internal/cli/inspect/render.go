package inspect

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
)

// NewRender is the command that prints what units would apply.
func NewRender(g *console.Globals) *cobra.Command {
	o := console.OfflineOptions{Globals: g}
	var secrets bool
	cmd := &cobra.Command{
		Use:   "render [PATH] [KIND/NAME] | render [PATH] KIND NAME",
		Short: "Print what the units of a repository would apply, without a cluster",
		Long: `Print what units would apply, in these steps:

  1. read PATH, including uncommitted changes
  2. render the root, the units that it declares, and so on, as the engine does: Kustomizations, Applications of
     Argo CD, also those that ApplicationSets generate, and what either declares of the other
  3. fetch the chart of a named HelmRelease, or with --charts those of all, and render it with its
     values as an install does; ConfigMaps, Secrets and sources are taken from the rendered objects
  4. print the objects as YAML, by unit; the values of Secrets, and where other objects contain them or
     values of encrypted files, are masked unless --secrets

Units are built from the sources that they name. Sources with the URL of the working copy are read from PATH,
committed or not, without ignored files. Units of other repositories, registries and buckets are reported with the
URL, and skipped. Charts come from PATH itself, from registries and from Helm repositories. Their templates see no cluster:
only the kinds of Kubernetes and of the CRDs in the repository, and nothing for lookup. The exit code is 1 if
a unit cannot be rendered; the others are printed. Applications that read other repositories, or charts, are
rendered if they are named, or with --charts.`,
		Example: `  headgate render .
  headgate render . ks/apps --path clusters/staging
  headgate render . -n apps
  headgate render app/guestbook -f ./gitops
  headgate render . hr/podinfo -n apps --rewrite oci://ghcr.io/=oci://mirror.local/
  headgate render examples/layered --age-key-file examples/layered/age.agekey`,
		ValidArgsFunction: o.CompleteRepository,
		Args:              cobra.MaximumNArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Aim(args)
			o.Within = cmd.Flags().Changed("namespace")
			return runRender(cmd.Context(), o, secrets)
		},
	}
	console.BindOffline(cmd, &o)
	console.BindCharts(cmd, &o)
	cmd.Flags().StringVarP(&o.Folder, "folder", "f", "", "the directory, if PATH is omitted (default: the current one)")
	cmd.Flags().BoolVar(&secrets, "secrets", false, "print the values of Secrets, and values derived from them")
	return cmd
}

func runRender(ctx context.Context, o console.OfflineOptions, secrets bool) error {
	o.Masks = !secrets
	w, err := o.Walk(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	units, err := o.Selected(w)
	if err != nil {
		return err
	}
	failed := o.TellBroken(w)
	for i := range units {
		u := &units[i]
		switch {
		case u.Err != nil:
			failed = true
			fmt.Fprintf(o.IO.Err, "✗ %s: %v%s\n", u.Unit.ID, u.Err, console.Advised(u))
		case u.Elsewhere != "":
			// A user who names a unit is not content with nothing.
			failed = failed || o.Only != ""
			fmt.Fprintf(o.IO.Err, "· %s: %s\n", u.Unit.ID, console.Skipped(u))
		}
		for _, problem := range u.Problems {
			fmt.Fprintf(o.IO.Err, "· %s: %s\n", u.Unit.ID, problem)
		}
		if err := renderUnit(o.IO, u, secrets); err != nil {
			return err
		}
	}
	if failed {
		return console.ErrNo
	}
	return nil
}

func renderUnit(streams console.IO, u *dialect.OfflineUnit, secrets bool) error {
	for _, object := range u.Objects {
		as := object
		if !secrets {
			as = shown(u, object)
		}
		if err := renderObject(streams, u.Unit.ID.String()+u.Handled[object].Role, as, secrets); err != nil {
			return err
		}
	}
	return nil
}

func renderObject(streams console.IO, of string, object *unstructured.Unstructured, secrets bool) error {
	if !secrets {
		object = masked(object)
	}
	data, err := yaml.Marshal(object.Object)
	if err != nil {
		return fmt.Errorf("encoding an object of %s: %w", of, err)
	}
	_, err = fmt.Fprintf(streams.Out, "---\n# %s\n%s", of, data)
	return err
}
