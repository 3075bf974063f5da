package sets

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/argo/appset"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/guard"
)

// parallel bounds how many Applications are written at a time.
const parallel = 16

// write carries a plan out, several Applications at a time. What fails stops no other. An Application is deleted once those that are
// created and changed are there: what moves to one of them is known to be wanted then.
func (s *Sets) write(ctx context.Context, plan appset.Plan) error {
	var mu sync.Mutex
	var errs []error
	var all errgroup.Group
	all.SetLimit(parallel)
	do := func(name string, step func() error) {
		all.Go(func() error {
			if err := guard.Catch(step); err != nil {
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
	_ = all.Wait() // It collects them in errs.
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
