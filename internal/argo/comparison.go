package argo

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/engine"
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
	// ineffective are rules of what may differ that name nothing.
	ineffective []string
	needs       []apply.Need
	options     policy.Options
	// digest is that of everything that is declared.
	digest string
	// hooked is that of the hooks; hooksDiffer is set when others ran last, hooksFailed when the sync of these failed, and hooksRan when any ran.
	hooked                             string
	hooksDiffer, hooksFailed, hooksRan bool
	cluster                            string
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

func (o *compared) inSync() bool { return o.refused == nil && (o.done || o.standing.InSync) }

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

// defines reports whether a kind comes with what is declared.
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

// declaresHook reports whether a hook is declared as it runs; one without a name of its own is known by its content.
func (c *comparison) declaresHook(t *operation.Task) bool {
	return slices.ContainsFunc(c.hooks, func(h *unstructured.Unstructured) bool {
		return slices.Contains(operation.HookOf(h).Phases, t.Phase) && hookDigest(h) == t.Digest
	})
}

// digestAll records what distinguishes this state from others; ran is the digest of the hooks that ran last.
func (c *comparison) digestAll(obj *v1alpha1.Application, ran string) {
	var text, hooks strings.Builder
	text.WriteString(c.cluster)
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
	c.hooksRan, c.hooksFailed = ran != "", ran == hooksFailed+c.hooked
	c.hooksDiffer = hooks.Len() > 0 && ran != "" && ran != c.hooked && !c.hooksFailed
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

// extra is one object that is held and no longer declared.
type extra struct {
	entry   engine.Entry
	live    *unstructured.Unstructured
	options policy.ObjectOptions
	ignored bool
}

// named finds the declared object of an identity as a source has it: without the namespace of the destination, or with one
// that its kind does not have.
func (c *comparison) named(id engine.ObjectID, destination string) *compared {
	for _, namespace := range []string{cmp.Or(id.Namespace, destination), ""} {
		id.Namespace = namespace
		if o := c.find(id); o != nil {
			return o
		}
	}
	return nil
}
