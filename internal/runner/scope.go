package runner

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/engine"
)

// scope takes the namespace off an object whose kind has none, and gives the default one to an object that
// needs it. A kind that is not served may be defined by another object.
func scope(o *unstructured.Unstructured, t *target, all []*unstructured.Unstructured, namespace string) {
	namespaced := true
	if res, ok := t.cluster.Kinds.Lookup(o.GroupVersionKind().GroupKind().WithVersion("")); ok {
		namespaced = res.Namespaced
	} else if defined, ok := definedScope(o.GroupVersionKind().GroupKind(), all); ok {
		namespaced = defined
	}
	switch {
	case !namespaced:
		o.SetNamespace("")
	case o.GetNamespace() == "" && namespace != "":
		o.SetNamespace(namespace)
	}
}

// definedScope reports whether the objects of a kind have a namespace, by the definition among others.
func definedScope(gk schema.GroupKind, all []*unstructured.Unstructured) (namespaced, found bool) {
	for _, o := range all {
		if defined, is := engine.DefinedKind(o); is && defined == gk {
			in, _, _ := unstructured.NestedString(o.Object, "spec", "scope")
			return in != "Cluster", true
		}
	}
	return false, false
}

// scope takes the namespace off the objects of a declaration whose kinds have none: only the cluster
// knows which these are.
func (r *Runner) scope(declared *engine.Unit) {
	declared.Dependencies = slices.Clone(declared.Dependencies)
	for i := range declared.Dependencies {
		if d := &declared.Dependencies[i]; d.Unit == (engine.UnitID{}) {
			d.Object = scoped(r.home, d.Object)
		}
	}
	t := r.targets.get(engine.Target{Cluster: declared.Target.Cluster})
	if t == nil {
		return
	}
	declared.Health.Checks = slices.Clone(declared.Health.Checks)
	for i := range declared.Health.Checks {
		c := &declared.Health.Checks[i]
		c.ID = scoped(t, c.ID)
	}
}

func scoped(t *target, id engine.ObjectID) engine.ObjectID {
	if res, served := t.cluster.Kinds.Lookup(id.GroupKind().WithVersion("")); served && !res.Namespaced {
		id.Namespace = ""
	}
	return id
}

// rescope corrects which objects a unit declares and holds: that a kind has no namespace is known when it is served
// and not before, and what was declared until then may have been given one.
func (r *Runner) rescope(u *unit) {
	t := r.at(u)
	if t == nil {
		return
	}
	if slices.ContainsFunc(u.inventory, t.misplaced) {
		r.rename(u, t, u.inventory)
		r.setInventory(u, placed(t, u.inventory))
		r.mark(u.ID)
	}
	if u.rendering.failed() || len(u.rendering.objects) == 0 || !slices.ContainsFunc(u.rendering.entries, t.misplaced) {
		return
	}
	r.rename(u, t, u.rendering.entries)
	r.mark(u.ID)
	corrected := *u.rendering
	corrected.objects, corrected.entries, corrected.children = nil, nil, nil
	corrected.replaced, corrected.orphaned = nil, nil
	if err := r.finish(&corrected, t, corrected.given); err != nil {
		// Two of its objects are one now: the next render says so.
		u.inputs++
		return
	}
	u.rendering = &corrected
}

// misplaced reports whether an entry has a namespace and its kind has none.
func (t *target) misplaced(e engine.Entry) bool { return scoped(t, e.ID) != e.ID }

// placed are the entries as the cluster has them, each once.
func placed(t *target, entries []engine.Entry) []engine.Entry {
	seen := make(map[engine.ObjectID]bool, len(entries))
	once := make([]engine.Entry, 0, len(entries))
	for _, e := range entries {
		if e.ID = scoped(t, e.ID); !seen[e.ID] {
			seen[e.ID] = true
			once = append(once, e)
		}
	}
	return once
}

// rename has everything that is remembered of misplaced entries count for the objects that they are.
func (r *Runner) rename(u *unit, t *target, entries []engine.Entry) {
	for _, e := range entries {
		now := scoped(t, e.ID)
		if now == e.ID {
			continue
		}
		r.owners.Rename(e.ID, now)
		t.applier.Forget(e.ID)
		delete(r.tug, e.ID)
		delete(u.drift, e.ID)
		delete(u.suspect, e.ID)
		for _, not := range []map[engine.ObjectID]bool{u.refused, u.unpermitted} {
			if not[e.ID] {
				delete(not, e.ID)
				not[now] = true
			}
		}
	}
}

// rescopeAll is rescope for everybody in a cluster that has come to serve a kind. Of two that turn out to mean the
// same object, the first by name has it.
func (r *Runner) rescopeAll(cluster string) {
	for _, id := range slices.SortedFunc(maps.Keys(r.units), engine.UnitID.Compare) {
		if u := r.units[id]; u.Target.Cluster == cluster {
			r.rescope(u)
		}
	}
}
