// Package apply carries plans out on a cluster: server-side apply of what is declared, deletion of
// what no longer is, object by object, so that one object that is refused does not stop the others.
//
// An Order says how one object is written: beside other managers, as Flux has it, or in one of the ways that Argo CD offers. A Set
// of orders is written stage by stage.
//
// It decides nothing about order beyond the stages of the engine, and it waits for nothing: what
// cannot be done yet is returned as a wait.
package apply

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/guard"
)

// requestsInFlight bounds the writes to one cluster.
const requestsInFlight = 16

// Names are the annotations and the field manager of a dialect.
type Names struct {
	// Manager is the field manager of server-side apply.
	Manager string
	// Prefix begins the annotations (or labels) that steer single objects: Prefix + "ssa", "force",
	// "prune", "reconcile".
	Prefix string
	// Name and Namespace are the labels that name the owner.
	Name, Namespace string
	// Judge says how well objects are, by kstatus when it is nil.
	Judge cluster.Judge
	// Protected are API groups whose CRDs are never deleted.
	Protected []string
}

// Ownership is how what is applied by these names is marked.
func (n Names) Ownership() cluster.Ownership {
	return cluster.Ownership{Label: n.Name, NamespaceLabel: n.Namespace, Manager: n.Manager, Prefix: n.Prefix, Judge: n.Judge}
}

// Marking are the beginnings of the names of labels and annotations by which objects are marked or steered.
func (n Names) Marking() []string { return []string{n.Name, n.Namespace, n.Prefix} }

// Applier writes to one cluster. It is safe for concurrent use, by one unit at a time.
type Applier struct {
	cluster *cluster.Cluster
	names   Names
	slots   chan struct{}

	mu     sync.Mutex
	memory map[engine.ObjectID]engine.Memory
}

// New returns an Applier for a cluster.
func New(c *cluster.Cluster, names Names) *Applier {
	return &Applier{
		cluster: c, names: names, slots: make(chan struct{}, requestsInFlight),
		memory: map[engine.ObjectID]engine.Memory{},
	}
}

// Set is what one unit wants to be applied.
type Set struct {
	// Orders are in the order in which their objects are applied.
	Orders []Order
	// Superseded is asked between two stages; when it says yes, the rest is not applied.
	Superseded func() bool
}

// stages cuts the orders into their stages.
func (s Set) stages() [][]Order {
	var stages [][]Order
	for rest := s.Orders; len(rest) > 0; {
		stage := engine.StageOf(engine.IDOf(rest[0].Object))
		end := slices.IndexFunc(rest, func(o Order) bool { return engine.StageOf(engine.IDOf(o.Object)) != stage })
		if end < 0 {
			end = len(rest)
		}
		stages, rest = append(stages, rest[:end]), rest[end:]
	}
	return stages
}

// Shared is an object that several units own.
type Shared struct {
	// Object is what is applied of it, whichever of the units does: what they declare, put together.
	Object *unstructured.Unstructured
	// With are the other units.
	With []engine.UnitID
}

// Result is what became of one object.
type Result struct {
	Entry  engine.Entry
	Action engine.Action
	Err    error
	// Wait is set when the object cannot be applied before something else exists.
	Wait *Need
	// Drift names the manager that changed the object, when it was reverted.
	Drift *Drift
	// Orphaned is set when the declaration itself leaves the object to others: its unit holds it no longer.
	Orphaned bool
	// Message is what else a person should know of it: that it was written in another way than ordered, or
	// why it was left alone. It is empty mostly.
	Message string
}

// Need is what an object needs before it can be applied.
type Need struct {
	engine.Wait
	What What
	// Kind is the kind that must be served, Object the object that must appear, disappear or be released.
	Kind schema.GroupKind
	// Version is that in which the kind must be served.
	Version string
	Object  engine.ObjectID
}

// What is needed.
type What int

// The needs.
const (
	KindServed What = iota
	ObjectThere
	ObjectGone
	ObjectReleased
)

// Outcome is what became of a set.
type Outcome struct {
	Results []Result
	// Superseded is set when a newer desired state ended the apply before its last stage.
	Superseded bool
}

// Entries are the objects that the unit holds in the cluster after the apply.
func (o Outcome) Entries() []engine.Entry {
	var entries []engine.Entry
	for _, r := range o.Results {
		if r.Err == nil && r.Wait == nil && !r.Orphaned {
			entries = append(entries, r.Entry)
		}
	}
	return entries
}

// Apply applies a set, stage by stage, the objects of a stage in parallel.
func (a *Applier) Apply(ctx context.Context, set Set) Outcome {
	var out Outcome
	for _, stage := range set.stages() {
		if ctx.Err() != nil || (set.Superseded != nil && set.Superseded()) {
			out.Superseded = true
			return out
		}
		a.prepare(ctx, stage)
		results := make([]Result, len(stage))
		guard.Each(stage, 0, func(i int, order Order) { results[i] = a.Write(ctx, order).Result })
		out.Results = append(out.Results, results...)
	}
	return out
}

// Entry is the inventory line of an object that is applied here.
func (a *Applier) Entry(u *unstructured.Unstructured) engine.Entry {
	e := engine.EntryOf(u)
	e.ID.Cluster = a.cluster.Name
	return e
}

// prepare begins to watch the kinds of a stage, so that the plan knows what is there. What may not be
// watched is read.
func (a *Applier) prepare(ctx context.Context, stage []Order) {
	kinds := map[schema.GroupVersionKind][]string{}
	entries := make([]engine.Entry, len(stage))
	for i, order := range stage {
		u := order.Object
		gvk := u.GroupVersionKind()
		if entries[i] = a.Entry(u); !slices.Contains(kinds[gvk], u.GetNamespace()) {
			kinds[gvk] = append(kinds[gvk], u.GetNamespace())
		}
	}
	defer func() { a.cluster.Objects.Read(ctx, a.cluster.Objects.Unwatched(entries)) }()
	guard.Each(slices.Collect(maps.Keys(kinds)), 0, func(_ int, gvk schema.GroupVersionKind) {
		if _, ok := a.cluster.Kinds.Find(gvk); ok {
			// Without the records every object is applied, which is slower and as right.
			_ = a.cluster.Objects.WatchManaged(ctx, gvk, kinds[gvk])
		}
	})
}

// misplaced reports whether an object has a namespace and its kind has none: it was declared before the scope was known.
// Under that name it has no owner yet, and so it is not written.
func misplaced(r cluster.Resource, u *unstructured.Unstructured) bool {
	return !r.Namespaced && u.GetNamespace() != ""
}

// missingKind is the result for an object whose kind is not served.
func (a *Applier) missingKind(result Result, u *unstructured.Unstructured) Result {
	gvk := u.GroupVersionKind()
	reason := fmt.Sprintf("kind %s is not served by the cluster: its CRD has not arrived", gvk.GroupKind())
	if r, served := a.cluster.Kinds.Lookup(gvk); served && misplaced(r, u) {
		reason = fmt.Sprintf("kind %s has just been served, and its objects have no namespace", gvk.GroupKind())
	} else if versions := a.cluster.Kinds.Versions(gvk.GroupKind()); len(versions) > 0 {
		reason = fmt.Sprintf("kind %s is served in %v, not in %q", gvk.GroupKind(), versions, gvk.Version)
	} else if alike, found := a.cluster.Kinds.Alike(gvk.GroupKind()); found {
		reason += fmt.Sprintf("; did you mean %s?", alike)
	}
	result.Wait = &Need{
		Wait: engine.Wait{On: result.Entry.ID, Reason: reason},
		Kind: gvk.GroupKind(), Version: gvk.Version,
	}
	return result
}

func (a *Applier) live(id engine.ObjectID) engine.Live {
	rec, ok := a.cluster.Objects.Get(id)
	if !ok {
		return engine.Live{}
	}
	return liveOf(rec)
}

func liveOf(rec cluster.Record) engine.Live {
	return engine.Live{
		Exists: true, UID: string(rec.UID), Version: rec.ResourceVersion, Owned: rec.Owned, Updated: rec.Updated, Stray: rec.Stray,
		Marks: rec.Marks, Owner: rec.Unit.String(),
	}
}

// Orphans reports whether a declaration leaves its object to others: it is neither applied nor deleted for it.
func (a *Applier) Orphans(u *unstructured.Unstructured) bool { return a.marks(u).HandsOff }

// marks are those of an object, declared or live.
func (a *Applier) marks(u *unstructured.Unstructured) engine.Marks {
	return engine.MarksOf(u, a.names.Prefix)
}

func (a *Applier) recall(id engine.ObjectID, fresh bool) engine.Memory {
	if fresh {
		return engine.Memory{}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.memory[id]
}

func (a *Applier) remember(id engine.ObjectID, m engine.Memory) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.memory[id] = m
}

// Drifted reports whether an object is no longer what was last applied. One whose standing was requested has when
// the answer may be another one by now.
func (a *Applier) Drifted(id engine.ObjectID) bool {
	return a.recall(id, false).Drifted(a.live(id))
}

// Forget drops what is remembered of an object, which its unit no longer declares.
func (a *Applier) Forget(id engine.ObjectID) {
	a.mu.Lock()
	delete(a.memory, id)
	a.mu.Unlock()
}
