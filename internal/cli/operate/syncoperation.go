package operate

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
)

// operationOptions are what a sync of Applications has beside that of others.
type operationOptions struct {
	revision                     string
	prune, dryRun, replace, wait bool
	outOfSyncOnly                bool
	refresh, hard                bool
	resources                    []string
}

func (o *operationOptions) bind(f *pflag.FlagSet) {
	f.StringVar(&o.revision, "revision", "", "Application: sync to this revision, the newest of what it declares by default")
	f.BoolVar(&o.prune, "prune", false, "Application: delete what is no longer declared")
	f.BoolVar(&o.dryRun, "dry-run", false, "Application: print what a sync would do, and change nothing")
	f.BoolVar(&o.replace, "replace", false, "Application: replace objects instead of applying them")
	f.BoolVar(&o.outOfSyncOnly, "apply-out-of-sync-only", false, "Application: apply only what differs")
	f.StringArrayVar(&o.resources, "resource", nil, "Application: sync only this object: GROUP:KIND:[NAMESPACE/]NAME (repeatable)")
	f.BoolVar(&o.wait, "wait", false, "Application: also wait until it is synced and healthy")
	f.BoolVar(&o.refresh, "refresh", false, "Application: fetch and compare, but do not sync")
	f.BoolVar(&o.hard, "hard-refresh", false, "Application: discard the render cache before the comparison")
}

// given names the first option that is set; empty when none is.
func (o *operationOptions) given() string {
	for name, set := range map[string]bool{
		"--revision": o.revision != "", "--prune": o.prune, "--dry-run": o.dryRun, "--replace": o.replace, "--wait": o.wait,
		"--apply-out-of-sync-only": o.outOfSyncOnly, "--refresh": o.refresh, "--hard-refresh": o.hard, "--resource": len(o.resources) > 0,
	} {
		if set {
			return name
		}
	}
	return ""
}

// operation are the options of the operation.
func (o syncOptions) operation() dialect.SyncOptions {
	return dialect.SyncOptions{
		Revision: o.app.revision, Prune: o.app.prune, DryRun: o.app.dryRun, Replace: o.app.replace, Force: o.force, Wait: o.app.wait,
		Selected: o.app.outOfSyncOnly, Compare: o.source, Only: o.app.refresh, Hard: o.app.hard, Resources: o.app.resources,
	}
}

// operated is the dialect of the requested objects if they are synced by operations; nil for others.
func (o syncOptions) operated(refs []console.Reference) dialect.Syncing {
	var kind console.Served
	switch {
	case len(refs) > 0:
		kind = refs[0].Served
	default:
		kind, _ = o.FindKind(o.args[0])
	}
	of, can := o.Of(kind.GroupKind()).(dialect.Syncing)
	if !can || !of.Syncs(kind.GroupKind()) {
		return nil
	}
	return of
}

// runOperations syncs objects by operations, all at the same time.
func runOperations(ctx context.Context, o syncOptions, client dynamic.Interface, of dialect.Syncing, refs []console.Reference) error {
	if o.reset || o.dependents {
		return console.Hint(errors.New("--reset and --dependents do not apply to Applications"), "headgate sync app NAME")
	}
	s, reached := console.NewSession(o.Globals, client), make([]bool, len(refs))
	group, ctx := errgroup.WithContext(ctx)
	for i, ref := range refs {
		group.Go(func() error {
			u, err := ref.GetFor(ctx, client, "sync")
			if err == nil {
				reached[i], err = of.Sync(ctx, s, u, o.operation())
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if slices.Contains(reached, false) {
		return console.ErrNo
	}
	return nil
}
