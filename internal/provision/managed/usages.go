package managed

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	// readers are the resources that read a configuration last, whether it exists or not; reads is which one a resource did.
	readers map[Key]map[Key]bool
	reads   map[Key]Key
	// written is when the count of a configuration was written last.
	written map[Key]time.Time
}

// countEvery is how often the users of a configuration are written at most: each of a thousand that are created at once changes
// the number.
const countEvery = time.Second

func newUsages(r *Reconciler) *usages {
	u := &usages{
		reconciler: r, kinds: map[schema.GroupKind]Configuration{}, configs: newHeld(),
		users: map[Key]map[Key]bool{}, used: map[Key]Key{}, readers: map[Key]map[Key]bool{}, reads: map[Key]Key{}, written: map[Key]time.Time{},
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
	u.enter(o)
	u.loop.Wake(keyOf(o))
}

// enter takes a configuration from the watch, or as a write left it. Its readers are woken when it says something else: who uses it
// is nothing to them.
func (u *usages) enter(o *unstructured.Unstructured) {
	key := keyOf(o)
	was := u.configs.get(key)
	u.configs.put(key, o)
	if was == nil || was.GetUID() != o.GetUID() || was.GetGeneration() != o.GetGeneration() {
		u.wakeReaders(key)
	}
}

func (u *usages) dropped(o *unstructured.Unstructured) {
	key := keyOf(o)
	u.configs.drop(key)
	u.loop.Forget(key)
	u.mu.Lock()
	delete(u.written, key)
	u.mu.Unlock()
	u.wakeReaders(key)
}

func (u *usages) wakeReaders(key Key) {
	u.mu.Lock()
	readers := slices.Collect(maps.Keys(u.readers[key]))
	u.mu.Unlock()
	for _, reader := range readers {
		u.reconciler.loop.Wake(reader)
	}
}

// read returns a configuration, nil when there is none, and has a pass made for the reader when it says something else.
func (u *usages) read(ctx context.Context, reader, key Key, of *Configuration) (*unstructured.Unstructured, error) {
	u.mu.Lock()
	u.leave(reader)
	u.reads[reader] = key
	if u.readers[key] == nil {
		u.readers[key] = map[Key]bool{}
	}
	u.readers[key][reader] = true
	u.mu.Unlock()
	if o := u.configs.get(key); o != nil {
		return o, nil
	}
	// It may have come just now.
	client := u.reconciler.Home.Dynamic.Resource(of.GroupVersionResource()).Namespace(key.Namespace)
	o, err := client.Get(ctx, key.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return o, err
}

// forget forgets a reader that is gone.
func (u *usages) forget(reader Key) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.leave(reader)
}

// leave is called with the lock held.
func (u *usages) leave(reader Key) {
	key := u.reads[reader]
	delete(u.reads, reader)
	delete(u.readers[key], reader)
	if len(u.readers[key]) == 0 {
		delete(u.readers, key)
	}
}

// recorded reports whether a record is known to say that a configuration is used.
func (u *usages) recorded(record, config Key) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.used[record] == config
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
			u.enter(o)
		}
	}
	if shown, _, _ := unstructured.NestedInt64(o.Object, "status", "users"); shown == users || o.GetDeletionTimestamp() != nil && users == 0 {
		return rounds.Rest()
	}
	if wait := u.wait(key, time.Now()); wait > 0 {
		return rounds.After(wait)
	}
	written, err := writer.Patch(ctx, o, map[string]any{"status": map[string]any{"users": users}}, "status")
	if written != nil {
		u.enter(written)
	}
	return rounds.Done(err)
}

// wait is how long it takes until the users of a configuration can be written again; when they can be, they are taken to be.
func (u *usages) wait(key Key, now time.Time) time.Duration {
	u.mu.Lock()
	defer u.mu.Unlock()
	if wait := u.written[key].Add(countEvery).Sub(now); wait > 0 {
		return wait
	}
	u.written[key] = now
	return 0
}
