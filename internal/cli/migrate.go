package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/internal/installation"
	"github.com/headgate-dev/headgate/internal/migration"
	"github.com/headgate-dev/headgate/internal/progress"
)

type migrateOptions struct {
	*globals
	installing
	back, dryRun, withoutInstall, withoutCheck bool
}

func newMigrate(g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Take a cluster over from another engine, and give it back",
		Long:  "Take a cluster over from another engine, and give it back. What runs in the cluster is not touched.",
	}
	cmd.AddCommand(newMigrateFlux(g))
	return cmd
}

func newMigrateFlux(g *globals) *cobra.Command {
	o := migrateOptions{globals: g}
	cmd := &cobra.Command{
		Use:   "flux",
		Short: "Take a cluster over from the controllers of Flux",
		Long: `Take the cluster of --kubeconfig over from Flux, in these steps:

  1. note what every object in an inventory is now
  2. write down what is about to be paused, in the ConfigMap flux-system/headgate-migration
  3. pause the controllers of Flux, flux-operator first, and wait until their pods are gone
  4. install Headgate, and wait until it is ready
  5. ask every Kustomization and HelmRelease for a pass, and wait until each has had it
  6. compare: no object may have changed

It goes on with the inventories, releases, fields and finalizers that Flux wrote; suspended objects stay so.
--back starts the controllers of Flux as they were; Headgate stops by itself when it sees the first. Both may be run again when they were
interrupted.`,
		Example: `  headgate migrate flux --context prod --dry-run
  headgate migrate flux --context prod
  headgate migrate flux --context prod --back`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !o.real() {
				return errNoCluster()
			}
			config, err := o.restConfig()
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), o.timeout)
			defer cancel()
			say := progress.New(o.io.Err)
			m, err := migration.New(config, say.Done)
			if err != nil {
				return err
			}
			if o.back {
				return o.runBack(ctx, m, say)
			}
			return o.run(ctx, m, say)
		},
	}
	f := cmd.Flags()
	o.installing.bind(f)
	f.BoolVar(&o.back, "back", false, "give the cluster back: start what was paused")
	f.BoolVar(&o.dryRun, "dry-run", false, "say what would be paused, and change nothing")
	f.BoolVar(&o.withoutInstall, "without-install", false, "pause only; something else starts Headgate")
	f.BoolVar(&o.withoutCheck, "without-check", false, "do not ask for passes, and compare nothing")
	return cmd
}

func (o migrateOptions) run(ctx context.Context, m *migration.Migration, say *progress.Printer) error {
	options, err := o.options()
	if err != nil {
		return err
	}
	if _, err := installation.Objects(ctx, options); err != nil {
		// Nothing is paused for the sake of an installation that cannot be made.
		return err
	}
	found, err := m.Found(ctx, options.Serve)
	if err != nil {
		return unreachable(err)
	}
	before, err := m.Fingerprint(ctx)
	if err != nil {
		return err
	}
	say.Info("found", fmt.Sprintf("%d controllers of Flux, %d objects in inventories", len(found.Deployments), len(before)))
	if o.dryRun {
		for _, d := range found.Deployments {
			say.Info("would pause", fmt.Sprintf("Deployment %s (%d replicas)", d, d.Replicas))
		}
		for _, i := range found.Instances {
			say.Info("would tell", fmt.Sprintf("flux-operator to leave FluxInstance %s/%s alone", i.Namespace, i.Name))
		}
		return nil
	}
	if err := m.Pause(ctx, found); err != nil {
		return hint(err, "headgate migrate flux, to go on; --back, to start Flux again")
	}
	if o.withoutInstall {
		return nil
	}
	if err := o.globals.install(ctx, say, options, o.timeout); err != nil {
		return hint(err, "headgate migrate flux, to go on; --back, to start Flux again")
	}
	if o.withoutCheck {
		return nil
	}
	return o.compare(ctx, m, say, before)
}

// compare asks every unit for a pass, and looks whether any object changed by that.
func (o migrateOptions) compare(ctx context.Context, m *migration.Migration, say *progress.Printer, before migration.Fingerprint) error {
	unready, err := m.Request(ctx, time.Now().UTC().Format(time.RFC3339Nano))
	if err != nil {
		return hint(err, "headgate check")
	}
	for _, text := range unready {
		say.Problem("not ready", text)
	}
	after, err := m.Fingerprint(ctx)
	if err != nil {
		return err
	}
	changed := before.Changed(after)
	for _, text := range changed {
		say.Problem("changed", text)
	}
	if len(changed) > 0 {
		say.Info("compared", fmt.Sprintf("%d of %d objects are not what they were", len(changed), len(before)))
		return errNo
	}
	say.Done("compared", fmt.Sprintf("none of %d objects was changed", len(before)))
	return nil
}

func (o migrateOptions) runBack(ctx context.Context, m *migration.Migration, say *progress.Printer) error {
	if err := m.Resume(ctx); err != nil {
		return err
	}
	declared, err := m.Rest(ctx)
	if err != nil {
		return err
	}
	say.Done("flux", "its controllers run as before")
	for _, unit := range declared {
		say.Info("advice", "take the manifests of Headgate out of the repository of Kustomization "+unit+"; until then its pods run, and serve nothing")
	}
	return nil
}
