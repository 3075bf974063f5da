package sets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/argo/appset"
)

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
