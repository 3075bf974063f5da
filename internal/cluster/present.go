package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
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

// Present is what is known of an object by its metadata alone.
type Present struct {
	Entry engine.Entry
	UID   types.UID
	// Owners are those that its ownerReferences name.
	Owners []types.UID
	// Unit is the owner by its marks, as a record has it.
	Unit types.NamespacedName
}

// Present lists the objects of kinds in a namespace, or in all of them, by their metadata. Kinds that may not be listed are
// left out; what could not be listed otherwise is named by the error, beside what was found.
func (c *Cluster) Present(ctx context.Context, namespace string, kinds map[schema.GroupKind]Resource) ([]Present, error) {
	var (
		mu     sync.Mutex
		found  []Present
		errs   []error
		listed []schema.GroupKind
	)
	for gk, r := range kinds {
		if r.Listed && gk.Kind != "Event" && (namespace == "" || r.Namespaced) {
			listed = append(listed, gk)
		}
	}
	guard.Each(listed, surveyed, func(_ int, gk schema.GroupKind) {
		present, err := c.presentOf(ctx, namespace, gk, kinds[gk])
		mu.Lock()
		defer mu.Unlock()
		found = append(found, present...)
		if err != nil {
			errs = append(errs, fmt.Errorf("listing %s: %w", gk, err))
		}
	})
	return found, errors.Join(errs...)
}

func (c *Cluster) presentOf(ctx context.Context, namespace string, gk schema.GroupKind, r Resource) ([]Present, error) {
	var found []Present
	options := metav1.ListOptions{Limit: surveyPage}
	for {
		list, err := c.metadata.Resource(r.GroupVersionResource).Namespace(namespace).List(ctx, options)
		if apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) || apierrors.IsForbidden(err) {
			return found, nil
		}
		if err != nil {
			return found, err
		}
		for i := range list.Items {
			if m := &list.Items[i]; m.DeletionTimestamp == nil {
				found = append(found, c.present(gk.WithVersion(r.Version), m))
			}
		}
		if options.Continue = list.GetContinue(); options.Continue == "" {
			return found, nil
		}
	}
}

func (c *Cluster) present(gvk schema.GroupVersionKind, m *metav1.PartialObjectMetadata) Present {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(gvk)
	u.SetNamespace(m.Namespace)
	u.SetName(m.Name)
	u.SetLabels(m.Labels)
	u.SetAnnotations(m.Annotations)
	p := Present{UID: m.UID, Entry: engine.EntryOf(u), Unit: c.Objects.ownerOf(u)}
	p.Entry.ID.Cluster = c.Name
	for _, owner := range m.OwnerReferences {
		p.Owners = append(p.Owners, owner.UID)
	}
	return p
}

// marked is when the cluster was last searched for marked objects.
type marked struct {
	mu    sync.Mutex
	began time.Time
}

// WatchMarked starts to watch kinds that have an object marked as a unit's, though no unit declares them. What
// another object owns has its marks from that one, and does not count. It asks the cluster, unless it has done so after a time.
func (c *Cluster) WatchMarked(ctx context.Context, after time.Time, kinds map[schema.GroupKind]Resource) error {
	c.marked.mu.Lock()
	defer c.marked.mu.Unlock()
	if !c.marked.began.IsZero() && !c.marked.began.Before(after) {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, listTimeout, errSlow)
	defer cancel()
	began := time.Now()
	maps.DeleteFunc(kinds, func(gk schema.GroupKind, _ Resource) bool { return c.Objects.watchesAll(gk) })
	found, err := c.Present(ctx, "", kinds)
	errs := []error{err}
	watched := map[schema.GroupVersionKind]bool{}
	for _, p := range found {
		if gvk := p.Entry.GroupVersionKind(); p.Unit != (types.NamespacedName{}) && len(p.Owners) == 0 && !watched[gvk] {
			watched[gvk] = true
			errs = append(errs, c.Objects.WatchManaged(ctx, gvk, nil))
		}
	}
	// Also if something could not be listed: the next request tries again.
	c.marked.began = began
	return errors.Join(errs...)
}

// watchesAll reports whether all objects of a kind have records.
func (o *Objects) watchesAll(gk schema.GroupKind) bool {
	o.mu.RLock()
	defer o.mu.RUnlock()
	_, watched := o.watches[watchKey{gk, selection{label: o.ownership.Label}}]
	return watched
}

// ownerOf is whose an object is by its marks.
func (o *Objects) ownerOf(u *unstructured.Unstructured) types.NamespacedName {
	if o.ownership.Judge != nil {
		return o.ownership.Judge.Owner(u)
	}
	labels := u.GetLabels()
	return types.NamespacedName{Namespace: labels[o.ownership.NamespaceLabel], Name: labels[o.ownership.Label]}
}
