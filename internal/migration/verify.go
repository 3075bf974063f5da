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

	"github.com/headgate-dev/headgate/internal/flux/sources"
	"github.com/headgate-dev/headgate/internal/installation"
)

// Request asks every unit that is not suspended for a pass, as "flux reconcile" and "argocd app get --refresh" do, and
// waits until each has had it. It returns those that are not ready then, with why.
func (m *Migration) Request(ctx context.Context, token string) (unready []string, err error) {
	annotation, value := meta.ReconcileRequestAnnotation, token
	if m.of == ArgoCD {
		annotation, value = refresh, "normal"
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{annotation: value}}})
	if err != nil {
		return nil, fmt.Errorf("encoding a request: %w", err)
	}
	err = m.moving(ctx, func(r unit) error {
		_, err := m.dynamic.Resource(r.resource).Namespace(r.GetNamespace()).Patch(ctx, r.GetName(), types.MergePatchType, patch,
			metav1.PatchOptions{FieldManager: fieldManager})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("requesting a pass of %s: %w", r.name(), err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var waiting string
	err = m.until(ctx, "every unit to be reconciled", func() (bool, error) {
		waiting, unready = "", nil
		err := m.moving(ctx, func(r unit) error {
			if !m.handled(r, token) {
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

// handled reports whether a unit has had the requested pass.
func (m *Migration) handled(u unit, token string) bool {
	if m.of == ArgoCD {
		_, asked := u.GetAnnotations()[refresh]
		return !asked
	}
	text, _, _ := unstructured.NestedString(u.Object, "status", "lastHandledReconcileAt")
	return text == token
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
		if sources.Suspended(u.Unstructured) || m.of == ArgoCD && skipped(u.Unstructured) {
			return nil
		}
		return visit(u)
	})
}

// units visits all units.
func (m *Migration) units(ctx context.Context, visit func(unit) error) error {
	resources, namespace := sources.UnitResources(), ""
	if m.of == ArgoCD {
		resources, namespace = []schema.GroupVersionResource{applications}, m.Namespace
	}
	for _, resource := range resources {
		list, err := m.dynamic.Resource(resource).Namespace(namespace).List(ctx, metav1.ListOptions{})
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
