package apply

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/headgate-dev/headgate/internal/managedfields"
)

// Keeper is the field manager that holds fields which a declaration made and then leaves to others:
// as long as a manager applies a field, the server does not delete it when we leave it out.
const Keeper = "headgate-create"

// The managers whose fields are taken over when an object is migrated, unless another one is named.
const (
	kubectlApply = "kubectl-client-side-apply"
	helmManager  = "helm"
)

// homes say to whom the fields of an object belong.
type homes struct {
	// ours is our field manager.
	ours string
	// former are managers whose updates become ours.
	former []string
	// left are the paths that are left to others.
	left []fieldpath.Path
}

// owners are the fields of an object by whom they belong to.
type owners struct {
	// others are the entries of everybody else, as they are.
	others []metav1.ManagedFieldsEntry
	// ours are the fields that we apply, kept those that the keeper holds, former those to be taken over.
	ours, kept, former *fieldpath.Set
}

// ownersOf reads which manager owns what. Entries of subresources, such as a status, are never moved.
func (h homes) ownersOf(u *unstructured.Unstructured) (owners, error) {
	o := owners{ours: fieldpath.NewSet(), kept: fieldpath.NewSet(), former: fieldpath.NewSet()}
	for _, e := range u.GetManagedFields() {
		to := h.owner(e, &o)
		if to == nil {
			o.others = append(o.others, e)
			continue
		}
		set, err := managedfields.Set(e)
		if err != nil {
			return owners{}, err
		}
		*to = (*to).Union(set)
	}
	return o, nil
}

// owner is the set that an entry belongs to, nil for that of another manager.
func (h homes) owner(e metav1.ManagedFieldsEntry, o *owners) **fieldpath.Set {
	applied := e.Operation == metav1.ManagedFieldsOperationApply
	switch {
	case e.Subresource != "":
	case applied && e.Manager == h.ours:
		return &o.ours
	case applied && e.Manager == Keeper:
		return &o.kept
	case !applied && slices.Contains(h.former, e.Manager):
		return &o.former
	}
	return nil
}

// rehome returns who owns what once former managers are followed by us and what is left to others is
// held by the keeper: by moving ownership alone, so that no value is written that may be outdated by
// then. The second result reports whether that changes anything.
func (h homes) rehome(u *unstructured.Unstructured) ([]metav1.ManagedFieldsEntry, bool, error) {
	o, err := h.ownersOf(u)
	if err != nil {
		return nil, false, err
	}
	all := o.ours.Union(o.former)
	given := under(all, h.left)
	stays := under(o.kept, h.left)
	back := o.kept.Difference(stays)
	if o.former.Empty() && given.Empty() && back.Empty() {
		return nil, false, nil
	}
	entries := o.others
	for _, e := range []struct {
		manager string
		set     *fieldpath.Set
	}{
		{h.ours, all.Difference(given).Union(back)},
		{Keeper, stays.Union(given)},
	} {
		if e.set.Empty() {
			continue
		}
		data, err := e.set.ToJSON()
		if err != nil {
			return nil, false, fmt.Errorf("encoding managed fields: %w", err)
		}
		now := metav1.NewTime(time.Now())
		entries = append(entries, metav1.ManagedFieldsEntry{
			Manager: e.manager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: u.GetAPIVersion(), Time: &now,
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(string(data)),
		})
	}
	return entries, true, nil
}
