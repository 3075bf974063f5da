package argo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/argo/differences"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/guard"
	"github.com/headgate-dev/headgate/internal/runner"
)

// compare reports where each object stands. What was written and has not changed since costs no request.
func (d *driver) compare(ctx context.Context, a *app, w runner.Work) (*comparison, error) {
	a.mu.Lock()
	obj, destination, ran := a.obj, a.cluster, a.view.hooks
	a.mu.Unlock()
	s, g := d.settings.Now(), d.gate(a, w)
	if g.moved != nil {
		return nil, g.moved
	}
	c := &comparison{revision: w.Key.Revision, byID: map[engine.ObjectID]*compared{}, skipped: map[engine.ObjectID]bool{}, cluster: w.Cluster.Name, options: policy.OptionsOf(obj, operationOf(obj))}
	tracking := d.tracking(a)
	rules, err := differences.Compile(d.Sandbox.For(obj.Spec.Project, a.id.String()), obj.Spec.IgnoreDifferences, s.Customizations)
	if err != nil {
		c.warn(v1alpha1.ApplicationConditionComparisonError, err.Error())
	}
	c.ineffective = rules.Ineffective()
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
		o.done = done[doneKey(entry.ID)] == o.order.Digest && operation.RunsOnce(u)
		c.add(o)
	}
	d.duplicates(a, w, c)
	d.unserved(a, c)
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
	// What ran meanwhile may not be back yet with the object.
	c.digestAll(obj, cmp.Or(ran, obj.Annotations[annotationHooks]))
	return c, nil
}

// named reports whether an object has no name: only hooks get one.
func named(u *unstructured.Unstructured) error {
	if u.GetName() != "" {
		return nil
	}
	return errors.New("metadata.name is missing: only hooks may use generateName")
}

// stand reports where the objects stand, several at a time.
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

// transient is a failure that may pass without a change.
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
	guard.Each(slices.Collect(maps.Keys(kinds)), 0, func(_ int, gvk schema.GroupVersionKind) {
		// Without the records everything is read, which is slower but as correct.
		_ = w.Cluster.Objects.WatchManaged(ctx, gvk, kinds[gvk])
	})
	all = slices.DeleteFunc(all, func(e engine.Entry) bool { return e.ID.Name == "" })
	w.Cluster.Objects.Read(ctx, w.Cluster.Objects.Unwatched(all))
}

// getLive reads an object, nil when it is not there. That it is not is an error while it is unknown whether its kind is served.
func getLive(ctx context.Context, w runner.Work, e engine.Entry) (*unstructured.Unstructured, error) {
	return w.Applier.Live(ctx, e)
}

// left are the fields of a live object that an Application leaves to others.
func (d *driver) left(rules differences.ObjectRules, desired *unstructured.Unstructured) func(*unstructured.Unstructured) []engine.Pointer {
	return func(live *unstructured.Unstructured) []engine.Pointer {
		fields, err := rules.Ignored(d.ctx, desired, live)
		if err != nil {
			d.observe(engine.IDOf(desired).String(), err.Error())
		}
		var pointers []engine.Pointer
		for _, f := range fields {
			if f.Live != nil {
				pointers = append(pointers, f.Live)
			}
		}
		return pointers
	}
}

// comparing is how an object is compared with what a dry run gives.
func (d *driver) comparing(rules differences.ObjectRules, options policy.CompareOptions) apply.Compare {
	comparison := differences.Comparison{Settings: d.settings.Now().Compare, Rules: rules, Manager: manager}
	if options.IncludeWebhooks {
		comparison.Manager = ""
	}
	return func(desired, predicted, live *unstructured.Unstructured) []string {
		found, err := comparison.Compare(d.ctx, desired, predicted, live)
		if err != nil {
			d.observe(engine.IDOf(desired).String(), err.Error())
		}
		fields := make([]string, 0, len(found))
		for _, f := range found {
			fields = append(fields, f.Path.String())
		}
		return fields
	}
}
