package apply

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/engine"
)

// Marks reports whether a live object, nil for one that is not there, is marked as that of a unit.
func (n Names) Marks(live *unstructured.Unstructured, unit engine.UnitID) bool {
	switch {
	case live == nil:
		return false
	case n.Judge != nil:
		return n.Means(n.Judge.Owner(live), unit)
	}
	labels := live.GetLabels()
	return n.Means(types.NamespacedName{Namespace: labels[n.Namespace], Name: labels[n.Name]}, unit)
}

// Means reports whether an owner, as the marks of an object name it, is a unit. A judge names units by one word, in which
// the namespace comes before an underscore unless there is no need for it.
func (n Names) Means(owner types.NamespacedName, unit engine.UnitID) bool {
	if n.Judge == nil {
		return owner == types.NamespacedName{Namespace: unit.Namespace, Name: unit.Name}
	}
	return owner.Name == unit.Name || owner.Name == unit.Namespace+"_"+unit.Name
}

// Live reads an object; it is nil when it does not exist, or its kind does not.
func (a *Applier) Live(ctx context.Context, e engine.Entry) (*unstructured.Unstructured, error) {
	client, served, err := a.reach(ctx, e)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", e.ID, err)
	}
	if !served {
		return nil, nil
	}
	live, err := client.Get(ctx, e.ID.Name, metav1.GetOptions{})
	if err = a.certain(ctx, e.ID, err); apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", e.ID, err)
	}
	return live, nil
}

// Owns reports whether an object is marked as that of a unit; it is unknown for one without a record.
func (a *Applier) Owns(unit engine.UnitID, id engine.ObjectID) (marked, known bool) {
	rec, known := a.cluster.Objects.Get(id)
	return known && a.names.Means(rec.Unit, unit), known
}
