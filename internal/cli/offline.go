package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux"
	"github.com/headgate-dev/headgate/internal/gitserver"
	"github.com/headgate-dev/headgate/internal/source"
)

// offlineOptions are those of commands that read a directory.
type offlineOptions struct {
	*globals
	dir, root, ageKeyFile string
	// charts renders every HelmRelease; only is KIND/NAME of the one requested unit, in namespace.
	charts          bool
	only, namespace string
	rewrite         []string
	local           localCharts
	rules           policyFlags
	// cluster is what is known of the cluster that is compared with.
	cluster flux.OfflineOptions
	// alone leaves out what an Application leads to.
	alone bool
	// folder is the directory where only a unit is named.
	folder string
}

// aim reads [PATH] [KIND/NAME]: what names a unit, and is no directory, stands alone.
func (o *offlineOptions) aim(args []string) {
	o.dir = orWord(o.folder, ".")
	if len(args) == 1 {
		if _, err := os.Stat(args[0]); err != nil && strings.Contains(args[0], "/") {
			if _, err := o.parseReference(args[0], o.namespace); err == nil {
				o.only = args[0]
				return
			}
		}
	}
	if len(args) > 0 {
		o.dir = args[0]
	}
	if len(args) > 1 {
		o.only = args[1]
	}
}

func bindOffline(cmd *cobra.Command, o *offlineOptions) {
	cmd.Flags().StringVar(&o.root, "path", "", "directory of the root, or a file of root objects (default: search for it)")
	cmd.Flags().StringVar(&o.ageKeyFile, "age-key-file", "", "file with age identities to decrypt with")
	o.rules.bind(cmd.Flags())
}

// bindCharts adds the flags of commands that render HelmReleases, or one of them.
func bindCharts(cmd *cobra.Command, o *offlineOptions) {
	cmd.Flags().StringVarP(&o.namespace, "namespace", "n", defaultNamespace, "namespace of the unit")
	bindFetches(cmd, o)
}

// bindFetches adds the flags that say which charts are fetched, and from where.
func bindFetches(cmd *cobra.Command, o *offlineOptions) {
	cmd.Flags().BoolVar(&o.charts, "charts", false, "fetch the charts of all HelmReleases and render them too")
	o.local.bind(cmd.Flags())
	cmd.Flags().StringArrayVar(&o.rewrite, "rewrite", nil, "redirect fetches of charts: FROM=TO, both URL prefixes (repeatable)")
}

// units reads the repository in the directory: all its units, or the requested one.
func (o offlineOptions) units(ctx context.Context) ([]flux.OfflineUnit, error) {
	options, err := o.options()
	if err != nil {
		return nil, err
	}
	if options.Rewrites, err = o.local.start(ctx, options.Rewrites); err != nil {
		return nil, err
	}
	defer func() { _ = o.local.stop(ctx) }()
	p, err := o.locate()
	if err != nil {
		return nil, err
	}
	shown, err := gitserver.Look(ctx, p.Repository)
	if err != nil {
		return nil, err
	}
	root := flux.Root{Path: p.Root, For: p.Repository, Branch: shown.Branch, URL: "http://localhost", Objects: p.objects}
	if len(root.Objects) > 0 {
		root.Path = ""
	}
	if o.ageKeyFile != "" {
		if root.AgeKey, err = os.ReadFile(o.ageKeyFile); err != nil {
			return nil, fmt.Errorf("reading the age key: %w", err)
		}
	}
	options.Ours, options.Branch = p.ours(shown.Remotes), shown.Branch
	units, err := flux.Offline(ctx, source.Directory{Path: p.Repository, Only: shown.Files}, root, options)
	if err != nil {
		return nil, err
	}
	return o.selected(o.others(ctx, units))
}

// others adds the units of other dialects that are declared among the objects, those that these declare, and so on.
func (o offlineOptions) others(ctx context.Context, units []flux.OfflineUnit) []flux.OfflineUnit {
	known := map[engine.UnitID]bool{}
	for i := range units {
		known[units[i].Unit.ID] = true
	}
	for i := 0; i < len(units); i++ {
		for _, object := range units[i].Objects {
			id := engine.IDOf(object)
			of, _ := o.catalogue.Of(id.Group)
			renderer, renders := of.(dialect.Offline)
			if !renders || !o.catalogue.IsUnit(id) || known[engine.UnitOf(id)] {
				continue
			}
			known[engine.UnitOf(id)] = true
			unit := renderer.Render(ctx, object)
			units = append(units, flux.OfflineUnit{
				Declaration: flux.Declaration{Unit: unit.Unit}, Rendered: unit.Elsewhere == "", Elsewhere: unit.Elsewhere, Objects: unit.Objects, Err: unit.Err,
			})
		}
	}
	return units
}

// options say which charts are fetched, and from where.
func (o offlineOptions) options() (flux.OfflineOptions, error) {
	options := o.cluster
	err := o.rules.check()
	if err != nil {
		return options, err
	}
	options.Policy = o.rules.policy
	if options.Replaced, err = o.catalogue.All().Replaced(); err != nil {
		return options, err
	}
	if options.Rewrites, err = source.ParseRewrites(o.rewrite); err != nil {
		return options, fmt.Errorf("--rewrite: %w", err)
	}
	if o.only == "" {
		options.Releases = func(engine.UnitID) bool { return o.charts }
		return options, nil
	}
	ref, err := o.parseReference(o.only, o.namespace)
	options.Releases = func(id engine.UnitID) bool { return o.charts || id == ref.id() }
	return options, err
}

// selected is the requested unit, or all of them.
func (o offlineOptions) selected(units []flux.OfflineUnit) ([]flux.OfflineUnit, error) {
	if o.only == "" {
		return units, nil
	}
	ref, err := o.parseReference(o.only, o.namespace)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(units, func(u flux.OfflineUnit) bool { return u.Unit.ID == ref.id() })
	if at < 0 {
		return nil, hint(fmt.Errorf("the repository declares no %s", ref), "headgate graph PATH")
	}
	if units[at].Err == nil {
		return units[at : at+1], nil
	}
	// What it refers to may be declared by another one that failed.
	failed := slices.DeleteFunc(slices.Clone(units), func(u flux.OfflineUnit) bool { return u.Err == nil })
	return failed, nil
}

// advice is what to try when a unit cannot be rendered, or nothing.
func advice(err error) string {
	var missing *flux.MissingSecretError
	if errors.As(err, &missing) && missing.Namespace == flux.Namespace && missing.Name == flux.AgeSecret {
		return "\n  try: --age-key-file FILE, with its key"
	}
	var chart *flux.ChartError
	if errors.As(err, &chart) && chart.URL != "" {
		return fmt.Sprintf("\n  try: --rewrite %s=URL, with the URL of a reachable mirror", chart.URL)
	}
	return ""
}
