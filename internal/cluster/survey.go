package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/guard"
)

// Managed is an object that has the labels of a unit and that our field manager applied.
type Managed struct {
	Entry engine.Entry
	// Unit is the owner by the labels of the object, as namespace and name.
	Unit types.NamespacedName
	// Applied is when our field manager changed the object last, to the second.
	Applied time.Time
}

// surveyed bounds the lists that a survey asks for at once, surveyPage the objects of one answer.
const (
	surveyed   = 4
	surveyPage = 500
)

// Survey lists the managed objects of all kinds. What it could not list is named by the error,
// beside what it found.
func (c *Cluster) Survey(ctx context.Context) ([]Managed, error) {
	if c.Kinds.Undiscovered() != nil {
		if err := c.Kinds.discoverSince(time.Now()); err != nil {
			return nil, err
		}
	}
	var (
		mu    sync.Mutex
		found []Managed
		errs  []error
		kinds = c.Kinds.All()
	)
	maps.DeleteFunc(kinds, func(gk schema.GroupKind, r Resource) bool { return !r.Listed || gk.Kind == "Event" })
	guard.Each(slices.Collect(maps.Keys(kinds)), surveyed, func(_ int, gk schema.GroupKind) {
		managed, err := c.surveyKind(ctx, kinds[gk])
		mu.Lock()
		defer mu.Unlock()
		found = append(found, managed...)
		if err != nil {
			errs = append(errs, fmt.Errorf("listing %s: %w", gk, err))
		}
	})
	return found, errors.Join(append(errs, c.Kinds.Undiscovered())...)
}

func (c *Cluster) surveyKind(ctx context.Context, r Resource) ([]Managed, error) {
	var found []Managed
	options := metav1.ListOptions{LabelSelector: c.Objects.ownership.Label, Limit: surveyPage}
	for {
		list, err := c.Dynamic.Resource(r.GroupVersionResource).List(ctx, options)
		if apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
			return found, nil
		}
		if err != nil {
			return found, err
		}
		for i := range list.Items {
			if m, ok := c.managed(&list.Items[i]); ok {
				found = append(found, m)
			}
		}
		if options.Continue = list.GetContinue(); options.Continue == "" {
			return found, nil
		}
	}
}

// managed reports whether an object was applied for a unit. What a controller made with the labels of
// its owner was not.
func (c *Cluster) managed(u *unstructured.Unstructured) (Managed, bool) {
	own := c.Objects.ownership
	if len(u.GetOwnerReferences()) > 0 || u.GetDeletionTimestamp() != nil {
		return Managed{}, false
	}
	for _, e := range u.GetManagedFields() {
		if e.Manager != own.Manager || e.Operation != metav1.ManagedFieldsOperationApply || e.Subresource != "" || e.Time == nil {
			continue
		}
		labels := u.GetLabels()
		entry := engine.EntryOf(u)
		entry.ID.Cluster = c.Name
		return Managed{
			Entry: entry, Applied: e.Time.Time,
			Unit: types.NamespacedName{Namespace: labels[own.NamespaceLabel], Name: labels[own.Label]},
		}, true
	}
	return Managed{}, false
}
