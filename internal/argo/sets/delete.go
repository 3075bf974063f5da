package sets

import (
	"context"
	"slices"

	"github.com/headgate-dev/headgate/internal/argo/appset"
)

// setFinalizer keeps a set whose Applications are deleted in steps.
const setFinalizer = "resources-finalizer.argocd.argoproj.io"

// keep has a set outlive its Applications that deletes them in steps: garbage collection would delete them all at once.
func (s *Sets) keep(ctx context.Context, set *appset.Set) error {
	options := s.installation.Settings().AppSets
	if options.DryRun || !appset.ReverseDeletion(set) || !policyOf(set, options).Delete || slices.Contains(set.Finalizers, setFinalizer) {
		return nil
	}
	return s.wrote(s.writer().Finalizer(ctx, set, setFinalizer, true))
}

// finalize lets a deleted set go. Garbage collection deletes its Applications, unless that has to happen in steps, or the
// policy permits no deletions: then they lose their owner before the set is deleted.
func (s *Sets) finalize(ctx context.Context, set *appset.Set) error {
	if options := s.installation.Settings().AppSets; !options.DryRun && !policyOf(set, options).Delete {
		changes, err := appset.Release(set, s.existing(set))
		if err == nil {
			err = s.write(ctx, appset.Plan{Update: changes})
		}
		if err != nil {
			return err
		}
	}
	if !slices.Contains(set.Finalizers, setFinalizer) {
		return nil
	}
	next, waiting := appset.Deletions(set, s.existing(set))
	if !appset.ReverseDeletion(set) {
		next, waiting = nil, nil
	}
	for _, app := range next {
		if err := s.delete(ctx, app); err != nil {
			return err
		}
	}
	if len(next)+len(waiting) > 0 {
		return nil
	}
	return s.wrote(s.writer().Finalizer(ctx, set, setFinalizer, false))
}
