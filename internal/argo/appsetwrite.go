package argo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/argo/appset"
	"github.com/headgate-dev/headgate/internal/declared"
)

// setFinalizer keeps a set whose Applications are deleted in steps.
const setFinalizer = "resources-finalizer.argocd.argoproj.io"

// parallel bounds how many Applications are written at a time.
const parallel = 16

// write carries a plan out, several Applications at a time. What fails stops no other.
func (s *Sets) write(ctx context.Context, plan appset.Plan) error {
	var mu sync.Mutex
	var errs []error
	var all errgroup.Group
	all.SetLimit(parallel)
	do := func(name string, step func() error) {
		all.Go(func() error {
			if err := step(); err != nil {
				mu.Lock()
				errs = append(errs, fmt.Errorf("Application %q: %w", name, err))
				mu.Unlock()
			}
			return nil
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
	_ = all.Wait() // It collects them in errs.
	return errors.Join(errs...)
}

func (s *Sets) create(ctx context.Context, made *unstructured.Unstructured) error {
	u, err := s.host.Home.Dynamic.Resource(applications).Namespace(made.GetNamespace()).Create(ctx, made, metav1.CreateOptions{FieldManager: appset.UpstreamManager})
	if err != nil {
		return fmt.Errorf("creating: %w", err)
	}
	s.installation.Put(u)
	return nil
}

func (s *Sets) update(ctx context.Context, change appset.Change) error {
	u, err := s.host.Home.Dynamic.Resource(applications).Namespace(change.Live.GetNamespace()).Patch(ctx, change.Live.GetName(),
		types.MergePatchType, change.Patch, metav1.PatchOptions{FieldManager: appset.UpstreamManager})
	if err != nil {
		return fmt.Errorf("updating: %w", err)
	}
	s.installation.Put(u)
	return nil
}

func (s *Sets) delete(ctx context.Context, gone *unstructured.Unstructured) error {
	uid := gone.GetUID()
	err := s.host.Home.Dynamic.Resource(applications).Namespace(gone.GetNamespace()).Delete(ctx, gone.GetName(), metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid},
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting: %w", err)
	}
	return nil
}

// rollout syncs the Applications of the current step.
func (s *Sets) rollout(ctx context.Context, set *appset.Set, generated appset.Generated, plan appset.Plan) (appset.Rollout, error) {
	existing := s.existing(set)
	states, err := appset.States(generated, plan, existing)
	if err != nil {
		return appset.Rollout{}, err
	}
	for i := range states {
		states[i].Behind = s.installation.Behind(types.NamespacedName{Namespace: set.Namespace, Name: states[i].Name}, &states[i])
	}
	r := appset.MakeRollout(set, states, time.Now())
	var errs []error
	for _, name := range r.Sync {
		at := slices.IndexFunc(generated.Applications, func(u *unstructured.Unstructured) bool { return u.GetName() == name })
		if at < 0 {
			continue
		}
		if err := s.request(ctx, set.Namespace, generated.Applications[at]); err != nil {
			errs = append(errs, err)
		}
	}
	return r, errors.Join(errs...)
}

// request requests a sync of an Application, as it was generated.
func (s *Sets) request(ctx context.Context, namespace string, generated *unstructured.Unstructured) error {
	op, err := appset.SyncOperation(generated)
	if err != nil {
		return err
	}
	name := generated.GetName()
	patch, err := json.Marshal(map[string]any{"operation": op})
	if err != nil {
		return fmt.Errorf("Application %q: encoding the operation: %w", name, err)
	}
	u, err := s.host.Home.Dynamic.Resource(applications).Namespace(namespace).Patch(ctx, name, types.MergePatchType,
		patch, metav1.PatchOptions{FieldManager: appset.UpstreamManager})
	if err != nil {
		return fmt.Errorf("Application %q: requesting a sync: %w", name, err)
	}
	s.installation.Put(u)
	return nil
}

// report writes the status of a set, when it is another one.
func (s *Sets) report(ctx context.Context, set *appset.Set, o appset.Outcome) error {
	return s.wrote(s.writer().Status(ctx, set, set.Status, appset.StatusOf(set, o)))
}

// writer writes to sets.
func (s *Sets) writer() declared.Writer {
	return declared.Writer{Client: s.host.Home.Dynamic.Resource(Resource), Manager: appset.UpstreamManager}
}

// wrote takes a set as a write left it.
func (s *Sets) wrote(u *unstructured.Unstructured, err error) error {
	if err != nil || u == nil {
		return err
	}
	s.Put(u)
	return nil
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
