package helm

import (
	"context"
	"errors"
	"fmt"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/kube"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"

	"github.com/headgate-dev/headgate/internal/helm/plan"
)

// Install installs a release, and returns its record. It does not wait for the objects to be healthy.
// After an error the record is that of the last revision, if there is one: the failed one when the
// install came so far, else an earlier one.
func (c *Client) Install(ctx context.Context, o InstallOptions) (plan.Snapshot, error) {
	s, made, err := c.act(ctx, o.Name, o.Namespace, func(r *running) error {
		if err := c.prepare(r, o.Common, nil, o.ServerSideApply != Disabled); err != nil {
			return err
		}
		chart, err := o.Chart.load()
		if err != nil {
			return err
		}
		in := action.NewInstall(r.Configuration)
		in.ReleaseName, in.Namespace = o.Name, o.Namespace
		in.Replace, in.CreateNamespace = o.Replace, o.CreateNamespace
		in.ServerSideApply = o.ServerSideApply != Disabled
		in.ForceConflicts = in.ServerSideApply
		in.TakeOwnership = !o.DisableTakeOwnership
		in.Timeout, in.WaitStrategy = timeoutOr(o.Timeout), kube.HookOnlyStrategy
		in.DisableHooks, in.DisableOpenAPIValidation = o.DisableHooks, o.DisableOpenAPIValidation
		in.SkipSchemaValidation, in.SkipCRDs, in.Devel = true, true, true
		in.EnableDNS = o.EnableDNS
		in.PostRenderer, in.PostRenderStrategy = o.PostRender.renderer(), o.PostRender.strategy()
		undo := o.isolate(r.ctx, r.Configuration, chart, r.readable())
		_, err = in.RunWithContext(r.detached(), chart, o.Values.Map())
		return r.cause(undo(err))
	})
	return o.outcome("installing", s, made, err)
}

// Upgrade upgrades a release, and returns its record. It does not wait for the objects to be healthy.
// After an error the record is that of the last revision: the failed one when the upgrade came so far,
// else the previous one, which its Version tells.
func (c *Client) Upgrade(ctx context.Context, o UpgradeOptions) (plan.Snapshot, error) {
	s, made, err := c.act(ctx, o.Name, o.Namespace, func(r *running) error {
		last, err := lastOf(r.Releases, o.Name)
		if err != nil {
			return err
		}
		var kept *reused
		if o.PreserveValues {
			if kept, err = keptOf(last); err != nil {
				return err
			}
		}
		ssa := o.ServerSideApply.resolve(last.ApplyMethod)
		if err := c.prepare(r, o.Common, kept, ssa); err != nil {
			return err
		}
		chart, err := o.Chart.load()
		if err != nil {
			return err
		}
		up := action.NewUpgrade(r.Configuration)
		up.Namespace, up.MaxHistory = o.Namespace, o.MaxHistory
		up.ResetValues, up.ReuseValues = !o.PreserveValues, o.PreserveValues
		up.ServerSideApply, up.ForceConflicts = fmt.Sprint(ssa), ssa
		up.ForceReplace = o.Force && !ssa
		up.TakeOwnership, up.CleanupOnFail = !o.DisableTakeOwnership, o.CleanupOnFail
		up.Timeout, up.WaitStrategy = timeoutOr(o.Timeout), kube.HookOnlyStrategy
		up.DisableHooks, up.DisableOpenAPIValidation = o.DisableHooks, o.DisableOpenAPIValidation
		up.SkipSchemaValidation, up.SkipCRDs, up.Devel = true, true, true
		up.EnableDNS = o.EnableDNS
		up.PostRenderer, up.PostRenderStrategy = o.PostRender.renderer(), o.PostRender.strategy()
		undo := o.isolate(r.ctx, r.Configuration, chart, r.readable())
		_, err = up.RunWithContext(r.detached(), o.Name, chart, o.Values.Map())
		return r.cause(undo(err))
	})
	return o.outcome("upgrading", s, made, err)
}

// keptOf are the values of a release that an upgrade keeps.
func keptOf(last *releasev1.Release) (*reused, error) {
	all, err := util.CoalesceValues(last.Chart, last.Config)
	if err != nil {
		return nil, fmt.Errorf("reading the values of revision %d: %w", last.Version, err)
	}
	return &reused{config: last.Config, all: all}, nil
}

// prepare is what comes before Helm's own work: values are checked, and CRDs applied.
func (c *Client) prepare(r *running, o Common, kept *reused, ssa bool) error {
	if !o.DisableSchemaValidation {
		if err := validate(r.ctx, o, kept); err != nil {
			return err
		}
	}
	kinds, err := c.applyCRDs(r.ctx, o, ssa)
	if err != nil || len(kinds) == 0 {
		return err
	}
	r.Capabilities, err = c.serving(r.ctx, kinds)
	return err
}

// outcome completes what an install or an upgrade returns: the digest of the values is that of those
// that were given, which the storage may hold with others, or with less precision.
func (o Common) outcome(doing string, s plan.Snapshot, made bool, err error) (plan.Snapshot, error) {
	if err != nil {
		err = fmt.Errorf("%s release %s/%s with chart %s@%s: %w", doing, o.Namespace, o.Name, o.Chart.Name(), o.Chart.Version(), o.Values.scrub(err))
	}
	if made {
		s.ConfigDigest = o.Values.Digest()
	}
	return s, err
}

// Rollback goes back to an earlier revision, which becomes a new one, and returns its record.
func (c *Client) Rollback(ctx context.Context, o RollbackOptions) (plan.Snapshot, error) {
	s, _, err := c.act(ctx, o.Name, o.Namespace, func(r *running) error {
		ssa, err := o.resolve(r)
		if err != nil {
			return err
		}
		back := action.NewRollback(r.Configuration)
		back.Version, back.MaxHistory = o.Version, o.MaxHistory
		back.Timeout, back.WaitStrategy = timeoutOr(o.Timeout), kube.HookOnlyStrategy
		back.DisableHooks, back.CleanupOnFail = o.DisableHooks, o.CleanupOnFail
		back.ServerSideApply, back.ForceConflicts = fmt.Sprint(ssa), ssa
		back.ForceReplace = o.Force && !ssa
		return r.cause(back.Run(o.Name))
	})
	if err != nil {
		err = fmt.Errorf("rolling back release %s/%s: %w", o.Namespace, o.Name, err)
	}
	return s, err
}

// resolve reports whether the rollback uses server-side apply: Helm goes by the revision that it goes
// back to.
func (o RollbackOptions) resolve(r *running) (bool, error) {
	version := o.Version
	if version == 0 {
		last, err := lastOf(r.Releases, o.Name)
		if err != nil {
			return false, err
		}
		version = last.Version - 1
	}
	target, err := r.Releases.Get(o.Name, version)
	if err != nil {
		return false, fmt.Errorf("reading revision %d: %w", version, err)
	}
	release, ok := target.(*releasev1.Release)
	return ok && o.ServerSideApply.resolve(release.ApplyMethod), nil
}

// Uninstall deletes the objects of a release and, unless it is kept, its history. It returns the
// record, which is empty when nothing is left. A release that is not there is uninstalled.
func (c *Client) Uninstall(ctx context.Context, o UninstallOptions) (plan.Snapshot, error) {
	s, _, err := c.act(ctx, o.Name, o.Namespace, func(r *running) error {
		last, err := lastOf(r.Releases, o.Name)
		if errors.Is(err, ErrNotFound) || (err == nil && o.KeepHistory && last.Info.Status == plan.Uninstalled) {
			return nil
		}
		if err != nil {
			return err
		}
		r.cluster.uninstall, r.cluster.uninstalling, r.cluster.awaitDeletion = true, true, o.Wait
		un := action.NewUninstall(r.Configuration)
		un.KeepHistory, un.DisableHooks = o.KeepHistory, o.DisableHooks
		un.DeletionPropagation = o.DeletionPropagation
		un.Timeout, un.WaitStrategy = timeoutOr(o.Timeout), kube.HookOnlyStrategy
		_, err = un.Run(o.Name)
		return r.cause(errors.Join(append([]error{err}, r.cluster.refused...)...))
	})
	if err != nil {
		err = fmt.Errorf("uninstalling release %s/%s: %w", o.Namespace, o.Name, err)
	}
	return s, err
}

// Test runs the tests of the last revision, and returns its record with their results. The first test
// that fails ends it, with an error.
func (c *Client) Test(ctx context.Context, o TestOptions) (plan.Snapshot, error) {
	s, _, err := c.act(ctx, o.Name, o.Namespace, func(r *running) error {
		test := action.NewReleaseTesting(r.Configuration)
		test.Namespace, test.Timeout, test.Filters = o.Namespace, timeoutOr(o.Timeout), filters(o.Filters)
		_, finish, err := test.Run(o.Name)
		if finish != nil {
			err = errors.Join(err, finish())
		}
		return r.cause(err)
	})
	if s.TestHooks == nil {
		// It was tested all the same, with nothing to run.
		s.TestHooks = map[string]plan.TestHook{}
	}
	if err != nil {
		err = fmt.Errorf("testing release %s/%s: %w", o.Namespace, o.Name, err)
	}
	return s, err
}
