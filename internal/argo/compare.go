package argo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/argo/differences"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// comparison is what is declared beside what is there.
type comparison struct {
	revision string
	objects  []*compared
	// byID are the objects by their identities.
	byID map[engine.ObjectID]*compared
	// hooks are declared, with what distinguishes them.
	hooks []*unstructured.Unstructured
	// extras are held, live, and no longer declared.
	extras []*extra
	// skipped are declared and not applied; what is live of them stays as it is.
	skipped map[engine.ObjectID]bool
	// strays are live hooks that are held and not declared any more.
	strays []*unstructured.Unstructured
	// barred are why hooks and the namespace of the destination may not be written.
	barred     []error
	conditions []v1alpha1.ApplicationCondition
	needs      []apply.Need
	options    policy.Options
	// digest is that of everything that is declared.
	digest string
	// hooked is that of the hooks; hooksDiffer is set when others ran last.
	hooked      string
	hooksDiffer bool
	cluster     string
}

// compared is one object that is declared.
type compared struct {
	entry   engine.Entry
	order   apply.Order
	options policy.ObjectOptions
	hook    operation.Hook
	wave    int
	// standing is where the object stands; refused is why it may not be written. barred is set where that is since the project
	// does not permit the kind.
	standing apply.Standing
	refused  error
	barred   bool
	// done is set for a Job that has completed for this content, whatever became of it.
	done    bool
	compare apply.Compare
}

func (c *compared) inSync() bool { return c.refused == nil && (c.done || c.standing.InSync) }

// extra is one object that is held and no longer declared.
type extra struct {
	entry   engine.Entry
	live    *unstructured.Unstructured
	options policy.ObjectOptions
	ignored bool
}

// entries are the objects that the Application holds.
func (c *comparison) entries() []engine.Entry {
	entries := []engine.Entry{}
	for _, o := range c.objects {
		if !o.standing.Missing && o.refused == nil && !o.done {
			entries = append(entries, o.entry)
		}
	}
	for _, e := range c.extras {
		entries = append(entries, e.entry)
	}
	return entries
}

// add enters an object that is declared.
func (c *comparison) add(o *compared) {
	c.objects = append(c.objects, o)
	c.byID[o.entry.ID] = o
}

// find returns the declared object of an identity, nil when there is none.
func (c *comparison) find(id engine.ObjectID) *compared { return c.byID[id] }

// compare tells where each object stands. What was written and has not changed since costs no request.
func (d *driver) compare(ctx context.Context, a *app, w runner.Work) (*comparison, error) {
	a.mu.Lock()
	obj, project, destination := a.obj, a.project, a.cluster
	a.mu.Unlock()
	s, g := d.settings.now(), d.gate(a, w)
	c := &comparison{revision: w.Key.Revision, byID: map[engine.ObjectID]*compared{}, skipped: map[engine.ObjectID]bool{}, cluster: w.Cluster.Name, options: policy.OptionsOf(obj, operationOf(obj))}
	tracking := d.tracking(a)
	rules, err := differences.Compile(obj.Spec.IgnoreDifferences, s.Customizations)
	if err != nil {
		c.warn(v1alpha1.ApplicationConditionComparisonError, err.Error())
	}
	done := a.done(obj)
	for _, u := range w.Objects {
		entry := w.Applier.Entry(u)
		if s.Resources.Excludes(entry.ID.Group, entry.ID.Kind, destination.Server) {
			c.warn(v1alpha1.ApplicationConditionExcludedResourceWarning, fmt.Sprintf(
				"Resource %s/%s %s is excluded in the settings", entry.ID.Group, entry.ID.Kind, entry.ID.Name))
			continue
		}
		o := &compared{entry: entry, options: c.options.For(u), hook: operation.HookOf(u), wave: operation.WaveOf(u.GetAnnotations())}
		if o.hook.Skip {
			c.skipped[entry.ID] = true
			continue
		}
		if o.hook.Is {
			c.hooks = append(c.hooks, u)
			c.bar(g.permits(entry))
			continue
		}
		marked := u.DeepCopy()
		marking := tracking.Mark(marked)
		mine := rules.For(marked)
		o.order = d.orderOf(marked, o.options, obj, mine, c.options)
		o.compare = d.comparing(mine, policy.CompareOptionsOf(u, s.Compare.ServerSide))
		denied := g.visible(entry)
		o.refused, o.barred = errors.Join(marking, denied, named(u)), errors.Is(denied, policy.ErrKind)
		if conflict := g.conflict(entry.ID); conflict != nil {
			o.refused = conflict
			c.warn(v1alpha1.ApplicationConditionSharedResourceWarning, conflict.Error())
		}
		o.done = done[doneKey(entry.ID)] == o.order.Digest && runsOnce(u)
		c.add(o)
	}
	d.duplicates(a, w, c)
	d.unserved(a, project, c)
	homeless(w, c)
	if err := d.stand(ctx, w, c); err != nil {
		return nil, err
	}
	d.lookForMarks(ctx, a, w)
	if err := d.lookForExtras(ctx, a, w, c); err != nil {
		return nil, err
	}
	d.lookForOrphans(ctx, a, w, c)
	if namespace := managedNamespace(obj, w, c, c.options); namespace != nil {
		c.bar(g.visible(w.Applier.Entry(namespace)))
	}
	c.digestAll(obj)
	return c, nil
}

// defines tells whether a kind comes with what is declared.
func (c *comparison) defines(gk schema.GroupKind) bool {
	return slices.ContainsFunc(c.objects, func(o *compared) bool {
		defined, is := engine.DefinedKind(o.order.Object)
		return is && defined == gk
	})
}

func (c *comparison) warn(kind, message string) {
	c.conditions = append(c.conditions, v1alpha1.ApplicationCondition{Type: kind, Message: message})
}

// bar notes why something may not be written that is no declared object.
func (c *comparison) bar(why error) {
	if why != nil {
		c.barred = append(c.barred, why)
	}
}

// named tells that an object has no name: only hooks get one.
func named(u *unstructured.Unstructured) error {
	if u.GetName() != "" {
		return nil
	}
	return errors.New("metadata.name is missing: only hooks may use generateName")
}

// requests bounds how many objects are read at a time.
const requests = 16

// stand tells where the objects stand, several at a time.
func (d *driver) stand(ctx context.Context, w runner.Work, c *comparison) error {
	follow(ctx, w, c)
	each(c.objects, func(o *compared) {
		if o.refused != nil {
			return
		}
		o.standing = w.Applier.Standing(ctx, o.order, o.compare)
		if _, there := w.Cluster.Objects.Get(o.entry.ID); there {
			o.done = false
		}
	})
	for _, o := range c.objects {
		if o.standing.Wait != nil {
			c.needs = append(c.needs, *o.standing.Wait)
		}
		if err := o.standing.Err; err != nil {
			return &transient{err}
		}
	}
	return ctx.Err()
}

// transient is a failure that may pass on its own.
type transient struct{ err error }

func (t *transient) Error() string { return t.err.Error() }
func (t *transient) Unwrap() error { return t.err }

// follow begins to watch the kinds of what is declared and held, so that its records are there.
func follow(ctx context.Context, w runner.Work, c *comparison) {
	kinds := map[schema.GroupVersionKind][]string{}
	add := func(e engine.Entry) {
		gvk := e.GroupVersionKind()
		if _, _, served := w.Kind(gvk); served && !slices.Contains(kinds[gvk], e.ID.Namespace) {
			kinds[gvk] = append(kinds[gvk], e.ID.Namespace)
		}
	}
	var all []engine.Entry
	for _, o := range c.objects {
		all = append(all, o.entry)
	}
	for _, h := range c.hooks {
		all = append(all, w.Applier.Entry(h))
	}
	all = append(all, w.Held...)
	for _, e := range all {
		add(e)
	}
	var wg sync.WaitGroup
	for gvk, namespaces := range kinds {
		// Without the records everything is read, which is slower but as correct.
		wg.Go(func() { _ = w.Cluster.Objects.WatchManaged(ctx, gvk, namespaces) })
	}
	wg.Wait()
	all = slices.DeleteFunc(all, func(e engine.Entry) bool { return e.ID.Name == "" })
	w.Cluster.Objects.Read(ctx, w.Cluster.Objects.Unwatched(all))
}

// lookForExtras finds what is held, is there, is ours, and is no longer declared.
func (d *driver) lookForExtras(ctx context.Context, a *app, w runner.Work, c *comparison) error {
	obj, g, tracking := a.now(), d.gate(a, w), d.tracking(a)
	hooks := map[engine.ObjectID]bool{}
	for _, h := range c.hooks {
		hooks[w.Applier.Entry(h).ID] = true
	}
	held := engine.Union(w.Held, w.Cluster.Objects.OwnedBy(types.NamespacedName{Name: tracking.AppName}))
	for _, e := range held {
		if c.find(e.ID) != nil || hooks[e.ID] || c.skipped[e.ID] || asksFor(obj, e.ID) {
			continue
		}
		if _, there := w.Cluster.Objects.Get(e.ID); !there && len(w.Cluster.Objects.Unwatched([]engine.Entry{e})) == 0 {
			continue
		}
		live, err := getLive(ctx, w, e)
		if err != nil {
			return err
		}
		if live == nil {
			continue
		}
		if hasHookFinalizer(live) && g.owns(live) {
			c.strays = append(c.strays, live)
		}
		if !tracking.Mine(live) || !prunable(live) || g.visible(e) != nil {
			continue
		}
		options, skipped := c.options.For(live), operation.HookOf(live).Skip
		if skipped {
			options.Prune = policy.GuardForbid
		}
		c.extras = append(c.extras, &extra{
			entry: e, live: live, options: options, ignored: skipped || policy.CompareOptionsOf(live, true).IgnoreExtraneous,
		})
	}
	return nil
}

// prunable tells whether an object could be what an Application left behind: something else takes away what goes
// already, what another object owns, and hooks; definitions stay.
func prunable(live *unstructured.Unstructured) bool {
	return live.GetDeletionTimestamp() == nil && len(live.GetOwnerReferences()) == 0 && live.GetKind() != "CustomResourceDefinition" &&
		!operation.HookOf(live).Is
}

// getLive reads an object, nil when it is not there.
func getLive(ctx context.Context, w runner.Work, e engine.Entry) (*unstructured.Unstructured, error) {
	r, _, ok := w.Kind(e.GroupVersionKind())
	if !ok {
		return nil, nil
	}
	live, err := w.Cluster.Dynamic.Resource(r).Namespace(e.ID.Namespace).Get(ctx, e.ID.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", e.ID, err)
	}
	return live, nil
}

// digestAll records what distinguishes this state from others.
func (c *comparison) digestAll(obj *v1alpha1.Application) {
	var text, hooks strings.Builder
	for _, o := range c.objects {
		text.WriteString(o.entry.ID.String() + o.order.Digest)
	}
	for _, h := range c.hooks {
		if operation.HookOf(h).Syncs() {
			hooks.WriteString(hookDigest(h))
		}
	}
	c.hooked = digest(hooks.String())
	c.digest = digest(text.String() + c.hooked)
	ran := obj.Annotations[annotationHooks]
	c.hooksDiffer = hooks.Len() > 0 && ran != "" && ran != c.hooked
	if ran == "" && hooks.Len() > 0 && obj.Status.OperationState == nil {
		c.hooksDiffer = true
	}
}

// obstacles stand for what objects cannot be written for that nothing in the sources says: others that have them, what
// the project forbids, kinds that are not there yet. What failed is worth another attempt when they are different.
func (c *comparison) obstacles() string {
	var text strings.Builder
	for _, o := range c.objects {
		if o.refused != nil {
			text.WriteString(o.refused.Error() + "\n")
		}
	}
	for _, why := range c.barred {
		text.WriteString(why.Error() + "\n")
	}
	for _, need := range c.needs {
		text.WriteString(need.String() + "\n")
	}
	return digest(text.String())
}

// code says whether the cluster is what is declared.
func (c *comparison) code() v1alpha1.SyncStatusCode {
	for _, o := range c.objects {
		if !o.inSync() {
			return v1alpha1.SyncStatusCodeOutOfSync
		}
	}
	for _, e := range c.extras {
		if !e.ignored {
			return v1alpha1.SyncStatusCodeOutOfSync
		}
	}
	if c.hooksDiffer {
		return v1alpha1.SyncStatusCodeOutOfSync
	}
	return v1alpha1.SyncStatusCodeSynced
}

// resources are the objects as the status of an Application has them, without their health.
func (c *comparison) resources() []v1alpha1.ResourceStatus {
	var all []v1alpha1.ResourceStatus
	for _, o := range c.objects {
		r := resourceOf(o.entry)
		r.SyncWave, r.Status = int64(o.wave), v1alpha1.SyncStatusCodeOutOfSync
		switch {
		case o.barred:
			r.Status = v1alpha1.SyncStatusCodeUnknown
		case o.inSync():
			r.Status = v1alpha1.SyncStatusCodeSynced
		}
		all = append(all, r)
	}
	for _, e := range c.extras {
		r := resourceOf(e.entry)
		r.Status, r.RequiresPruning, r.SyncWave = v1alpha1.SyncStatusCodeOutOfSync, true, int64(operation.WaveOf(e.live.GetAnnotations()))
		r.RequiresDeletionConfirmation = e.options.Prune == policy.GuardConfirm
		all = append(all, r)
	}
	if c.hooksDiffer {
		for _, h := range c.hooks {
			if !operation.HookOf(h).Syncs() {
				continue
			}
			r := resourceOf(engine.EntryOf(h))
			r.Status, r.Hook, r.SyncWave = v1alpha1.SyncStatusCodeOutOfSync, true, int64(operation.WaveOf(h.GetAnnotations()))
			all = append(all, r)
		}
	}
	return all
}

func resourceOf(e engine.Entry) v1alpha1.ResourceStatus {
	return v1alpha1.ResourceStatus{Group: e.ID.Group, Version: e.Version, Kind: e.ID.Kind, Namespace: e.ID.Namespace, Name: e.ID.Name}
}

// since is a time for a status.
func since(t time.Time) *metav1.Time {
	at := metav1.NewTime(t.Truncate(time.Second))
	return &at
}
