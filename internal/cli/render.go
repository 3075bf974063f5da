package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/flux"
)

func newRender(g *globals) *cobra.Command {
	o := offlineOptions{globals: g}
	var only, namespace string
	var secrets bool
	cmd := &cobra.Command{
		Use:   "render PATH [KIND/NAME]",
		Short: "Print what the units of a repository would apply, without a cluster",
		Long: `Print what units would apply, in these steps:

  1. read PATH, with what is not committed
  2. render the root, the units that it declares, and so on down, as the engine does
  3. print the objects as YAML, by unit; the values of Secrets are masked unless --secrets

The exit code is 1 when a unit cannot be rendered; the others are printed.`,
		Example: "  headgate render .\n  headgate render . ks/apps --path clusters/staging\n  headgate render examples/layered --age-key-file examples/layered/age.agekey",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.dir = args[0]
			if len(args) > 1 {
				only = args[1]
			}
			return runRender(cmd.Context(), o, only, namespace, secrets)
		},
	}
	bindOffline(cmd, &o)
	cmd.Flags().StringVarP(&namespace, "namespace", "n", defaultNamespace, "namespace of the unit")
	cmd.Flags().BoolVar(&secrets, "secrets", false, "print the values of Secrets")
	return cmd
}

func bindOffline(cmd *cobra.Command, o *offlineOptions) {
	cmd.Flags().StringVar(&o.root, "path", "", "directory of the root, or a file of root objects (default: it is looked for)")
	cmd.Flags().StringVar(&o.ageKeyFile, "age-key-file", "", "age identities to decrypt with")
}

func runRender(ctx context.Context, o offlineOptions, only, namespace string, secrets bool) error {
	units, err := o.units(ctx)
	if err != nil {
		return err
	}
	units, err = selectUnits(units, only, namespace)
	if err != nil {
		return err
	}
	failed := false
	for _, u := range units {
		if u.Err != nil {
			failed = true
			fmt.Fprintf(o.io.Err, "✗ %s: %v\n", u.Unit.ID, u.Err)
			continue
		}
		for _, object := range u.Objects {
			if !secrets {
				object = masked(object)
			}
			data, err := yaml.Marshal(object.Object)
			if err != nil {
				return fmt.Errorf("encoding an object of %s: %w", u.Unit.ID, err)
			}
			fmt.Fprintf(o.io.Out, "---\n# %s\n%s", u.Unit.ID, data)
		}
	}
	if failed {
		return errNo
	}
	return nil
}

func selectUnits(units []flux.OfflineUnit, only, namespace string) ([]flux.OfflineUnit, error) {
	if only == "" {
		return units, nil
	}
	ref, err := parseReference(only, namespace)
	if err != nil {
		return nil, err
	}
	for _, u := range units {
		if u.Unit.ID.Name == ref.name && u.Unit.ID.Namespace == ref.namespace {
			return []flux.OfflineUnit{u}, nil
		}
	}
	return nil, hint(fmt.Errorf("the repository declares no %s", ref), "headgate graph PATH")
}

// masked hides the values of a Secret.
func masked(u *unstructured.Unstructured) *unstructured.Unstructured {
	if u.GetKind() != "Secret" || u.GetAPIVersion() != "v1" {
		return u
	}
	u = u.DeepCopy()
	for _, field := range []string{"data", "stringData"} {
		values, ok := u.Object[field].(map[string]any)
		for key := range values {
			values[key] = "**"
		}
		if ok {
			u.Object[field] = values
		}
	}
	return u
}
