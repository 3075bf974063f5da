package argo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/argo/appset"
	"github.com/headgate-dev/headgate/internal/declared"
)

// setFinalizer keeps a set whose Applications are deleted in steps.
const setFinalizer = "resources-finalizer.argocd.argoproj.io"

// write carries a plan out, several Applications at a time. What fails stops no other.
func (s *applicationSets) write(ctx context.Context, plan appset.Plan) error {
	var mu sync.Mutex
	var errs []error
	var steps []func()
	do := func(name string, step func() error) {
		steps = append(steps, func() {
			if err := step(); err != nil {
				mu.Lock()
				errs = append(errs, fmt.Errorf("Application %q: %w", name, err))
				mu.Unlock()
			}
		})
	}
	for _, made := range plan.Create {
		do(made.GetName(), func() error { return s.create(ctx, made) })
	}
	for _, change := range plan.Update {
		do(change.Live.GetName(), func() error { return s.update(ctx, change) })
	}
	for _, gone := range plan.Delete {
		do(gone.GetName(), func() error { return s.delete(ctx, gone) })
	}
	each(steps, func(step func()) { step() })
	return errors.Join(errs...)
}

func (s *applicationSets) create(ctx context.Context, made *unstructured.Unstructured) error {
	u, err := s.e.client.Resource(applicationResource).Namespace(made.GetNamespace()).Create(ctx, made, metav1.CreateOptions{FieldManager: appset.UpstreamManager})
	if err != nil {
		return fmt.Errorf("creating: %w", err)
	}
	s.e.putApplication(u)
	return nil
}

func (s *applicationSets) update(ctx context.Context, change appset.Change) error {
	u, err := s.e.client.Resource(applicationResource).Namespace(change.Live.GetNamespace()).Patch(ctx, change.Live.GetName(),
		types.MergePatchType, change.Patch, metav1.PatchOptions{FieldManager: appset.UpstreamManager})
	if err != nil {
		return fmt.Errorf("updating: %w", err)
	}
	s.e.putApplication(u)
	return nil
}

func (s *applicationSets) delete(ctx context.Context, gone *unstructured.Unstructured) error {
	uid := gone.GetUID()
	err := s.e.client.Resource(applicationResource).Namespace(gone.GetNamespace()).Delete(ctx, gone.GetName(), metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid},
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting: %w", err)
	}
	return nil
}

// rollout syncs the Applications of the current step.
func (s *applicationSets) rollout(ctx context.Context, set *appset.Set, generated appset.Generated, plan appset.Plan) (appset.Rollout, error) {
	existing := s.existing(set)
	states, err := appset.States(generated, plan, existing)
	if err != nil {
		return appset.Rollout{}, err
	}
	for i := range states {
		states[i].Behind = s.e.behind(UnitID(set.Namespace, states[i].Name), &states[i])
	}
	r := appset.MakeRollout(set, states, time.Now())
	var errs []error
	for _, name := range r.Sync {
		at := slices.IndexFunc(generated.Applications, func(u *unstructured.Unstructured) bool { return u.GetName() == name })
		if at < 0 {
			continue
		}
		op, err := appset.SyncOperation(generated.Applications[at])
		if err != nil {
			errs = append(errs, err)
			continue
		}
		u, err := s.e.client.Resource(applicationResource).Namespace(set.Namespace).Patch(ctx, name, types.MergePatchType,
			[]byte(encoded(map[string]any{"operation": op})), metav1.PatchOptions{FieldManager: appset.UpstreamManager})
		if err != nil {
			errs = append(errs, fmt.Errorf("Application %q: requesting a sync: %w", name, err))
			continue
		}
		s.e.putApplication(u)
	}
	return r, errors.Join(errs...)
}

// report writes the status of a set, when it is another one.
func (s *applicationSets) report(ctx context.Context, set *appset.Set, o appset.Outcome) error {
	return s.wrote(s.writer().Status(ctx, set, set.Status, appset.StatusOf(set, o)))
}

// writer writes to sets.
func (s *applicationSets) writer() declared.Writer {
	return declared.Writer{Client: s.e.client.Resource(applicationSetResource), Manager: appset.UpstreamManager}
}

// wrote takes a set as a write left it.
func (s *applicationSets) wrote(u *unstructured.Unstructured, err error) error {
	if err != nil || u == nil {
		return err
	}
	s.put(u)
	return nil
}

// finalize lets a deleted set go. Garbage collection deletes its Applications, unless that has to happen in steps, or the
// policy permits no deletions: then they lose their owner before the set is deleted.
func (s *applicationSets) finalize(ctx context.Context, set *appset.Set) error {
	if options := s.e.settings.now().AppSets; !options.DryRun && !policyOf(set, options).Delete {
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
