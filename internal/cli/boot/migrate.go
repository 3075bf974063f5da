package boot

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/internal/argo"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/helm"
	"github.com/headgate-dev/headgate/internal/installation"
	"github.com/headgate-dev/headgate/internal/migration"
	"github.com/headgate-dev/headgate/internal/progress"
)

type migrateOptions struct {
	*console.Globals
	installing
	of                                         migration.Upstream
	back, dryRun, withoutInstall, withoutCheck bool
	// argoNamespace is that of the Applications; empty is that of the controller that is found.
	argoNamespace string
}

// NewMigrate is the command that takes over from an upstream.
func NewMigrate(g *console.Globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Take a cluster over from Flux or Argo CD, and give it back",
		Long:  "Take a cluster over from Flux or Argo CD, and give it back. Workloads are not affected.",
	}
	cmd.AddCommand(newMigrateFlux(g), newMigrateArgo(g))
	return cmd
}

func newMigrateFlux(g *console.Globals) *cobra.Command {
	o := &migrateOptions{Globals: g, of: migration.Flux}
	cmd := &cobra.Command{
		Use:   "flux",
		Short: "Take a cluster over from the controllers of Flux",
		Long: `Take the cluster of --kubeconfig over from Flux, in these steps:

  1. record uid and generation of every object in an inventory
  2. record what is about to be paused in the ConfigMap flux-system/headgate-migration
  3. pause the controllers of Flux, flux-operator first, and wait until their pods are gone
  4. install Headgate, and wait until it is ready
  5. request a pass of every Kustomization and HelmRelease, and wait for all of them
  6. compare: no object may have changed

It continues with the inventories, releases, fields and finalizers that Flux wrote; suspended objects stay suspended. Groups that an
installation already serves, such as that of Argo CD, remain served.
--back starts the controllers of Flux as they were; Headgate stops when it sees the first. Both may be run again after an
interruption.`,
		Example: `  headgate migrate flux --context prod --dry-run
  headgate migrate flux --context prod
  headgate migrate flux --context prod --back`,
	}
	o.bind(cmd)
	return cmd
}

func newMigrateArgo(g *console.Globals) *cobra.Command {
	o := &migrateOptions{Globals: g, of: migration.ArgoCD}
	cmd := &cobra.Command{
		Use:   "argocd",
		Short: "Take a cluster over from the controllers of Argo CD",
		Long: `Take the cluster of --kubeconfig over from Argo CD, in these steps:

  1. record uid and generation of every object that an Application has in this cluster
  2. record what is about to be paused in the ConfigMap flux-system/headgate-migration-argocd
  3. scale the application controller and the ApplicationSet controller to zero, and wait until their pods are gone
  4. install Headgate, and wait until it is ready
  5. request a refresh of every Application, and wait for all of them
  6. compare: no object may have changed

The server, the repo-server, Redis and Dex of Argo CD are left as they are; so are settings, projects, repositories and clusters, which Headgate
reads. Groups that an installation already serves, such as those of Flux, remain served.
--back starts the controllers of Argo CD as they were; Headgate stops when it sees the first. Both may be run again if they
were interrupted.`,
		Example: `  headgate migrate argocd --context prod --dry-run
  headgate migrate argocd --context prod
  headgate migrate argocd --context prod --back`,
	}
	cmd.Flags().StringVar(&o.argoNamespace, "argo-namespace", "", "namespace of the Applications (default: that of the running controller, or argocd)")
	o.bind(cmd)
	return cmd
}

// bind gives a command its flags and what it does.
func (o *migrateOptions) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	o.installing.bind(f)
	f.Lookup("serve").DefValue = string(o.of)
	o.serve = []string{string(o.of)}
	f.BoolVar(&o.back, "back", false, "give the cluster back: start what was paused")
	f.BoolVar(&o.dryRun, "dry-run", false, "print what would be paused, and change nothing")
	f.BoolVar(&o.withoutInstall, "without-install", false, "only pause; do not install Headgate")
	f.BoolVar(&o.withoutCheck, "without-check", false, "do not request passes, and do not compare")
	cmd.Args = cobra.NoArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if !o.Real() {
			return errNoCluster()
		}
		config, err := o.RestConfig()
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), o.timeout)
		defer cancel()
		say := progress.New(o.IO.Err)
		m, err := migration.New(config, o.of, say.Done)
		if err != nil {
			return err
		}
		if o.back {
			return o.runBack(ctx, m, say)
		}
		served, err := installation.Served(ctx, config)
		if err != nil {
			return console.Unreachable(err)
		}
		o.serve = append(o.serve, served...)
		return o.run(ctx, m, say)
	}
}

// title is the name of the engine that is left.
func (o *migrateOptions) title() string {
	if o.of == migration.ArgoCD {
		return "Argo CD"
	}
	return "Flux"
}

// settle decides on the namespace of the Applications, and has the installation look there.
func (o *migrateOptions) settle(found migration.Paused, m *migration.Migration, options *installation.Options) {
	if o.of != migration.ArgoCD {
		return
	}
	if o.argoNamespace == "" {
		o.argoNamespace = argo.DefaultNamespace
		for _, c := range found.Controllers {
			o.argoNamespace = c.Namespace
		}
	}
	m.Namespace = o.argoNamespace
	options.Values = append([]helm.Layer{{
		From: "--argo-namespace", TargetPath: "argocdNamespace", Literal: true, Data: []byte(o.argoNamespace),
	}}, options.Values...)
}

func (o *migrateOptions) run(ctx context.Context, m *migration.Migration, say *progress.Printer) error {
	options, err := o.options(o.Catalogue)
	if err != nil {
		return err
	}
	found, err := m.Found(ctx, options.Serve)
	if err != nil {
		return console.Unreachable(err)
	}
	o.settle(found, m, &options)
	if _, err := installation.Objects(ctx, options); err != nil {
		// Nothing is paused for the sake of an installation that cannot be made.
		return err
	}
	before, err := m.Fingerprint(ctx)
	if err != nil {
		return err
	}
	say.Info("found", fmt.Sprintf("%d controllers of %s, %d objects %s", len(found.Controllers), o.title(), len(before), o.holders()))
	if o.dryRun {
		for _, c := range found.Controllers {
			say.Info("would pause", fmt.Sprintf("%s (%d replicas)", c.Described(), c.Replicas))
		}
		for _, i := range found.Instances {
			say.Info("would tell", fmt.Sprintf("flux-operator to leave FluxInstance %s/%s alone", i.Namespace, i.Name))
		}
		return nil
	}
	if err := m.Pause(ctx, found); err != nil {
		return console.Hint(err, "%s", o.onwards())
	}
	if o.withoutInstall {
		return nil
	}
	if err := installChart(ctx, o.Globals, say, options, o.timeout); err != nil {
		return console.Hint(err, "%s", o.onwards())
	}
	if o.withoutCheck {
		return nil
	}
	return o.compare(ctx, m, say, before)
}

// onwards is what to do after an interruption.
func (o *migrateOptions) onwards() string {
	return fmt.Sprintf("headgate migrate %s to continue; --back to start %s again", o.of, o.title())
}

// holders says whose the objects are that are compared.
func (o *migrateOptions) holders() string {
	if o.of == migration.ArgoCD {
		return "of Applications"
	}
	return "in inventories"
}

// compare asks every unit for a pass, and looks whether any object changed by that.
func (o *migrateOptions) compare(ctx context.Context, m *migration.Migration, say *progress.Printer, before migration.Fingerprint) error {
	unready, err := m.Request(ctx, time.Now().UTC().Format(time.RFC3339Nano))
	if err != nil {
		return console.Hint(err, "headgate check")
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
		say.Info("compared", fmt.Sprintf("%d of %d objects changed", len(changed), len(before)))
		return console.ErrNo
	}
	say.Done("compared", fmt.Sprintf("none of %d objects was changed", len(before)))
	return nil
}

func (o *migrateOptions) runBack(ctx context.Context, m *migration.Migration, say *progress.Printer) error {
	if err := m.Resume(ctx); err != nil {
		return err
	}
	declared, err := m.Rest(ctx)
	if err != nil {
		return err
	}
	say.Done(string(o.of), "its controllers run as before")
	for _, unit := range declared {
		say.Info("advice", "remove the manifests of Headgate from the repository of Kustomization "+unit+"; until then its pods run, but serve nothing")
	}
	return nil
}
