package managed

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/rounds"
)

// usages keep provider configurations until nothing uses them, and count who does.
type usages struct {
	reconciler *Reconciler
	loop       *rounds.Loop[Key]
	kinds      map[schema.GroupKind]Configuration
	configs    held

	mu sync.Mutex
	// users are those of a configuration, of the names of their records; used is the configuration of a record.
	users map[Key]map[Key]bool
	used  map[Key]Key
}

func newUsages(r *Reconciler) *usages {
	u := &usages{
		reconciler: r, kinds: map[schema.GroupKind]Configuration{}, configs: held{all: map[Key]*unstructured.Unstructured{}},
		users: map[Key]map[Key]bool{}, used: map[Key]Key{},
	}
	for _, s := range r.kinds {
		for _, c := range s.Configurations {
			u.kinds[c.GroupKind] = c
		}
	}
	u.loop = rounds.New(u, rounds.Options{
		Slots: rounds.NewSlots(4), Backoff: rounds.Backoff{Min: leastWait, Max: mostWait}, Log: r.Log, Guard: r.Guard,
	})
	return u
}

// watch watches configurations, and the records of who uses them.
func (u *usages) watch(ctx context.Context, lists *errgroup.Group) {
	recorded := map[schema.GroupVersionResource]bool{}
	for _, c := range u.kinds {
		lists.Go(func() error {
			return u.reconciler.Home.Watch(ctx, c.GroupVersionResource(), "", cluster.Sink{Put: u.put, Dropped: u.dropped})
		})
		if r := c.Usage.GroupVersionResource(); !recorded[r] {
			recorded[r] = true
			lists.Go(func() error {
				return u.reconciler.Home.Watch(ctx, r, "", cluster.Sink{Put: u.uses, Dropped: u.ended})
			})
		}
	}
}

func (u *usages) put(o *unstructured.Unstructured) {
	key := keyOf(o)
	u.configs.put(key, o)
	u.loop.Wake(key)
}

func (u *usages) dropped(o *unstructured.Unstructured) {
	u.configs.drop(keyOf(o))
	u.loop.Forget(keyOf(o))
}

// uses takes a record of who uses what.
func (u *usages) uses(o *unstructured.Unstructured) {
	ref, _, _ := unstructured.NestedStringMap(o.Object, "providerConfigRef")
	config := Key{Group: o.GroupVersionKind().Group, Kind: ref["kind"], Name: ref["name"]}
	if config.Kind == "" {
		config.Kind = "ProviderConfig"
	}
	if u.kinds[schema.GroupKind{Group: config.Group, Kind: config.Kind}].Namespaced {
		config.Namespace = o.GetNamespace()
	}
	record := keyOf(o)
	u.mu.Lock()
	before, known := u.used[record]
	if known {
		delete(u.users[before], record)
	}
	u.used[record] = config
	if u.users[config] == nil {
		u.users[config] = map[Key]bool{}
	}
	u.users[config][record] = true
	u.mu.Unlock()
	u.loop.Wake(config)
	if known && before != config {
		u.loop.Wake(before)
	}
}

// ended takes the end of a record.
func (u *usages) ended(o *unstructured.Unstructured) {
	record := keyOf(o)
	u.mu.Lock()
	config := u.used[record]
	delete(u.users[config], record)
	delete(u.used, record)
	u.mu.Unlock()
	u.loop.Wake(config)
}

// Share is the same for all.
func (u *usages) Share(Key) string { return "" }

// Pass counts the users of a configuration. The finalizer keeps it while there are any.
func (u *usages) Pass(ctx context.Context, key Key) rounds.Next {
	o := u.configs.get(key)
	c, known := u.kinds[schema.GroupKind{Group: key.Group, Kind: key.Kind}]
	if o == nil || !known {
		return rounds.Rest()
	}
	u.mu.Lock()
	users := int64(len(u.users[key]))
	u.mu.Unlock()
	writer := declared.Writer{Client: u.reconciler.Home.Dynamic.Resource(c.GroupVersionResource()), Manager: manager}
	if has := slices.Contains(o.GetFinalizers(), InUse); (users > 0) != has && (users == 0 || o.GetDeletionTimestamp() == nil) {
		written, err := writer.Finalizer(ctx, o, InUse, users > 0)
		if err != nil {
			return rounds.Retry(err)
		}
		if written != nil {
			o = written
			u.configs.put(key, o)
		}
	}
	if shown, _, _ := unstructured.NestedInt64(o.Object, "status", "users"); shown == users || o.GetDeletionTimestamp() != nil && users == 0 {
		return rounds.Rest()
	}
	written, err := writer.Patch(ctx, o, map[string]any{"status": map[string]any{"users": users}}, "status")
	if written != nil {
		u.configs.put(key, written)
	}
	return rounds.Done(err)
}
