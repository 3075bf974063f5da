package console

import (
	"cmp"
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

// Wanted is what a person names for a verb.
type Wanted struct {
	// Target is "KIND/NAME", "KIND/NAMESPACE/NAME", or "NAME" of any kind.
	Target string
	// Namespace is the one that was given with -n; empty for any.
	Namespace string
	// Verb is that of the next command in errors.
	Verb string
	// Takes reports whether the verb is for a kind; nil for every kind. It counts for a NAME alone.
	Takes func(Served) bool
}

// Pick is the object of the cluster that a person names. Where no namespace is given it is searched for in all of them, and a kind stands for
// those of its name in every API group. Of several objects of a NAME, that one counts which declares the others, or else the one of the
// default namespace; several that are left are listed in the error. Where there is none, the error is that of the API server, with what
// was probably meant.
func (g *Globals) Pick(ctx context.Context, c dynamic.Interface, w Wanted) (Reference, error) {
	ref, err := g.ParseReference(w.Target, cmp.Or(w.Namespace, DefaultNamespace))
	parts := strings.Count(w.Target, "/")
	kinds := []Served{ref.Served}
	switch {
	case parts == 0:
		kinds = g.Kinds(func(k dialect.Kind) bool { return w.Takes == nil || w.Takes(ServedOf(k)) })
	case parts < 3:
		word, _, _ := strings.Cut(w.Target, "/")
		if several := g.NamedKinds(word); len(several) > 0 && ref.Name != "" {
			kinds, err = several, nil
			ref.Served = kinds[0]
		}
	}
	if err != nil {
		return ref, err
	}
	within := w.Namespace
	if parts == 2 {
		within = ref.Namespace
	}
	found, err := namedIn(ctx, c, kinds, within, ref.Name)
	if err != nil {
		return ref, err
	}
	if within != "" && !ref.ClusterScoped {
		ref.Namespace = within
	}
	switch left := g.leading(found); {
	case len(left) == 1:
		return g.ReferenceTo(IdOf(left[0]))
	case len(left) > 1:
		return g.preferred(ref, left, w)
	}
	return ref, ref.Missing(ctx, c, w.Verb)
}

// CheckTarget is the error for a target that names nothing, whatever the cluster has.
func (g *Globals) CheckTarget(target string) error {
	ref, err := g.ParseReference(target, DefaultNamespace)
	if word, _, _ := strings.Cut(target, "/"); ref.Name != "" && len(g.NamedKinds(word)) > 0 {
		return nil
	}
	return err
}

// preferred is the one of several objects that is where a reference without a namespace points; the error lists them if none is.
func (g *Globals) preferred(ref Reference, found []*unstructured.Unstructured, w Wanted) (Reference, error) {
	ids := make([]engine.ObjectID, len(found))
	for i, u := range found {
		if ids[i] = engine.IDOf(u); ids[i] == ref.ID().Object() {
			return ref, nil
		}
	}
	return ref, ambiguous(w.Target, w.Verb, targetsOf(ids))
}

// leading are the objects that no other one of them declares, and units before others, such as their sources.
func (g *Globals) leading(found []*unstructured.Unstructured) []*unstructured.Unstructured {
	declared := map[engine.ObjectID]bool{}
	for _, u := range found {
		for _, id := range g.Catalogue.StateOf(u).Inventory {
			if id != engine.IDOf(u) {
				declared[id] = true
			}
		}
	}
	left := remaining(found, func(u *unstructured.Unstructured) bool { return !declared[engine.IDOf(u)] })
	return remaining(left, func(u *unstructured.Unstructured) bool { return g.Catalogue.IsUnit(engine.IDOf(u)) })
}

// remaining are the objects that are taken; all of them if none is.
func remaining(found []*unstructured.Unstructured, takes func(*unstructured.Unstructured) bool) []*unstructured.Unstructured {
	left := slices.DeleteFunc(slices.Clone(found), func(u *unstructured.Unstructured) bool { return !takes(u) })
	if len(left) == 0 {
		return found
	}
	return left
}

// namedIn are the objects of a name among kinds; an empty namespace stands for any.
func namedIn(ctx context.Context, c dynamic.Interface, kinds []Served, namespace, name string) ([]*unstructured.Unstructured, error) {
	of := metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()}
	var all []*unstructured.Unstructured
	for _, kind := range kinds {
		list, err := kind.list(ctx, c, namespace, of, true)
		if err != nil {
			return nil, err
		}
		// An aggregated API may take no notice of the selector.
		all = append(all, slices.DeleteFunc(list, func(u *unstructured.Unstructured) bool { return u.GetName() != name })...)
	}
	return all, nil
}

// Loose is a reference that Settle searches for in all namespaces, if none was named.
func (r Reference) Loose(unnamed bool) Reference {
	r.loose = unnamed
	return r
}

// Settle is the reference to where its object is: for one that was named without a namespace, the only one of its kind and name that there
// is. What is where its kind usually is, or is in several namespaces or in none, stays as it is.
func (r Reference) Settle(ctx context.Context, c dynamic.Interface) (Reference, error) {
	if !r.loose {
		return r, nil
	}
	found, err := namedIn(ctx, c, []Served{r.Served}, metav1.NamespaceAll, r.Name)
	if err == nil && len(found) == 1 {
		r.Namespace = found[0].GetNamespace()
	}
	return r, err
}
