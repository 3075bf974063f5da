package migration

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/fluxcd/pkg/apis/meta"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/flux"
	"github.com/headgate-dev/headgate/internal/installation"
)

// Request asks every unit that is not suspended for a pass, as "flux reconcile" does, and waits until each has
// had it. It returns those that are not ready then, with why.
func (m *Migration) Request(ctx context.Context, token string) (unready []string, err error) {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{meta.ReconcileRequestAnnotation: token}}})
	if err != nil {
		return nil, fmt.Errorf("encoding a request: %w", err)
	}
	err = m.moving(ctx, func(r unit) error {
		_, err := m.dynamic.Resource(r.resource).Namespace(r.GetNamespace()).Patch(ctx, r.GetName(), types.MergePatchType, patch,
			metav1.PatchOptions{FieldManager: "headgate-migrate"})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("asking %s for a pass: %w", r.name(), err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var waiting string
	err = m.until(ctx, "every unit to be looked at", func() (bool, error) {
		waiting, unready = "", nil
		err := m.moving(ctx, func(r unit) error {
			if text, _, _ := unstructured.NestedString(r.Object, "status", "lastHandledReconcileAt"); text != token {
				waiting = r.name()
			} else if why := installation.Trouble(r.Unstructured); why != "" {
				unready = append(unready, r.name()+": "+why)
			}
			return nil
		})
		return waiting == "" && err == nil, err
	})
	if err != nil && waiting != "" {
		err = fmt.Errorf("%w; %s has not been", err, waiting)
	}
	slices.Sort(unready)
	return unready, err
}

// unit is an object that declares a unit.
type unit struct {
	*unstructured.Unstructured

	resource schema.GroupVersionResource
}

func (u unit) name() string { return u.GetKind() + " " + u.GetNamespace() + "/" + u.GetName() }

// moving visits the units that are not suspended.
func (m *Migration) moving(ctx context.Context, visit func(unit) error) error {
	return m.units(ctx, func(u unit) error {
		if flux.Suspended(u.Unstructured) {
			return nil
		}
		return visit(u)
	})
}

// units visits all units.
func (m *Migration) units(ctx context.Context, visit func(unit) error) error {
	for _, resource := range flux.UnitResources() {
		list, err := m.dynamic.Resource(resource).List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("listing %s: %w", resource.Resource, err)
		}
		for i := range list.Items {
			if err := visit(unit{&list.Items[i], resource}); err != nil {
				return err
			}
		}
	}
	return nil
}
